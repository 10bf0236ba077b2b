#ifndef NORMSWEEP_DRIVER_TEXT_DURATION_H
#define NORMSWEEP_DRIVER_TEXT_DURATION_H

#include <stddef.h>

/* "2 h 05 min", "3 min 20 s", "4.2 s". Returns text. */
char *duration_format(double seconds, char *text, size_t size);

/* "850", "12.3k", "1.25M" per second. Returns text. */
char *rate_format(double rate, char *text, size_t size);

#endif
