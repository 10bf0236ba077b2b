#ifndef NORMSWEEP_DRIVER_WEIGHTS_WRITTEN_FILE_H
#define NORMSWEEP_DRIVER_WEIGHTS_WRITTEN_FILE_H

#include <stdio.h>

#include "model/core/error.h"

/* A new file. Its path is borrowed. */
struct written_file {
    FILE *stream;
    const char *path;
};

/* Creates or empties the file. -1 with "<path>: why" in error: ERROR_INPUT if another path would do. */
int written_file_open(struct written_file *file, const char *path, struct error *error);

/* Syncs the file if `status` is 0, and closes it. Returns status, or -1 with "<path>: why" in error if not
 * everything could be written. */
int written_file_close(struct written_file *file, int status, struct error *error);

/* "<path>: why" for an errno. Returns -1. */
int written_file_error(const char *path, int cause, struct error *error);

#endif
