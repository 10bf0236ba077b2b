#ifndef NORMSWEEP_DRIVER_WEIGHTS_EXPORT_H
#define NORMSWEEP_DRIVER_WEIGHTS_EXPORT_H

#include "driver/weights/home.h"
#include "worker/checkpoint/saved.h"

/* What was written. */
struct export_summary {
    enum home home;
    int64_t parameters; /* as the home counts them */
};

/*
 * Writes saved weights as model.safetensors and config.json into a folder, which is made if it does not exist
 * and may hold other files. The elements have the type of those of the run. Existing files of these names are
 * left alone: ERROR_INPUT. Durable when it returns 0. -1 with a message in error: no file of these names is
 * left.
 */
int export_write(
    const struct saved *saved, const char *folder, struct export_summary *summary, struct error *error);

#endif
