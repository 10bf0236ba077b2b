#ifndef NORMSWEEP_DRIVER_DATASET_LAYOUT_H
#define NORMSWEEP_DRIVER_DATASET_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/tables/dataset_tables.h"

/*
 * The layout of a dataset: its dimensions, variables and attributes, all from tables. For the files of this
 * room only; the rest of the program uses dataset.h and view.h.
 */

enum {
    FORMAT_VERSION = 2, /* raise it with every change of what a file has */
    SESSIONS_FIRST = 64, /* rows of the session table; doubled when it is full */
    AXES_MAX =
        (int)(sizeof(struct run) / sizeof(int64_t)), /* every axis has at least one parameter of its own */
    DIMENSIONS_MAX =
        AXES_MAX + METRIC_RANK_MOST, /* of a variable: the axes, and those of a metric or of a text */
};

/* The sizes of a dataset, and its sweep. */
struct layout {
    const struct sweep *sweep; /* borrowed */
    const struct corpus *corpus; /* borrowed */
    int64_t step_count;
    int64_t *step; /* [step_count] ascending, owned */
    struct metric_form form; /* in each dimension as long as that of the longest run */
    int64_t sessions;
    /* of the file that this one replaces, for its attributes: lines, and what others may have made of the
     * title; NULL: none. Owned */
    char *history, *title;
    int64_t bytes; /* of the file; -1: unknown */
};

/* The layout that the sweep needs. On failure -1, nothing held. */
int layout_init(
    struct layout *layout, const struct sweep *sweep, const struct corpus *corpus, struct error *error);
void layout_release(struct layout *layout);

/* Adds steps to the layout's own. -1: no memory. */
int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count);

/* Makes each dimension at least as long as in an existing file. Is any dimension longer than in the file? */
bool layout_lengthen(struct layout *layout, const struct metric_form *file);

/* Is a metric measured in this sweep, and therefore a variable of its dataset? */
bool layout_has(const struct layout *layout, enum metric metric);

/*
 * Maps values of a metric from a run's row to the dataset's row, which may be longer, for example with more
 * layers, or with both stacks where the run has one. Returns the index in the dataset's row of the run's
 * value `index`; the *count values from there on are contiguous in both rows.
 */
size_t layout_find(const struct metric_form *dataset, const struct metric_form *run, enum metric metric,
    size_t index, size_t *count);

/* Text of the attribute `measure`. The caller frees it; NULL: no memory. Options of measuring have attributes
 * of their own, named like their keys: see measure_option_text. */
char *layout_measure_text(const struct measure *measure);

/* Text of the attribute `refine`, "" of a sweep without it. The caller frees it; NULL: no memory. */
char *layout_refine_text(const struct sweep *sweep);

/*
 * "phase.nc: No space left on device" from a netCDF status, or from an errno if it is above 0. ERROR_INPUT if
 * the user must choose another path, else ERROR_ENVIRONMENT. Always -1.
 */
int layout_error(struct error *error, const char *name, int status);

/* "phase.nc: is not a normsweep dataset". Always -1. */
int layout_refuse(struct error *error, const char *name);

/* The range of a variable's values in the file. */
struct extent {
    int64_t begin, bytes;
};

#endif
