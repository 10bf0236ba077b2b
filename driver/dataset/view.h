#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/sweep/sweep.h"

/*
 * A dataset file, open for reading: without a lock, at any moment, also while it is written. Needs no sweep
 * file.
 */
struct view {
    int file; /* of netCDF; -1: closed */
    char *name; /* as given, for messages */
    int64_t format;
    int64_t axis_count;
    struct axis *axis; /* [axis_count] in the order of the grid; `place` is unused */
    int64_t cells;
    int64_t step_count;
    int64_t *step; /* [step_count] */
    struct metric_form form; /* lengths of the metrics' dimensions; 0: not in the file */
    int64_t sessions;
    int64_t bytes; /* the file's length */
    int64_t most; /* values that a file of this length can hold; larger counts in a header are refused */
    bool copy; /* a netCDF-4 copy of a dataset, which can be read but not written */
};

/*
 * Opens a dataset, or its netCDF-4 copy, and reads its axes and steps. On failure -1, nothing held:
 * ERROR_INPUT if the file does not exist, is not a dataset of this program, has another format version, or is
 * cut short.
 */
int view_open(struct view *view, const char *path, struct error *error);
void view_close(struct view *view); /* takes a closed view too */

/* Is this a complete dataset of this program, of any format version? -1: no, ERROR_INPUT, or it is unknown,
 * ERROR_ENVIRONMENT. */
int view_check(const char *path, struct error *error);

/* The value of a parameter that is not an axis; false if the file does not have a valid one, with errno 0, or
 * ENOMEM. */
bool view_param(const struct view *view, const struct param *param, union param_value *value);

/* "4.9.0 of ...": the netCDF library, in static memory. */
const char *view_library(void);

#endif
