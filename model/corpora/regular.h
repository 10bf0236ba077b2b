#ifndef NORMSWEEP_MODEL_CORPORA_REGULAR_H
#define NORMSWEEP_MODEL_CORPORA_REGULAR_H

#include <errno.h>
#include <stdint.h>

/*
 * Opens a regular file for reading and sets *size to its length. Never blocks, not even on a pipe. Returns
 * the descriptor, or -1 with errno: EISDIR for a folder, REGULAR_NONE for anything else that is not a regular
 * file.
 */
int regular_open(const char *path, int64_t *size);

#define REGULAR_NONE ESPIPE

/* strerror, extended by REGULAR_NONE. */
const char *regular_why(int cause);

#endif
