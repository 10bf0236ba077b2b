#ifndef NORMSWEEP_WORKER_TRAIN_H
#define NORMSWEEP_WORKER_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/corpus.h"
#include "worker/measure.h"
#include "worker/run.h"

/* How a run stands, in the dataset's flag_values. */
enum outcome {
    OUTCOME_PENDING,
    OUTCOME_RUNNING,
    OUTCOME_DONE,
    OUTCOME_DIVERGED,
    OUTCOME_FAILED,
    OUTCOME_SKIPPED,
    OUTCOME_COUNT,
};

#define REASON_SIZE 256
#define RESULT_VALUES_MAX 64

/* What one run came to. */
struct result {
    int64_t outcome; /* DONE, DIVERGED, FAILED (see reason), or PENDING: it was told to stop */
    int64_t last_step; /* steps taken */
    int64_t diverged_step; /* -1, or the step whose loss or norm is not finite */
    double seconds; /* the whole run */
    double step_seconds; /* in training steps alone */
    double measure_seconds, validate_seconds; /* the rest, apart, for plans */
    int64_t measured, validated; /* how often */
    int64_t tokens; /* trained on */
    double values[RESULT_VALUES_MAX]; /* metric_run_size() per-run metrics; NaN where there is none */
    char reason[REASON_SIZE]; /* why it failed */
};

/* Who watches a run. Any function may be NULL. */
struct observer {
    void *context;
    /* A row of measurements is complete: metric_row_size(layers) doubles, NaN where there is nothing. */
    void (*row)(void *context, int64_t step, const double *values, size_t count);
    /* After every step: `tokens` trained on so far. False stops the run. */
    bool (*carry_on)(void *context, int64_t step, int64_t last_step, int64_t tokens);
    /* A run is done: its final weights, for as long as the call lasts. */
    void (*finish)(void *context, const struct transformer *model, const scalar *weights);
};

/*
 * Trains one run from its beginning to its end and measures it. A function of its arguments: no MPI, no
 * files. Never fails but through result->outcome. Losses are looked at in every step, norms at measured ones.
 * `arena` lends its memory: {0}, or what earlier runs have left; the caller's to release.
 */
void train(const struct run *run, const struct corpus *corpus, const struct measure *measure,
    const struct observer *observer, struct arena *arena, struct result *result);

/* Bytes that train() takes for a run, exactly: its one arena. */
size_t train_memory(const struct run *run, const struct corpus *corpus, const struct measure *measure);

/*
 * Floating-point operations of one training step's matrix products: 6 (block weights + V C) B T + 6 L T C B
 * T, the causal half of attention counted.
 */
double train_step_arithmetic(const struct run *run, int64_t vocabulary);

/* What one training step and a whole run cost, in floating-point operations of matrix products and what takes
 * as long as so many: the cost model of longest-first and of plans. */
double train_step_cost(const struct run *run, int64_t vocabulary);
double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure);

#endif
