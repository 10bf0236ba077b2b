#ifndef NORMSWEEP_WORKER_RUN_MEASURE_H
#define NORMSWEEP_WORKER_RUN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "worker/run/metric.h"

enum { VALIDATE_END = 0 }; /* measure.validate_every: only at the last step */
#define VALIDATE_ALL INT64_MAX /* measure.validate_tokens: the whole text */
#define MEASURE_EVERY_DEFAULT 100
#define VALIDATE_TOKENS_DEFAULT 16384

/* When and what a run measures: `measure` and `validate` of the sweep file. Step 0 and the last step are
 * always measured. */
struct measure {
    int64_t every; /* > 0; or 0 to measure at `steps` */
    int64_t step_count;
    int64_t *steps; /* ascending, distinct, >= 0; owned */
    bool group[GROUP_COUNT]; /* GROUP_ALWAYS is true */
    int64_t validate_every; /* VALIDATE_END or > 0 */
    int64_t validate_tokens; /* >= 1, or VALIDATE_ALL */
};

void measure_init(struct measure *measure); /* the defaults; every = 100 */
void measure_release(struct measure *measure);

/* Does a run that ends at last_step measure, or validate, at this step? */
bool measure_at(const struct measure *measure, int64_t step, int64_t last_step);
bool validate_at(const struct measure *measure, int64_t step, int64_t last_step);

/*
 * The rows of a run: the steps that are measured or validated, ascending. Returns their number and fills
 * `steps` unless it is NULL; counting alone never takes longer than one pass over the listed steps. A row of
 * a step that is only validated holds only valid_loss.
 */
int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps);

/* The number of steps at which a run measures. */
int64_t measure_count(const struct measure *measure, int64_t last_step);

/* The number of steps at which a run validates. */
int64_t measure_validations(const struct measure *measure, int64_t last_step);

/* The index of the first step not below `wanted` in `step` [count], ascending; `count` if there is none. */
int64_t step_place(const int64_t *step, int64_t count, int64_t wanted);

/* Compares two steps (int64_t) for qsort and bsearch. */
int step_compare(const void *a, const void *b);

void measure_digest(const struct measure *measure, struct digest *digest);

#endif
