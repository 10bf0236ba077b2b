#ifndef NORMSWEEP_DRIVER_DATASET_READ_READ_H
#define NORMSWEEP_DRIVER_DATASET_READ_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/form/form.h"
#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * A dataset file, open for reading: without a lock, at any moment, also while it is written. Needs no sweep
 * file.
 */
struct view {
    int file; /* of netCDF; -1: closed */
    char *name; /* as given, for messages */
    int64_t format;
    int64_t axis_count;
    struct axis *axis; /* [axis_count] in the order of the grid; `written` is NULL */
    struct run base; /* the parameters that are attributes */
    int64_t cells;
    int64_t step_count;
    int64_t *step; /* [step_count] */
    struct metric_form form; /* lengths of the metrics' dimensions; 0: not in the file */
    int64_t sessions;
    int64_t bytes; /* the file's length */
    struct extent *extent; /* of the variables; NULL: a copy */
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

/* What its variables follow from. Borrows from the view. */
struct outline view_outline(const struct view *view);

/* Is this a complete dataset of this program, of any format version? -1: no, ERROR_INPUT, or it is unknown,
 * ERROR_ENVIRONMENT. */
int view_check(const char *path, struct error *error);

/* Functions with a `cause` tell what is missing from what could not be read: *cause becomes the errno of the
 * latter and is left alone otherwise; NULL: it does not matter. */

/* The value of a parameter that is not an axis; false if the file does not have a valid one. */
bool view_param(const struct view *view, const struct param *param, union param_value *value, int *cause);

/* "4.9.0 of ...": the netCDF library, in static memory. */
const char *view_library(void);

/* Reading the variables of a dataset. */

enum { VIEW_DIMENSIONS_MAX = 64, VIEW_NAME = 257 };

/* A variable of numbers. */
struct view_variable {
    int id;
    int dimension_count;
    char dimension[VIEW_DIMENSIONS_MAX][VIEW_NAME];
    int64_t length[VIEW_DIMENSIONS_MAX];
    int64_t size; /* their product */
};

enum { VIEW_FLAGS_MAX = 10, VIEW_FLAG = 24 };

/* The meanings of a variable's values 0, 1, ... */
struct view_flags {
    int count; /* 0: the values are plain numbers, or flags that may be set together */
    char word[VIEW_FLAGS_MAX][VIEW_FLAG];
};

/* False: there is no such variable, or it is a text. */
bool view_find(const struct view *view, const char *name, struct view_variable *variable);

/* Is there a text variable of this name? */
bool view_is_text(const struct view *view, const char *name);

void view_flags(const struct view *view, const struct view_variable *variable, struct view_flags *flags);

/* All values [variable->size]; fill values become NaN. */
int view_read(
    const struct view *view, const struct view_variable *variable, double *values, struct error *error);

/* Are its first dimensions the axes of the grid, in order? */
bool view_is_of_runs(const struct view *view, const struct view_variable *variable);

/* The values [variable->size / view->cells] of one cell, as they are stored; the variable is of runs. */
int view_read_cell(const struct view *view, const struct view_variable *variable, int64_t cell,
    double *values, struct error *error);

/* The values [cells] of a variable whose only dimensions are the axes; all NaN if there is no such variable.
 * The caller frees them; NULL with the error set. */
double *view_cells(const struct view *view, const char *name, struct error *error);

/* All values [count] of a variable that is there, as they are stored: a fill value that others have set hides
 * none. The caller frees them; NULL with the error set. */
double *view_stored(const struct view *view, const char *name, int64_t count, struct error *error);

/* Reads the outcomes [cells]. A number that is not one counts as pending: verify_content tells of it. */
int view_outcomes(const struct view *view, signed char *outcome, struct error *error);

/* Text `index` of a text variable over the grid (index is the cell) or over one dimension. The caller frees
 * it; NULL: there is none, or see `cause`. */
char *view_string(const struct view *view, const char *name, int64_t index, int *cause);

/* A global attribute that is a text. The caller frees it; NULL: there is none, or see `cause`. */
char *view_text(const struct view *view, const char *name, int *cause);

/* The same for an attribute of a variable. */
char *view_variable_text(
    const struct view *view, const struct view_variable *variable, const char *name, int *cause);

/*
 * Checks everything that a command relies on in an open file: types, dimensions and widths of all variables
 * that the program knows, and every value that controls what it does; of a netCDF-4 copy as of a dataset. On
 * failure -1 with ERROR_INPUT.
 */
int verify_content(const struct view *view, struct error *error);

/*
 * Checks everything that a start relies on: types, dimensions and widths of all variables that the program
 * knows, and every value that controls what it does. Nothing may be written before this returns 0. On failure
 * -1 with ERROR_INPUT; the message says what the user can do.
 */
int verify_dataset(const struct view *view, struct error *error);

/*
 * Are all numbers of runs and sessions at multiples of 8, so that a reader never sees half of one? A file
 * that nccopy has written may differ.
 */
bool verify_alignment(const struct view *view);

/*
 * Shell commands that convert a dataset to a compressed netCDF-4 copy, and such a copy back to a dataset. The
 * caller frees them.
 */

/* nccopy -4 -d 5 -s first.nc first-small.nc */
char *conversion_to_copy(const char *path);

/* nccopy -k cdf5 first-small.nc first-small-cdf5.nc; with `carry_on` also ", then run with -o ...". */
char *conversion_back(const char *path, bool carry_on);

/* How a run that was trained again differs from its record in the file. */
struct difference {
    int64_t values; /* numbers that at least one of the two has */
    int64_t different;
    /* the first of them */
    enum metric metric; /* METRIC_COUNT: `variable` */
    enum run_variable variable;
    int64_t place; /* among the values of the metric */
    double stored, again;
};

/*
 * Compares the bits of all numbers of the run in a cell of `stored` with those of the run in a cell of
 * `again`, which trained it again: all metrics and, of the other variables, those that are not about time,
 * place or attempts; a NaN equals any NaN. On failure -1: ERROR_INPUT if `stored` has no place for a number
 * of `again`, ERROR_ENVIRONMENT if a file cannot be read.
 */
int view_compare(const struct view *stored, int64_t cell, const struct view *again, int64_t other,
    struct difference *difference, struct error *error);

enum { DIFFERENCE_TEXT = 512 };

/* "tensor_norm at step 20, layer 1, tensor w2: 1.5 in a.nc, 1.25 trained again". Returns text. */
char *difference_text(
    const struct difference *difference, const struct view *view, char text[DIFFERENCE_TEXT]);

#endif
