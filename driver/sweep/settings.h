#ifndef NORMSWEEP_DRIVER_SWEEP_SETTINGS_H
#define NORMSWEEP_DRIVER_SWEEP_SETTINGS_H

#include "driver/sweep/reader.h"

/*
 * Applies `--set key=value` settings, in their order, to the map of a sweep file. The value is any YAML; it
 * replaces the value of a key that the file has, a new key goes last, null removes the key. `include`: only
 * those of the key `include`, which come before the files are included; else all others, which come after.
 */
int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include);

#endif
