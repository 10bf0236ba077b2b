#ifndef NORMSWEEP_DRIVER_DATASET_VARIABLES_H
#define NORMSWEEP_DRIVER_DATASET_VARIABLES_H

#include "driver/dataset/view.h"

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

/* Reads the outcomes [cells]; refuses a number that is not one. */
int view_outcomes(const struct view *view, signed char *outcome, struct error *error);

/* The same for commands that show what is there: a number that is not an outcome counts as pending. It is for
 * verify_content to tell of. */
int view_known_outcomes(const struct view *view, signed char *outcome, struct error *error);

/* Text `index` of a text variable over the grid (index is the cell) or over one dimension. The caller frees
 * it; NULL: there is none, with errno 0, or ENOMEM. */
char *view_string(const struct view *view, const char *name, int64_t index);

#endif
