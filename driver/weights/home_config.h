#ifndef NORMSWEEP_DRIVER_WEIGHTS_HOME_CONFIG_H
#define NORMSWEEP_DRIVER_WEIGHTS_HOME_CONFIG_H

#include "driver/weights/home.h"
#include "worker/checkpoint/saved.h"

/* Writes the config.json of a run in its home, and syncs it. The path must not exist. -1 with "<path>: why"
 * in error: the file is removed. */
int home_config_write(const char *path, const struct saved *saved, enum home home, struct error *error);

#endif
