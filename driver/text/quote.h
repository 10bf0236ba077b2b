#ifndef NORMSWEEP_DRIVER_TEXT_QUOTE_H
#define NORMSWEEP_DRIVER_TEXT_QUOTE_H

/*
 * Quotes a path for a shell, so that it can be shown and pasted: unchanged if it is safe; in single quotes;
 * or if it is not printable, as $'\033', which bash, zsh and ksh read. "./" goes before a leading '-', so
 * that commands do not take the path for an option. The caller frees it.
 */
char *quote_path(const char *path);

/* Prints a path as "output=PATH" for scripts, which read lines; quoted if it has a line break, after which it
 * could pass for another value. */
void quote_put_output(const char *path);

#endif
