#ifndef NORMSWEEP_DRIVER_DATASET_LEDGER_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_LEDGER_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/dataset/ledger/ledger.h"

enum { WRITE_BUFFER_BYTES = 1 << 20, WRITE_BUFFER_PIECES = 1 << 15 };

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

/* Bytes of a variable for each cell. */
int64_t run_variable_bytes(enum run_variable variable);

/* Finds the offsets of all values in an open file of the sweep. -1 with the error set. */
int places_find(struct dataset *dataset, int file, struct error *error);

/* The offset in the file of a metric's values of a cell, in a row (0 for metrics of the whole run). */
int64_t metric_place(const struct dataset *dataset, enum metric metric, int64_t cell, int64_t row);

/* An open dataset, for the files that implement it. */
struct dataset {
    char *name; /* as given, for messages */
    char *path; /* absolute, links followed */
    const char *fate; /* what has become of the file at the path: see displaced.c */
    char *ours; /* the copy that is written instead; NULL: none */
    struct layout layout;
    struct write_buffer buffer; /* values on their way into the file */
    struct longer longer; /* beyond the dataset that this start has set aside */
    int64_t session; /* this start's row of the session table */
    int64_t run[RUN_VARIABLE_COUNT], metric[METRIC_COUNT]; /* offsets of their values; -1: not measured */
    int64_t number[SESSION_VARIABLE_COUNT]; /* offsets of the numbers of the session table */
    signed char *outcome; /* [cells] */
    int *attempts, *deaths; /* [cells] */
    double **end; /* [cells] row of the whole run until its outcome is written; NULL: none. Owned */
    struct waiting_result *waiting; /* results that wait for dataset_commit */
    int64_t waiting_count, waiting_size;
};

/* "phase.nc: ..." from a netCDF status or an errno. Always -1. */
int dataset_error(const struct dataset *dataset, int status, struct error *error);

#endif
