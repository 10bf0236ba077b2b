#ifndef NORMSWEEP_DRIVER_DATASET_TABLE_H
#define NORMSWEEP_DRIVER_DATASET_TABLE_H

#include <netcdf.h>

#include "driver/dataset/layout.h"
#include "driver/dataset/view.h"

/*
 * The variables of one dataset as rows, in the order of the file. Whatever is done with all of them (define,
 * fill, verify, place, copy) is a loop over these rows.
 */

enum variable_kind {
    VARIABLE_RUN, /* a row of run_variable_table */
    VARIABLE_METRIC, /* of metric_table */
    VARIABLE_SESSION, /* of session_variable_table */
    VARIABLE_LABEL, /* the labels of a `together` axis */
    VARIABLE_PARAM, /* a parameter along an axis */
    VARIABLE_COORDINATE, /* of metric_dimension_table */
};

struct variable {
    enum variable_kind kind;
    int which; /* its row of that table; of a label or a parameter: its axis */
    int param; /* of a parameter: its number among those of the axis */
    const char *name, *long_name, *unit, *comment;
    const char *nature; /* NULL: a coordinate, or a text of a session */
    nc_type type;
    int64_t width; /* characters of a text */
    bool filled; /* has a _FillValue, -1 or NaN */
    bool of_cells; /* over the axes of the grid and, behind them, its own dimensions */
    int rank; /* its own dimensions; a text has one more, of characters */
    const char *dimension[METRIC_RANK_MOST];
    int64_t length[METRIC_RANK_MOST];
};

/* What a dataset's variables follow from. All borrowed. */
struct outline {
    int64_t axis_count;
    const struct axis *axis;
    int64_t step_count, sessions; /* sessions 0: no variables of runs and sessions */
    const int64_t *step; /* [step_count] */
    const struct metric_form *form;
    bool dimension[DIMENSION_COUNT], metric[METRIC_COUNT]; /* those that the file has */
};

/* Of a file that a sweep needs, and of one that is there. */
struct outline layout_outline(const struct layout *layout);
struct outline view_outline(const struct view *view);

/* The rows [*count]. The caller frees them; NULL: no memory. */
struct variable *variable_table(const struct outline *outline, int *count);

/* Bytes of a variable in the file: for each cell, if it is of cells. */
int64_t variable_bytes(const struct variable *variable);

/* The type of a parameter's values, along an axis or as an attribute. */
nc_type variable_param_type(enum param_kind kind);

#endif
