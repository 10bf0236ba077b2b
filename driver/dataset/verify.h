#ifndef NORMSWEEP_DRIVER_DATASET_VERIFY_H
#define NORMSWEEP_DRIVER_DATASET_VERIFY_H

#include "driver/dataset/table.h"

/*
 * Checks that an existing file is one that this program could have written. The netCDF library converts types
 * silently, writes past a buffer that is too small for the file's dimensions, and does not check bounds; so
 * everything is compared with the tables before it is used.
 */

/* Checks that there is a variable of this name, type and shape; a width of 0 is any. -1 with ERROR_INPUT; the
 * message names the fault. */
int verify_variable(const struct view *view, const struct variable *expected, struct error *error);

/* "a.nc: <format>; normsweep did not write this", ERROR_INPUT. Always -1. */
int verify_fault(struct error *error, const struct view *view, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Checks everything that a start relies on: types, dimensions and widths of all variables that the program
 * knows, and every value that controls what it does. Nothing may be written before this returns 0. On failure
 * -1 with ERROR_INPUT; the message says what the user can do.
 */
int verify_dataset(const struct view *view, struct error *error);

/* The same of what the file holds, for commands that only read it: a netCDF-4 copy is judged like a dataset,
 * and the line does not say what to do. */
int verify_content(const struct view *view, struct error *error);

/*
 * Are all numbers of runs and sessions at multiples of 8, so that a reader never sees half of one? A file
 * that nccopy has written may differ.
 */
bool verify_alignment(const struct view *view);

#endif
