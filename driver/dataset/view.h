#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/dataset/view.h"
#include "driver/sweep/sweep.h"

/*
 * A dataset file as a reader sees it: no lock, at any moment, whoever writes. Everything is taken from the
 * file; the sweep file is not needed.
 */
struct view {
    int file; /* of netCDF; -1: closed */
    char *name; /* as given, for messages */
    int64_t format;
    int64_t axis_count;
    struct axis *axis; /* [axis_count] in the order of the grid; `place` unused */
    int64_t cells;
    int64_t step_count;
    int64_t *step; /* [step_count] */
    struct metric_form form; /* lengths of the metrics' dimensions, 0 where the file has none */
    int64_t sessions;
    int64_t bytes; /* the file's length */
    int64_t most; /* values that a file of this length can hold: no header is believed beyond that */
    bool copy; /* a netCDF-4 copy of a dataset: read like one, never written */
};

/*
 * Opens a dataset and reads its axes and steps. On failure -1, nothing held: ERROR_INPUT for a file that is
 * not there, no dataset of this program, of another format, or cut short. A netCDF-4 copy is opened, too.
 */
int view_open(struct view *view, const char *path, struct error *error);
void view_close(struct view *view); /* takes a closed one too */

/* Is this a whole dataset of this program, of whatever format? */
bool view_is_dataset(const char *path);

/* The value of a parameter that is no axis; false where the file does not hold it. */
bool view_param(const struct view *view, const struct param *param, union param_value *value);

/* "4.9.0 of ...": the netCDF library, in static memory. */
const char *view_library(void);

#endif
