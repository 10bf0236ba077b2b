#ifndef NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H
#define NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H

#include <stddef.h>

#include "model/core/error.h"

/*
 * A regular file, mapped into memory for reading. If another process truncates the file, a read ends this
 * process with SIGBUS, so this is for commands that only read.
 */
struct mapped_file {
    const unsigned char *bytes; /* NULL: the file is empty, or not open */
    size_t size;
};

/* On failure -1, "<path>: why" in error, nothing held. */
int mapped_file_open(struct mapped_file *file, const char *path, struct error *error);
void mapped_file_close(struct mapped_file *file);

#endif
