#ifndef NORMSWEEP_DRIVER_SWEEP_KEPT_H
#define NORMSWEEP_DRIVER_SWEEP_KEPT_H

#include <stdbool.h>

/*
 * Does the text of a sweep, as its dataset keeps it (with included files and settings as comments at its
 * end), give this key a value? False for NULL, and for a text that cannot be read.
 */
bool kept_gives(const char *text, const char *key);

#endif
