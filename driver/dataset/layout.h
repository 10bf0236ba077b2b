#ifndef NORMSWEEP_DRIVER_DATASET_LAYOUT_H
#define NORMSWEEP_DRIVER_DATASET_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/tables/dataset_tables.h"

/*
 * What a dataset looks like: its dimensions, variables and attributes, all of them from tables. Inside the
 * dataset's own files alone; the rest of the program sees dataset.h and view.h.
 */

enum {
    FORMAT_VERSION = 1, /* to be raised when a file of the old layout can no longer be carried on */
    SESSIONS_FIRST = 64, /* rows of the session table; doubled when they are used up */
    AXES_MAX = (int)(sizeof(struct run) / sizeof(int64_t)), /* every axis has a parameter of its own */
    DIMENSIONS_MAX = AXES_MAX + METRIC_RANK_MOST, /* of a variable: axes and a metric's own, or characters */
};

/* The extents of a dataset, and what it describes. */
struct layout {
    const struct sweep *sweep; /* borrowed */
    const struct corpus *corpus; /* borrowed */
    int64_t step_count;
    int64_t *step; /* [step_count] ascending, owned */
    struct metric_form form; /* as long as the longest run's in each dimension */
    int64_t sessions;
    int64_t bytes; /* of the file; -1 when it could not be told beforehand */
};

/* What the sweep needs, nothing more. On failure -1 and nothing held. */
int layout_init(
    struct layout *layout, const struct sweep *sweep, const struct corpus *corpus, struct error *error);
void layout_release(struct layout *layout);

/* Adds steps to the layout's own. -1: no memory. */
int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count);

/* Makes each dimension as long as in an existing file, too. Are some longer than there? */
bool layout_lengthen(struct layout *layout, const struct metric_form *file);

/* The axis on which a parameter moves, or NULL. */
const struct axis *layout_axis(const struct sweep *sweep, const struct param *param);

/* Is a metric measured in this sweep, and so a variable of its dataset? */
bool layout_has(const struct layout *layout, enum metric metric);

/*
 * A run has fewer layers, say, than the dataset: the first *count of its values of a metric from `index` on
 * lie side by side in the dataset, too. Returns where, in values of the metric's row there.
 */
size_t layout_find(const struct metric_form *dataset, const struct metric_form *run, enum metric metric,
    size_t index, size_t *count);

/* The dataset's title, the program's name where the sweep has none. Borrowed. */
const char *layout_title(const struct sweep *sweep);

/* Texts of the attributes `measure` and `validate`; the caller's to free, NULL: no memory. */
char *layout_measure_text(const struct measure *measure);
char *layout_validate_text(const struct measure *measure);

/*
 * "phase.nc: No space left on device" from a netCDF status or, where it is above 0, an errno; ERROR_INPUT
 * where the user named a path that cannot be used. Always -1.
 */
int layout_error(struct error *error, const char *name, int status);

/* "phase.nc: is no dataset of normsweep"; always -1. */
int layout_refuse(struct error *error, const char *name);

/* Where in a file a variable's values lie. */
struct extent {
    int64_t begin, bytes;
};

#endif
