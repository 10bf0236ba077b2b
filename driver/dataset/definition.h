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

/* Write an attribute. A text that is NULL is an error, no memory; an empty text is not written. */
void definition_text(struct definition *definition, int variable, const char *name, const char *text);
void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value);
void definition_real(struct definition *definition, int variable, const char *name, double value);

/* Characters of the longest of `count` texts, but at least 1. */
int64_t definition_longest(char **text, int64_t count);

#endif
