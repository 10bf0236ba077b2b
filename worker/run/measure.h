#ifndef NORMSWEEP_WORKER_RUN_MEASURE_H
#define NORMSWEEP_WORKER_RUN_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "worker/run/metric.h"

enum { VALIDATE_END = 0 }; /* measure.validate_every: only at the last step */
enum { HESSIAN_ENDS = 0, HESSIAN_START = -1 }; /* measure.hessian_every: only at step 0 and the last, at 0 */
#define VALIDATE_ALL INT64_MAX /* measure.validate_tokens: the whole text */
#define MEASURE_EVERY_DEFAULT 100
#define VALIDATE_TOKENS_DEFAULT 16384
#define MEASURE_NUMBER_MOST 1000000000000 /* the same as of the parameter `steps` */

/* When, what and how a run measures: `measure` and MEASURE_OPTIONS. Step 0 and the last step are always
 * measured. */
struct measure {
    int64_t every; /* > 0; or 0 to measure at `steps` */
    int64_t step_count;
    int64_t *steps; /* ascending, distinct, >= 0; owned */
    bool group[GROUP_COUNT]; /* GROUP_ALWAYS is true */
    int64_t validate_every; /* VALIDATE_END or > 0 */
    int64_t validate_tokens; /* >= 1, or VALIDATE_ALL */
    int64_t gradient_batches; /* >= 1, over which GROUP_GRADIENTS averages */
    int64_t hessian_probes, hessian_steps, hessian_batches; /* >= 1 */
    int64_t hessian_every; /* HESSIAN_START, HESSIAN_ENDS or > 0 */
    int64_t lyapunov_exponents, lyapunov_sweeps; /* of GROUP_LYAPUNOV: >= 1, >= 0 */
};

/*
 * The numbers with which one measures, and their keys in the sweep file: X(field, key, member, GROUP,
 * initial, least, most, words...). `key` is a key of the sweep file that takes a number or, with `member`, a
 * mapping whose rows are neighbours here; words stand for numbers. Without its group a number has no effect:
 * it enters no digest, and its key is refused.
 */
#define MEASURE_OPTIONS(X)                                                                                   \
    X(validate_every, validate, "every", ALWAYS, VALIDATE_END, 1, MEASURE_NUMBER_MOST,                       \
        {"end", VALIDATE_END})                                                                               \
    X(validate_tokens, validate, "tokens", ALWAYS, VALIDATE_TOKENS_DEFAULT, 1, MEASURE_NUMBER_MOST,          \
        {"all", VALIDATE_ALL})                                                                               \
    X(gradient_batches, gradient_batches, NULL, GRADIENTS, 10, 1, 100000, {NULL, 0})                         \
    X(hessian_probes, hessian, "probes", HESSIAN, 10, 1, 10000, {NULL, 0})                                   \
    X(hessian_steps, hessian, "steps", HESSIAN, 80, 1, 10000, {NULL, 0})                                     \
    X(hessian_batches, hessian, "batches", HESSIAN, 1, 1, 100000, {NULL, 0})                                 \
    X(hessian_every, hessian, "every", HESSIAN, HESSIAN_ENDS, 1, MEASURE_NUMBER_MOST,                        \
        {"ends", HESSIAN_ENDS}, {"start", HESSIAN_START})                                                    \
    X(lyapunov_exponents, lyapunov_exponents, NULL, LYAPUNOV, 8, 1, 10000, {NULL, 0})                        \
    X(lyapunov_sweeps, lyapunov_sweeps, NULL, LYAPUNOV, 10, 0, 10000, {NULL, 0})

enum measure_option {
#define X(field, ...) MEASURE_OPTION_##field,
    MEASURE_OPTIONS(X)
#undef X
        MEASURE_OPTION_COUNT,
};

enum { MEASURE_WORDS_MOST = 2 };

struct measure_option_row {
    const char *key, *member; /* member: NULL if the key takes the number itself */
    size_t offset; /* of the field in struct measure */
    enum metric_group group;
    int64_t initial, least, most;
    struct measure_word {
        const char *text; /* NULL behind the last one */
        int64_t value;
    } word[MEASURE_WORDS_MOST + 1];
};

extern const struct measure_option_row measure_option_table[MEASURE_OPTION_COUNT];

void measure_set(struct measure *measure, enum measure_option option, int64_t value);

/* The first option of a key of the sweep file, MEASURE_OPTION_COUNT without one; and the one behind its last.
 */
enum measure_option measure_option_first(const char *key);
enum measure_option measure_option_end(enum measure_option first);

/* The value of a key as a sweep file would have it: "10", "{every: end, tokens: 16384}". The caller frees it;
 * NULL: no memory. */
char *measure_option_text(const struct measure *measure, enum measure_option first);

void measure_init(struct measure *measure); /* the defaults; every = 100 */
void measure_release(struct measure *measure);

/* Does a run that ends at last_step measure, or validate, at this step? */
bool measure_at(const struct measure *measure, int64_t step, int64_t last_step);
bool validate_at(const struct measure *measure, int64_t step, int64_t last_step);

/* At this step, which it measures, does such a run measure the Hessian? Always at step 0, if at all. */
bool hessian_at(const struct measure *measure, int64_t step, int64_t last_step);

/*
 * The rows of a run: the steps that are measured or validated, ascending. Returns their number and fills
 * `steps` unless it is NULL; counting alone never takes longer than one pass over the listed steps. A row of
 * a step that is only validated holds only valid_loss.
 */
int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps);

/* The number of steps at which a run measures. */
int64_t measure_count(const struct measure *measure, int64_t last_step);

/* The number of steps at which a run measures the Hessian. */
int64_t measure_hessians(const struct measure *measure, int64_t last_step);

/* The number of steps at which a run validates. */
int64_t measure_validations(const struct measure *measure, int64_t last_step);

/* The index of the first step not below `wanted` in `step` [count], ascending; `count` if there is none. */
int64_t step_place(const int64_t *step, int64_t count, int64_t wanted);

/* Compares two steps (int64_t) for qsort and bsearch. */
int step_compare(const void *a, const void *b);

void measure_digest(const struct measure *measure, struct digest *digest);

#endif
