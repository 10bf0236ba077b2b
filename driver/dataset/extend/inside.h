#ifndef NORMSWEEP_DRIVER_DATASET_EXTEND_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_EXTEND_INSIDE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/dataset/extend/extend.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"
#include "worker/checkpoint/checkpoint.h"

/*
 * Maps an existing file, which verify_content has accepted, and which holds this sweep or a part of it. On
 * failure -1; the message lists all differences.
 */
int match_init(struct match *match, const struct view *view, const struct sweep *sweep,
    const struct corpus *corpus, struct error *error);
void match_release(struct match *match);

/* The sweep's cell for a cell of the file. */
int64_t match_cell(const struct match *match, const struct view *view, int64_t cell);

/*
 * Copies the session table, and everything about runs that were ever started, from the file of `view` to the
 * new file at `path`. cell [cells of the layout's sweep]: that of the old file which holds the run; -1: none.
 * -1 with the error set.
 */
int copy_runs(const struct view *view, const struct layout *layout, const int64_t *cell, const char *path,
    struct error *error);

/*
 * What other programs have added to the file of `view`, and the layout's file does not have: global
 * attributes, attributes of variables, variables with their dimensions. additions_find sets their bytes, 0:
 * nothing was added, NaN: unknown, and writes nothing; additions_copy copies them into the new file at
 * `path`, which is laid out. -1: something cannot be kept, because its variable is over a dimension that
 * changes, or has the name of a new axis; then ERROR_INPUT names it. Or ERROR_ENVIRONMENT.
 */
int additions_find(const struct view *view, const struct match *match, const struct layout *layout,
    double *bytes, struct error *error);
int additions_copy(const struct view *view, const struct match *match, const struct layout *layout,
    const char *path, struct error *error);

#endif
