#ifndef NORMSWEEP_DRIVER_TEXT_QUOTE_H
#define NORMSWEEP_DRIVER_TEXT_QUOTE_H

/*
 * Quotes a path for a shell: unchanged if it is safe, else in single quotes; "./" goes before a leading '-',
 * so that commands do not take the path for an option. The caller frees it; NULL: no memory.
 */
char *quote_path(const char *path);

#endif
