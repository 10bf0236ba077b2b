#ifndef NORMSWEEP_DRIVER_DATASET_BUFFER_H
#define NORMSWEEP_DRIVER_DATASET_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "model/core/breath.h"

/*
 * A buffer for writes to a file. A flush writes the pieces in the order of their offsets and joins neighbours
 * into one write; where pieces overlap, the later one wins. A full buffer flushes itself, so its memory is
 * bounded.
 */
struct write_buffer {
    int descriptor; /* of the file; -1: none. Owned */
    unsigned char *bytes, *joined; /* [WRITE_BUFFER_BYTES] in the order of puts; space to join neighbours */
    struct piece *piece; /* [WRITE_BUFFER_PIECES] */
    size_t used, pieces; /* of both */
    int64_t end; /* of the file, which has its full size from the beginning */
};

enum { WRITE_BUFFER_BYTES = 1 << 20, WRITE_BUFFER_PIECES = 1 << 15 };

/* A range of the buffer, and its offset in the file. */
struct piece {
    int64_t place;
    uint32_t at, size;
};

/* For the file at `path`, which exists. 0, or an errno with nothing held. */
int write_buffer_open(struct write_buffer *buffer, const char *path);

/* Flushes and closes; takes a buffer that was never opened (descriptor -1). 0 or an errno. */
int write_buffer_close(struct write_buffer *buffer);

/* Writes `size` bytes at offset `place`. 0, or the errno of a flush. */
int write_buffer_put(struct write_buffer *buffer, int64_t place, const void *bytes, size_t size);

/* Passes everything to the system, where other processes can read it. 0; or an errno, and the buffer keeps
 * its contents. */
int write_buffer_flush(struct write_buffer *buffer);

/* Drops everything that was not flushed. */
void write_buffer_forget(struct write_buffer *buffer);

/* Flushes, and waits until the data is on disk. 0 or an errno. */
int write_buffer_sync(struct write_buffer *buffer);

/* Flushes, and copies the file to an empty one, onto the disk. The buffer stays with its file. 0 or an errno.
 */
int write_buffer_copy(struct write_buffer *buffer, int copy, const struct breath *breath);

/* Closes the file, and writes from now on to this copy of it, which the buffer owns. */
void write_buffer_turn_to(struct write_buffer *buffer, int copy);

#endif
