#ifndef NORMSWEEP_DRIVER_DATASET_DEFINITION_H
#define NORMSWEEP_DRIVER_DATASET_DEFINITION_H

#include "driver/dataset/layout.h"

#include <netcdf.h>

/*
 * A dataset file while it is being defined; shared by the files that write a layout. Keeps the first error,
 * after which all calls do nothing.
 */
struct definition {
    const struct layout *layout;
    int file;
    int status; /* of netCDF */
    int axis[AXES_MAX]; /* dimensions */
    int dimension[DIMENSION_COUNT]; /* -1: not needed */
    int sessions;
    char *coordinates; /* auxiliary coordinates of the grid, each after a space; owned */
};

/* The netCDF type of a parameter's values. */
extern const nc_type definition_param_types[];

/* The netCDF type of the coordinate of a metric's dimension. */
nc_type definition_dimension_type(enum metric_dimension dimension);

/* The netCDF types of a run variable's values, by its storage. */
extern const nc_type definition_storage_types[];

/* Keeps a status unless there was an error before. */
void definition_keep(struct definition *definition, int status);

/* Defines dimensions and variables, with their attributes. */
void definition_variables(struct definition *definition);

/* Defines the global attributes. */
void definition_globals(struct definition *definition);

/* Defines a dimension; returns its id. */
int definition_dimension(struct definition *definition, const char *name, int64_t length);

/* Defines a variable over dimensions [count], and for NC_CHAR also over `width` characters. Returns its id.
 */
int definition_variable(struct definition *definition, const char *name, nc_type type, int64_t width,
    int count, const int *dimensions);
void definition_describe(struct definition *definition, int variable, const char *long_name, const char *unit,
    const char *comment);

/* Define the coordinates of the dimensions of metrics that are there, and the variable of a metric over the
 * first `axes` axes and, behind them, over its dimensions [rank]. */
void definition_shared_coordinates(struct definition *definition);
void definition_metric(struct definition *definition, enum metric metric, int axes, int rank,
    const enum metric_dimension *dimension);

/* After the definition: writes these coordinates. */
void definition_write_shared(struct definition *definition);

/* When the file was created or, if there are lines of a file before it, extended; these lines come below.
 * Starts are in the session table. */
void definition_history(struct definition *definition, const char *before);

/* Write an attribute. A text that is NULL is an error, no memory; an empty text is not written. */
void definition_text(struct definition *definition, int variable, const char *name, const char *text);
void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value);
void definition_real(struct definition *definition, int variable, const char *name, double value);

/* Characters of the longest of `count` texts, but at least 1. */
int64_t definition_longest(char **text, int64_t count);

#endif
