#ifndef NORMSWEEP_DRIVER_SWEEP_SETTINGS_H
#define NORMSWEEP_DRIVER_SWEEP_SETTINGS_H

#include "driver/sweep/reader.h"

/*
 * Lays `--set key=value` settings over a sweep file's map, in their order: a key that the file has keeps its
 * place there, a new one goes last, null takes the key out. The value is any YAML.
 */
int settings_apply(struct reader *reader, struct node *root, const char *const *settings, int count);

#endif
