#ifndef NORMSWEEP_MODEL_CORPORA_REGULAR_H
#define NORMSWEEP_MODEL_CORPORA_REGULAR_H

#include <errno.h>
#include <stdint.h>

/*
 * Opens a regular file for reading, without waiting as a pipe would have it; its length in *size. Returns the
 * descriptor, or -1 with errno: EISDIR for a folder, REGULAR_NONE for what else is none.
 */
int regular_open(const char *path, int64_t *size);

#define REGULAR_NONE ESPIPE

/* strerror, which knows of no irregular files. */
const char *regular_why(int cause);

#endif
