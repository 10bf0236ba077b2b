#ifndef NORMSWEEP_DRIVER_DATASET_LEDGER_H
#define NORMSWEEP_DRIVER_DATASET_LEDGER_H

#include "driver/dataset/buffer.h"
#include "driver/dataset/dataset.h"
#include "driver/dataset/layout.h"
#include "driver/dataset/view.h"

/* The inside of an open dataset, for the files of which it consists. */
struct dataset {
    char *name; /* as given, for messages */
    char *path; /* absolute, links followed */
    struct layout layout;
    struct write_buffer buffer; /* all that is written on its way into the file */
    int64_t session; /* this start's row of the session table */
    int64_t run[RUN_VARIABLE_COUNT], metric[METRIC_COUNT]; /* where their values begin; -1: not measured */
    int64_t number[SESSION_VARIABLE_COUNT]; /* the same of the session table; of its numbers alone */
    signed char *outcome; /* [cells] */
    int *attempts, *deaths; /* [cells] */
    struct waiting_result *waiting; /* results that no commit has written yet */
    int64_t waiting_count, waiting_size;
};

struct waiting_result {
    int64_t cell;
    struct result result;
};

/* Cells of an existing file as cells of the sweep. */
struct mapping {
    int64_t axis_count; /* of the file */
    int64_t *to[AXES_MAX]; /* [length of the file's axis] index along the sweep's axis; owned */
    int64_t stride[AXES_MAX]; /* of that axis, in cells; 0 for an axis that has become a fixed parameter */
    int64_t base; /* cells, for axes that the file has as fixed parameters */
    bool identity; /* nothing moves and nothing is new */
};

/*
 * Does an existing file hold this sweep, or a part of it? Fills the mapping, or gives -1 with all that
 * differs in error.
 */
int mapping_init(
    struct mapping *mapping, const struct view *view, const struct layout *layout, struct error *error);
void mapping_release(struct mapping *mapping);

/* The sweep's cell of the file's cell. */
int64_t mapping_cell(const struct mapping *mapping, const struct view *view, int64_t cell);

/*
 * Copies the session table and everything of all runs that were ever started from the file of `view` into
 * the new file at `path`. Returns a netCDF status.
 */
int mapping_copy(
    const struct mapping *mapping, const struct view *view, const struct layout *layout, const char *path);

/* Bytes that a variable has in the file for each cell. */
int64_t run_variable_bytes(enum run_variable variable);
int64_t metric_bytes(const struct layout *layout, enum metric metric);

/* "phase.nc: ..." from a netCDF status or an errno; always -1. */
int dataset_error(const struct dataset *dataset, int status, struct error *error);

/* Copies text into a field of `width` bytes, zeros after it: whole UTF-8 characters alone, '?' for what is
 * none. */
void dataset_field(char *field, size_t width, const char *text);

#endif
