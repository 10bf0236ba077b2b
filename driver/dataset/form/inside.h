#ifndef NORMSWEEP_DRIVER_DATASET_FORM_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_FORM_INSIDE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/dataset/form/form.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"

/* Bytes of a value of an external type; 0: not a type of CDF-5. */
int64_t type_size(int64_t type);

/* Text of the attribute `refine`, "" of a sweep without it. The caller frees it; NULL: no memory. */
char *layout_refine_text(const struct sweep *sweep);

/*
 * A dataset file while it is being defined; shared by the files that write one. Keeps the first error, after
 * which all calls do nothing.
 */
struct definition {
    struct outline outline;
    const struct sweep *sweep; /* NULL: a network that is measured, which has no variables of runs */
    struct variable *row; /* [count], owned; row i is variable i of the file */
    int count;
    int file;
    int status; /* of netCDF */
};

/* Keeps a status unless there was an error before. */
void definition_keep(struct definition *definition, int status);

/* Defines dimensions and variables, with their attributes. */
void definition_variables(struct definition *definition);

/* After the definition: writes the coordinates, and what variables of runs have in place of a fill value. */
void definition_write(struct definition *definition);

/* When the file was created or, if there are lines of a file before it, extended; these lines come below.
 * Starts are in the session table. */
void definition_history(struct definition *definition, const char *before);

/* Write an attribute. A text that is NULL is an error, no memory; an empty text is not written. */
void definition_text(struct definition *definition, int variable, const char *name, const char *text);
void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value);

#endif
