#ifndef NORMSWEEP_DRIVER_TEXT_QUOTE_H
#define NORMSWEEP_DRIVER_TEXT_QUOTE_H

/*
 * A file's name as a shell takes it for one word, and no command for an option: as it is where it may be,
 * "./-x", else in single quotes. The caller's to free; NULL: no memory.
 */
char *quote_path(const char *path);

#endif
