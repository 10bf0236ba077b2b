#ifndef NORMSWEEP_DRIVER_DATASET_RECORD_H
#define NORMSWEEP_DRIVER_DATASET_RECORD_H

#include <stdio.h>

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

/*
 * Everything about one run that follows from its configuration, in the form of a dataset file: read from it,
 * or measured again. All metrics, and of the other variables those that are not about time, place or
 * attempts.
 */
struct record {
    const struct view *view; /* borrowed */
    int64_t number[RUN_VARIABLE_COUNT]; /* of the variables that a record has */
    int64_t first[METRIC_COUNT]; /* of the metric's values in `value`; -1: not measured */
    int64_t size;
    double *value; /* [size] metric after metric, each as in the file; owned */
};

/* For runs that are measured so. All values are NaN. On failure -1, nothing held. */
int record_init(
    struct record *record, const struct view *view, const struct measure *measure, struct error *error);
void record_release(struct record *record);

/* Has the file a place for every value of a run that ends at `last_step`? -1 with ERROR_INPUT: no. */
int record_fits(const struct record *record, const struct run *run, const struct measure *measure,
    int64_t last_step, struct error *error);

/* Reads the record of a cell of the file. */
int record_read(struct record *record, int64_t cell, struct error *error);

/* Takes a row, or that of STEP_OF_RUN, of a run that fits. `form` is the run's; values: metric_row_size. */
void record_row(struct record *record, const struct metric_form *form, int64_t step, const double *values);

void record_result(struct record *record, const struct result *result);

/* How a run that was trained again differs from its record in the file. */
struct difference {
    int64_t values; /* numbers that at least one of the two has */
    int64_t different;
    /* the first of them */
    enum metric metric; /* METRIC_COUNT: `variable` */
    enum run_variable variable;
    int64_t place; /* among the values of the metric */
    double stored, again;
};

/* Compares the bits of all values; a NaN equals any NaN. Both records have the same view and measure. */
struct difference record_compare(const struct record *stored, const struct record *again);

enum { DIFFERENCE_TEXT = 512 };

/* "tensor_norm at step 20, layer 1, tensor w2: 1.5 in a.nc, 1.25 trained again". Returns text. */
char *difference_text(
    const struct difference *difference, const struct view *view, char text[DIFFERENCE_TEXT]);

#endif
