#ifndef NORMSWEEP_DRIVER_DATASET_LEDGER_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_LEDGER_INSIDE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/dataset/ledger/ledger.h"
#include "driver/output/output.h"
#include "model/core/check.h"
#include "worker/host/host.h"

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

/* A range of the buffer, and where it goes in the file. */
struct piece {
    int64_t offset;
    uint32_t at, size;
};

enum { WRITE_BUFFER_BYTES = 1 << 20, WRITE_BUFFER_PIECES = 1 << 15 };

/* For the file at `path`, which exists. 0, or an errno with nothing held. */
int write_buffer_open(struct write_buffer *buffer, const char *path);

/* Syncs and closes; takes a buffer that was never opened (descriptor -1). 0 or an errno. */
int write_buffer_close(struct write_buffer *buffer);

/* Writes `size` bytes at an offset. 0, or the errno of a flush. */
int write_buffer_put(struct write_buffer *buffer, int64_t offset, const void *bytes, size_t size);

/* Passes everything to the system, where other processes can read it. 0; or an errno, and the buffer keeps
 * its contents. */
int write_buffer_flush(struct write_buffer *buffer);

/* Flushes, and reads `size` bytes at an offset. 0 or an errno. */
int write_buffer_read(struct write_buffer *buffer, int64_t offset, void *bytes, size_t size);

/* Drops everything that was not flushed. */
void write_buffer_forget(struct write_buffer *buffer);

/* Flushes, and waits until the data is on disk. 0 or an errno. */
int write_buffer_sync(struct write_buffer *buffer);

/* Flushes, and copies the file to an empty one, onto the disk. The buffer stays with its file. 0 or an errno.
 */
int write_buffer_copy(struct write_buffer *buffer, int copy, const struct breath *breath);

/* Closes the file, and writes from now on to this copy of it, which the buffer owns. */
void write_buffer_turn_to(struct write_buffer *buffer, int copy);

struct waiting_result {
    int64_t cell;
    struct result result;
};

/* An open dataset, for the files that implement it. */
struct dataset {
    char *name; /* as given, for messages */
    char *path; /* absolute, links followed */
    const char *fate; /* what has become of the file at the path: see moved.c */
    char *ours; /* the copy that is written instead; NULL: none */
    struct layout layout;
    struct write_buffer buffer; /* values on their way into the file */
    struct grown_steps grown; /* beyond the dataset that this start has set aside */
    int64_t session; /* this start's row of the session table */
    double zero; /* clock_now() at the sweep's beginning, that of its first session */
    struct variable *row; /* [row_count] the variables of the file, with their offsets. Owned */
    int row_count;
    int status; /* of the first write that failed in this call, after which no other is made */
    signed char *outcome; /* [cells] */
    int *attempts, *deaths; /* [cells] */
    double **end; /* [cells] row of the whole run until its outcome is written; NULL: none. Owned */
    struct waiting_result *waiting; /* results that wait for dataset_commit */
    int64_t waiting_count, waiting_size;
};

/*
 * These write a value of a run or of a session, at the cell or the session's row; once one has failed, they
 * do nothing until write_end. A call that writes ends with write_end, which returns 0, or -1 with the error
 * set.
 */
void write_integer(struct dataset *dataset, enum run_variable which, int64_t cell, int64_t value);
void write_real(struct dataset *dataset, enum variable_kind kind, int which, int64_t index, double value);
void write_text(struct dataset *dataset, enum variable_kind kind, int which, int64_t index, const char *text);
void write_outcome(struct dataset *dataset, int64_t cell, enum outcome outcome); /* keeps it, too */
void write_flush(struct dataset *dataset);
void write_sync(struct dataset *dataset);
int write_end(struct dataset *dataset, struct error *error);

#endif
