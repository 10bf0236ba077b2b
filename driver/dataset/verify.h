#ifndef NORMSWEEP_DRIVER_DATASET_VERIFY_H
#define NORMSWEEP_DRIVER_DATASET_VERIFY_H

#include <netcdf.h>

#include "driver/dataset/variables.h"
#include "driver/dataset/view.h"

/*
 * Is an existing file what this program would have written? The library converts types silently, reads past a
 * buffer that was meant for another width, and knows no bounds: so everything is held against the tables
 * before it is used.
 */

/* What a variable has to be. */
struct variable_form {
    nc_type type;
    int rank; /* for NC_CHAR without the dimension of the characters */
    const char *dimension[VIEW_DIMENSIONS_MAX];
    int64_t width; /* characters of each text; 0: any number */
};

/* Is the variable of this name there, and of this form? -1 with ERROR_INPUT names it and its fault. */
int verify_variable(
    const struct view *view, const char *name, const struct variable_form *form, struct error *error);

/* "a.nc: step descends; normsweep did not write this": ERROR_INPUT; always -1. */
int verify_fault(struct error *error, const struct view *view, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Checks all that a start relies on: types, dimensions and widths of all variables that the program knows,
 * and every value that steers it. Nothing may be written before this has returned 0. On failure -1 with
 * ERROR_INPUT, which says what the user can do.
 */
int verify_dataset(const struct view *view, struct error *error);

/* The same of what the file holds, for commands that only read it: a netCDF-4 copy is judged like a dataset,
 * and the line does not say what to do. */
int verify_content(const struct view *view, struct error *error);

/*
 * Do all numbers of runs and sessions lie at multiples of 8, so that a reader never sees a half of one? What
 * nccopy has written need not be so.
 */
bool verify_alignment(const struct view *view);

#endif
