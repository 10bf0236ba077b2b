#ifndef NORMSWEEP_DRIVER_DATASET_READ_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_READ_INSIDE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/dataset/read/read.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/core/check.h"

/* Improves the error after `path` was refused as a dataset: if it is named like a sweep file, names the
 * dataset beside it, or says that one is needed. */
void mistaken_dataset(const char *path, struct error *error);

/* An attribute that is one number; false: there is none, or see `cause` in read.h. */
bool view_attribute_number(
    const struct view *view, int variable, const char *name, double *value, int *cause);

/* The same for a global attribute that is one integer. */
bool view_attribute_integer(const struct view *view, const char *name, int64_t *value, int *cause);

/* False: there is no such variable, or it is not a text. */
bool view_find_text(const struct view *view, const char *name, struct view_variable *variable);

/* Text `index` of a text variable, row-major over all its dimensions except the last, as it is stored. The
 * caller frees it; NULL: there is none, or see `cause` in read.h. */
char *view_stored_text(
    const struct view *view, const struct view_variable *variable, int64_t index, int *cause);

/* "a.nc: <format>; normsweep did not write this", ERROR_INPUT. Always -1. */
int verify_fault(struct error *error, const struct view *view, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks that there is a variable of this name, type and shape, and finds it; a width of 0 is any. -1 with
 * ERROR_INPUT; the message names the fault. */
int verify_variable(const struct view *view, const struct outline *outline, const struct variable *expected,
    int *variable, struct error *error);

#endif
