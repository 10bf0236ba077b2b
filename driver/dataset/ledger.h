#ifndef NORMSWEEP_DRIVER_DATASET_LEDGER_H
#define NORMSWEEP_DRIVER_DATASET_LEDGER_H

#include "driver/dataset/buffer.h"
#include "driver/dataset/dataset.h"
#include "driver/dataset/layout.h"
#include "driver/dataset/view.h"

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

struct waiting_result {
    int64_t cell;
    struct result result;
};

/* Maps cells of an existing file to cells of the sweep. */
struct mapping {
    int64_t axis_count; /* of the file */
    int64_t *to[AXES_MAX]; /* [length of the file's axis] index along the sweep's axis; owned */
    int64_t stride[AXES_MAX]; /* of the sweep's axis, in cells; 0 if it is now a fixed parameter */
    int64_t base; /* cells: offset by axes whose parameters are fixed in the file */
    int64_t shorter; /* the file's fixed `steps`, if the sweep has more and its runs carry on from kept
                      * states, so that nothing is copied; else 0 */
    bool identity; /* every cell keeps its number, and none is new */
};

/*
 * Maps an existing file, which verify_content has accepted, and which holds this sweep or a part of it. On
 * failure -1; the message lists all differences.
 */
int mapping_init(
    struct mapping *mapping, const struct view *view, const struct layout *layout, struct error *error);
void mapping_release(struct mapping *mapping);

/*
 * The cell of an open dataset that holds the run of each cell of the sweep, -1: none. Sets *place to [cells],
 * which the caller frees. The dataset, which verify_content has accepted, holds the whole sweep or a part of
 * it, or, none of its runs, a shorter one. -1: it holds something else, or memory is lacking; the message is
 * that of `run`.
 */
int mapping_places(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **place, struct error *error);

/* The sweep's cell for a cell of the file. */
int64_t mapping_cell(const struct mapping *mapping, const struct view *view, int64_t cell);

/*
 * Copies the session table, and everything about runs that were ever started, from the file of `view` to the
 * new file at `path`. Returns a netCDF status.
 */
int mapping_copy(
    const struct mapping *mapping, const struct view *view, const struct layout *layout, const char *path);

/* Bytes of a variable for each cell. */
int64_t run_variable_bytes(enum run_variable variable);

/* Finds the offsets of all values in an open file of the sweep. -1 with the error set. */
int places_find(struct dataset *dataset, int file, struct error *error);

/* The offset in the file of a metric's values of a cell, in a row (0 for metrics of the whole run). */
int64_t metric_place(const struct dataset *dataset, enum metric metric, int64_t cell, int64_t row);

/* "phase.nc: ..." from a netCDF status or an errno. Always -1. */
int dataset_error(const struct dataset *dataset, int status, struct error *error);

/* The outcome of a cell at the start: nothing runs yet, and skip may have changed. What a search for a
 * boundary has skipped stays so until the search needs it. */
enum outcome dataset_first_outcome(
    const struct sweep *sweep, int64_t cell, enum outcome outcome, bool retry_failed);

/* Copies a text into a field of `width` bytes, padded with zeros. Cuts it between UTF-8 characters; bytes
 * that are not UTF-8 become '?'. */
void dataset_field(char *field, size_t width, const char *text);

#endif
