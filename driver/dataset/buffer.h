#ifndef NORMSWEEP_DRIVER_DATASET_BUFFER_H
#define NORMSWEEP_DRIVER_DATASET_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Values on their way into a file. They are kept until a flush, which writes them in the order of their
 * places, neighbours in one piece; of two that overlap the later one holds. A full buffer flushes itself, so
 * its memory is bounded.
 */
struct write_buffer {
    int descriptor; /* of the file; -1: none. Owned */
    unsigned char *bytes, *joined; /* [WRITE_BUFFER_BYTES] as they came; room to join neighbours */
    struct piece *piece; /* [WRITE_BUFFER_PIECES] */
    size_t used, pieces; /* of both */
};

enum { WRITE_BUFFER_BYTES = 1 << 20, WRITE_BUFFER_PIECES = 1 << 15 };

/* Bytes of the buffer, and where in the file they belong. */
struct piece {
    int64_t place;
    uint32_t at, size;
};

/* For the file at `path`, which exists. 0 or an errno; then nothing is held. */
int write_buffer_open(struct write_buffer *buffer, const char *path);

/* Flushes and closes; takes one that was never opened (descriptor -1). 0 or an errno. */
int write_buffer_close(struct write_buffer *buffer);

/* `size` bytes are to stand at `place`. 0, or the errno of a flush. */
int write_buffer_put(struct write_buffer *buffer, int64_t place, const void *bytes, size_t size);

/* Hands all to the system, where other processes read it. 0 or an errno: what is left is kept. */
int write_buffer_flush(struct write_buffer *buffer);

/* Drops what has not been handed to the system. */
void write_buffer_forget(struct write_buffer *buffer);

/* A flush, and on to the disk. 0 or an errno. */
int write_buffer_sync(struct write_buffer *buffer);

#endif
