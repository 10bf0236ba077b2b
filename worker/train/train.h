#ifndef NORMSWEEP_WORKER_TRAIN_TRAIN_H
#define NORMSWEEP_WORKER_TRAIN_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/core/arena.h"
#include "model/corpora/corpora.h"
#include "model/instruments/instruments.h"
#include "model/network/network.h"
#include "model/optimisers/optimisers.h"
#include "worker/run/run.h"

/* The values of one measured step, of a run or of a network that `inspect` measures: NaN, or what was put. */
struct measured {
    const struct metric_form *form; /* borrowed, like the architecture */
    const struct architecture *architecture;
    double *values; /* [form->row_size] */
};

/* Where the values of a metric lie; those of block, or depth, number `at` of a metric by blocks. */
double *measured_values(const struct measured *measured, enum metric metric);
double *measured_block(const struct measured *measured, enum metric metric, int64_t at);

/* Put all values of a metric; of a metric by blocks, of values[blocks][per] the first ones of each block, as
 * many as the metric has. */
void measured_put(const struct measured *measured, enum metric metric, const double *values);
void measured_put_blocks(
    const struct measured *measured, enum metric metric, const double *values, size_t per);

/* Put what was measured of the groups saturation and heads. */
void measured_put_saturation(const struct measured *measured, const struct saturation *saturation);

/* Puts what was measured of the group attention. */
void measured_put_attention(const struct measured *measured, const struct attending *attending);

/* What a run has measured so far: its rows, and the norms to which laws of growth are fitted. */
struct history {
    struct metric_form form;
    int64_t rows_most; /* capacity, in rows */
    int64_t row_count;
    int64_t *step; /* [rows_most] step of each row, ascending */
    double *values; /* [rows_most][form.row_size] as the observer got them */
    int64_t norm_count;
    int64_t *norm_step; /* [rows_most] the measured steps */
    double *norm; /* [rows_most] |theta_t| at these steps */
    double *reach; /* [rows_most] of the steps from there (measure_reach); NaN: not measured */
    double *scratch; /* [2 * rows_most] for the fits */
    double *fitted; /* [3 * rows_most] norms of the fitted recursions */
};

/* A row by its index. The row at row_count is the next one; history_begin_row fills it with NaN. */
double *history_row(const struct history *history, int64_t index);
double *history_begin_row(const struct history *history);

/* The state of a run, in the dataset's flag_values. */
enum outcome {
    OUTCOME_PENDING,
    OUTCOME_RUNNING,
    OUTCOME_DONE,
    OUTCOME_DIVERGED,
    OUTCOME_FAILED,
    OUTCOME_SKIPPED,
    OUTCOME_COUNT,
};

/* Why a run that is done ended before its last step, in the dataset's flag_values. */
enum early { EARLY_NO, EARLY_PHASE, EARLY_COUNT };

#define REASON_SIZE 256

/* The result of one run. */
struct result {
    int64_t outcome; /* DONE, DIVERGED, FAILED (see reason), or PENDING: the observer stopped it */
    int64_t last_step; /* steps taken */
    int64_t ended_early; /* enum early */
    int64_t diverged_step; /* -1, or the step whose loss or norm is not finite */
    double seconds; /* of the whole run */
    double step_seconds; /* of the training steps */
    /* of the parts beside them, for plans, and the number of times */
    double measure_seconds, validate_seconds, saturate_seconds, gradients_seconds, hessian_seconds;
    double residual_seconds, lyapunov_seconds, attention_seconds, sharpness_seconds, spectra_seconds;
    int64_t measured, validated, saturated, gradients, hessians, residuals, lyapunovs, attended, sharpened,
        spectra;
    int64_t tokens; /* trained on */
    int64_t dynamics; /* enum dynamics: the class of the growth */
    double norm_growth; /* as the metric; NaN unless DONE */
    char reason[REASON_SIZE]; /* of a failure */
};

/*
 * The whole state of a run between two steps, before anything of `step` is done: the contents of a
 * checkpoint. The pointers lead into the run's own memory and are valid during the call that passes the
 * snapshot.
 */
struct snapshot {
    const struct run *run;
    const struct transformer *model; /* its architecture and layout */
    int64_t step, last_step;
    scalar *weights; /* plane */
    struct optimiser *optimiser; /* its moments */
    struct instruments *instruments; /* their state between measurements */
    struct history *history;
    struct result *result; /* times and counts so far */
};

/* An observer's decision between two steps. */
enum verdict { VERDICT_CARRY_ON, VERDICT_SAVE, VERDICT_STOP, VERDICT_SAVE_AND_STOP };

/* Observes a run. Any function may be NULL. */
struct observer {
    void *context;
    /*
     * A row of measurements is complete: metric_row_size of the run's metric_form in doubles, NaN where
     * nothing was measured. Steps ascend. A resumed run hands out the rows of its earlier life first; a run
     * that is done hands out all of them again, with what is known only then. The row of the whole run, with
     * step STEP_OF_RUN, comes last, once the run is done or has diverged.
     */
    void (*row)(void *context, int64_t step, const double *values, size_t count);
    /* Before every step but the first, and between the batches of a measurement that takes passes of its own:
     * `tokens` trained on so far. */
    enum verdict (*carry_on)(void *context, int64_t step, int64_t last_step, int64_t tokens);
    /*
     * Between the gradient of a step's batch and the optimiser's step: may change the loss and the gradient
     * [size], a plane, in place, as a gang of ranks does that sums its shares of a batch. What is measured of
     * a step sees the result; the groups gradients and hessian pass it their own gradients and products with
     * the Hessian, so it must be linear in the plane. The groups residual and lyapunov do not: they see this
     * rank's share of the batch alone. gradient is NULL where only a loss is to be measured: by the group
     * sharpness, and at the end of the run.
     */
    void (*combine)(void *context, double *loss, scalar *gradient, int64_t size);
    /* Before anything else: may fill the snapshot with an earlier one of the same run. False: there is none,
     * and the run starts from its beginning, whatever the snapshot was filled with. */
    bool (*resume)(void *context, struct snapshot *snapshot);
    /* Puts the weights that run->initial_weights names into a plane; -1 with the reason: the run fails.
     * Without this function runs start as they do without such weights. */
    int (*begin)(void *context, int64_t name, const struct weight_layout *layout, scalar *weights,
        struct error *error);
    /* Saves the run, after a verdict to save. */
    void (*save)(void *context, const struct snapshot *snapshot);
    /* Once, before anything of the step is done that run_kept_step says; again in a run that was resumed
     * there: keeps the run's state for longer ones. */
    void (*keep)(void *context, const struct snapshot *snapshot);
    /* The run is done: the snapshot has its final weights and the last step. */
    void (*finish)(void *context, const struct snapshot *snapshot);
    /* What earlier runs of the same caller have counted of their texts, and this one adds; or NULL. */
    struct unigram *unigram;
};

/*
 * Trains one run to its end, from its beginning or from where the observer resumes it, and measures it. A
 * function of its arguments: no MPI, no files. Fails only through result->outcome. Checks losses in every
 * step, norms at measured steps. However often the run is stopped, saved and resumed, its rows, values and
 * weights are the same bit for bit. `arena` is {0} or was used by earlier runs; the caller releases it.
 * Denormals are flushed in all threads that train, also while the observer is called.
 */
void train(const struct run *run, const struct corpus *corpus, const struct measure *measure,
    const struct observer *observer, struct arena *arena, struct result *result);

/* The exact number of bytes that train() takes for a run: its one arena. */
size_t train_memory(const struct run *run, const struct corpus *corpus, const struct measure *measure);

#endif
