#ifndef NORMSWEEP_DRIVER_WEIGHTS_WRITTEN_FILE_H
#define NORMSWEEP_DRIVER_WEIGHTS_WRITTEN_FILE_H

#include <stddef.h>

#include "model/core/error.h"

/* A new file, which is written from its beginning to its end. */
struct written_file {
    const char *path; /* borrowed */
    int descriptor;
};

/* Creates the file, which must not exist, not even as a link. -1 with "<path>: why" in error. */
int written_file_open(struct written_file *file, const char *path, struct error *error);

/* -1 with "<path>: why" in error: not everything was written. */
int written_file_put(const struct written_file *file, const void *bytes, size_t size, struct error *error);

/* Syncs the file if `status` is 0, and closes it. Returns status, or -1 with "<path>: why" in error if it is
 * not on the disk. Anything but 0: the file is removed. */
int written_file_close(const struct written_file *file, int status, struct error *error);

/* "<path>: why" for an errno: ERROR_INPUT if another path would do. Returns -1. */
int written_file_error(const char *path, int cause, struct error *error);

#endif
