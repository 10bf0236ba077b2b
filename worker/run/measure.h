#ifndef NORMSWEEP_WORKER_RUN_MEASURE_H
#define NORMSWEEP_WORKER_RUN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "worker/run/metric.h"

enum { VALIDATE_END = 0 }; /* measure.validate_every: at the last step alone */
#define VALIDATE_ALL INT64_MAX /* measure.validate_tokens: the whole text */
#define MEASURE_EVERY_DEFAULT 100
#define VALIDATE_TOKENS_DEFAULT 16384

/* When and what a run measures: the sweep file's `measure` and `validate`. Step 0 and the last are always
 * measured. */
struct measure {
    int64_t every; /* > 0; or 0 when `steps` says when */
    int64_t step_count;
    int64_t *steps; /* ascending, distinct, >= 0; owned */
    bool group[GROUP_COUNT]; /* GROUP_ALWAYS is true */
    int64_t validate_every; /* VALIDATE_END or > 0 */
    int64_t validate_tokens; /* >= 1, or VALIDATE_ALL */
};

void measure_init(struct measure *measure); /* the defaults; every = 100 */
void measure_release(struct measure *measure);

/* Is step t of a run that ends at last_step measured, validated? */
bool measure_at(const struct measure *measure, int64_t step, int64_t last_step);
bool validate_at(const struct measure *measure, int64_t step, int64_t last_step);

/*
 * The rows of a run: the steps that are measured or validated, ascending. Returns how many; fills steps where
 * not NULL. To count them alone takes a look at the listed steps at most. A row that is only validated holds
 * valid_loss alone.
 */
int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps);

/* How many of a run's steps are measured. */
int64_t measure_count(const struct measure *measure, int64_t last_step);

/* How many of a run's steps are validated. */
int64_t measure_validations(const struct measure *measure, int64_t last_step);

/* The first place in `step` [count], ascending, whose step is not below `wanted`; count: there is none. */
int64_t step_place(const int64_t *step, int64_t count, int64_t wanted);

/* Orders steps, int64_t, for qsort and bsearch. */
int step_compare(const void *a, const void *b);

void measure_digest(const struct measure *measure, struct digest *digest);

#endif
