#ifndef NORMSWEEP_DRIVER_DATASET_DEFINITION_H
#define NORMSWEEP_DRIVER_DATASET_DEFINITION_H

#include "driver/dataset/layout.h"

#include <netcdf.h>

/*
 * A dataset file in the making. The first error sticks: what follows it does nothing. Shared by the files
 * that write a layout.
 */
struct definition {
    const struct layout *layout;
    int file;
    int status; /* of netCDF */
    int axis[AXES_MAX]; /* dimensions */
    int dimension[DIMENSION_COUNT]; /* -1: none that is needed */
    int sessions;
    char *coordinates; /* auxiliary coordinates of the grid, each preceded by a blank; owned */
};

/* The netCDF type of a parameter's values. */
extern const nc_type definition_param_types[];

/* The netCDF types of the coordinates of metrics' dimensions. */
extern const nc_type definition_dimension_types[DIMENSION_COUNT];

/* Value `index` of such a coordinate, of numbers and but for steps; NaN where it has no such value. */
double definition_coordinate(enum metric_dimension dimension, int64_t index);

/* The netCDF types of a run variable's values, by its storage. */
extern const nc_type definition_storage_types[];

/* Keeps the first error. */
void definition_keep(struct definition *definition, int status);

/* Dimensions and variables, with their attributes. */
void definition_variables(struct definition *definition);

/* Global attributes. */
void definition_globals(struct definition *definition);

/* An attribute; a text that is NULL counts as no memory, an empty one is left out. */
void definition_text(struct definition *definition, int variable, const char *name, const char *text);
void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value);
void definition_real(struct definition *definition, int variable, const char *name, double value);

/* Characters of the longest of `count` texts, 1 at least. */
int64_t definition_longest(char **text, int64_t count);

#endif
