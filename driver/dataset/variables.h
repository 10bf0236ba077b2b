#ifndef NORMSWEEP_DRIVER_DATASET_VARIABLES_H
#define NORMSWEEP_DRIVER_DATASET_VARIABLES_H

#include "driver/dataset/view.h"

/* The variables of a dataset as a reader sees them. */

enum { VIEW_DIMENSIONS_MAX = 64, VIEW_NAME = 257 };

/* A variable that is a number. */
struct view_variable {
    int id;
    int dimension_count;
    char dimension[VIEW_DIMENSIONS_MAX][VIEW_NAME];
    int64_t length[VIEW_DIMENSIONS_MAX];
    int64_t size; /* their product */
};

enum { VIEW_FLAGS_MAX = 10, VIEW_FLAG = 24 };

/* What the values 0, 1, ... of a variable mean. */
struct view_flags {
    int count; /* 0: they are plain numbers */
    char word[VIEW_FLAGS_MAX][VIEW_FLAG];
};

/* False where there is no such variable, or it is a text. */
bool view_find(const struct view *view, const char *name, struct view_variable *variable);

/* Is there a variable of that name, and a text? */
bool view_is_text(const struct view *view, const char *name);

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
