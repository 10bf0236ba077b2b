#ifndef NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H
#define NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H

#include <stddef.h>

#include "model/core/error.h"

/*
 * A regular file's bytes, read where they lie. Who cuts the file short meanwhile ends the process with
 * SIGBUS: for commands that only look.
 */
struct mapped_file {
    const unsigned char *bytes; /* NULL: of an empty file, or none is held */
    size_t size;
};

/* 0, or -1 and "<path>: why", nothing held. */
int mapped_file_open(struct mapped_file *file, const char *path, struct error *error);
void mapped_file_close(struct mapped_file *file);

#endif
