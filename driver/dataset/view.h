#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
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

/* A global attribute that is a text; the caller's to free, NULL where there is none. */
char *view_text(const struct view *view, const char *name);

enum { VIEW_DIMENSIONS_MAX = 64, VIEW_NAME = 257 };

/* A variable that is a number. */
struct view_variable {
    int id;
    int dimension_count;
    char dimension[VIEW_DIMENSIONS_MAX][VIEW_NAME];
    int64_t length[VIEW_DIMENSIONS_MAX];
    int64_t size; /* their product */
};

/* False where there is no such variable, or it is a text. */
bool view_find(const struct view *view, const char *name, struct view_variable *variable);

/* Is there a variable of that name, and a text? */
bool view_is_text(const struct view *view, const char *name);

enum { VIEW_FLAGS_MAX = 10, VIEW_FLAG = 24 };

/* What the values 0, 1, ... of a variable mean. */
struct view_flags {
    int count; /* 0: they are plain numbers */
    char word[VIEW_FLAGS_MAX][VIEW_FLAG];
};

void view_flags(const struct view *view, const struct view_variable *variable, struct view_flags *flags);

/* All values [variable->size], NaN for what is filled. */
int view_read(
    const struct view *view, const struct view_variable *variable, double *values, struct error *error);

/* Are its first dimensions the axes of the grid, in their order? */
bool view_is_of_runs(const struct view *view, const struct view_variable *variable);

/* The values of one cell of the grid [variable->size / view->cells] of a variable that is of runs, as they
 * are stored. */
int view_read_cell(const struct view *view, const struct view_variable *variable, int64_t cell,
    double *values, struct error *error);

/* The numbers [cells] of a variable over the grid alone, NaN where the file has none; the caller's to free.
 * NULL: error. */
double *view_cells(const struct view *view, const char *name, struct error *error);

/* The outcomes [cells]. */
int view_outcomes(const struct view *view, signed char *outcome, struct error *error);

/* Text `index` of a text variable over the grid, in the order of its cells, or over one dimension; the
 * caller's to free, NULL where there is none. */
char *view_string(const struct view *view, const char *name, int64_t index);

#endif
