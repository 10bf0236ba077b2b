#ifndef NORMSWEEP_WORKER_TRAIN_INSIDE_H
#define NORMSWEEP_WORKER_TRAIN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/instruments/instruments.h"
#include "worker/train/train.h"

/* The state of a run under way, laid out in one arena. */
struct trainer {
    const struct run *run;
    const struct corpus *corpus;
    const struct measure *measure;
    const struct observer *observer;
    struct result *result;
    int64_t last_step; /* as planned */
    int64_t end; /* last_step, or the step at which the run ends early */
    int64_t kept_step; /* run_kept_step */
    struct reading reading; /* of both texts */
    struct batch_rows room; /* of `batch`: for any training batch, and any one sequence of validation */
    bool can_validate; /* the validation text has at least one sequence */

    struct transformer model;
    struct optimiser optimiser;
    struct schedule schedule;
    struct batches batches;
    struct batch batch;
    struct instruments instruments;
    struct collapse collapse;
    struct saturation saturation; /* if its groups are measured */
    struct attending attending; /* if its group is measured */
    struct sharpness sharpness; /* if its group is measured */
    struct homogeneity_model fresh; /* if its group is measured */
    struct gradients gradients; /* if its group is measured */
    struct hessian hessian; /* if its group is measured */
    struct residual residual[STACKS_MOST]; /* of each stack, if its group is measured */
    struct lyapunov lyapunov; /* if its group is measured */
    struct spectra spectra; /* if its group is measured */
    struct transformer single; /* takes tangents of one sequence, if residual or lyapunov are measured */
    struct history history;
    struct outlook outlook; /* if the run may end early */
    scalar *weights, *gradient; /* planes */
    struct measured row; /* in the history: the row under way, or the last one */
    double *run_row; /* [history.form.run_size] of the whole run */
    double begin; /* clock, less the seconds of earlier attempts */
};

/* The one value of a metric in the row under way. */
#define ROW(t, name) (*measured_values(&(t)->row, METRIC_##name))

/* The result of a validation of theta_t. */
struct validated {
    double loss;
    struct collapse_measures collapse;
};

/*
 * Fill t->batch with the batch of step `number` and return its loss at theta, summed over the gang that
 * shares the batch, if there is one. train_gradient also overwrites t->gradient with the gradient.
 * train_loss_at takes the loss of t->batch as it is, at other weights.
 */
double train_gradient(struct trainer *t, int64_t number);
double train_loss(struct trainer *t, int64_t number);
double train_loss_at(struct trainer *t, const scalar *weights);

/* The same with the Hessian's product with a direction, a plane, in t->gradient. */
void train_hessian_product(struct trainer *t, int64_t number, const scalar *direction);

void history_layout(
    struct history *history, const struct metric_form *form, int64_t rows, struct arena *arena);

/* Adds the next row, which is complete, for `step`. */
void history_add_row(struct history *history, int64_t step);

void history_add_norm(struct history *history, int64_t step, double norm);

/* The learning rate of the step from theta_t; at the end of the run, where none follows, of the last one. */
static inline double trainer_next_rate(const struct trainer *t, int64_t step)
{
    return schedule_rate(&t->schedule, step < t->end ? step + 1 : step);
}

/* The contents of a checkpoint at `step`. Updates the times of the result. */
struct snapshot train_snapshot(struct trainer *t, int64_t step);

/* Asks the observer before a step, or during one, and obeys. False: the run stops here. */
bool train_carry_on(struct trainer *t, int64_t step);

/* The measurements of a run under way, for train.c. */

/* Lays out everything that measurements need, after the model. */
void train_measure_layout(struct trainer *t, struct arena *arena);

/* Measures the group sharpness before the step; `loss` and `clip` are those of its batch. Takes forward
 * passes of the batch, and returns their seconds. */
double train_sharpen(struct trainer *t, double loss, double clip, int64_t number);

/* Measure before and after the optimiser's step from theta_t of a measured step. */
void train_before_step(struct trainer *t, double clip, int64_t number);
void train_after_step(struct trainer *t);

/* After each step, number `number`: counts what moved |theta|^2. */
void train_count_step(struct trainer *t, int64_t number, bool measured);

/*
 * Begins the row of step t, which train_end_row ends, with the measures of theta_t: `validated`, or NULL if
 * there was no validation, and the results of train_saturate if `measured`. False: theta_t or its loss is not
 * finite.
 */
bool train_begin_row(struct trainer *t, int64_t step, bool measured, const struct validated *validated);

/* Pass all rows so far, or the row of the whole run, to the observer. */
void train_emit_rows(const struct trainer *t);
void train_emit_run(const struct trainer *t);

void train_end_row(struct trainer *t, int64_t step);

/*
 * Does the run end at theta_t, of a measured step, as its phase is forecast from the rows before and its own
 * norm? Nothing of the step was done yet, so a run that is resumed there has the same answer.
 */
bool train_ends_early(const struct trainer *t);

/* Measures what depends on the run's configuration only; repeated whenever the run is resumed. */
void train_put_givens(struct trainer *t);

/* Measures the whole run, at its end. */
void train_put_growth(struct trainer *t);

/* Measures saturation and heads at theta_t, on the validation text. Overwrites the plane of the gradient. */
bool train_saturate(struct trainer *t, int64_t step);

/* Does the run measure saturation or heads, and is there a validation text? */
bool train_saturates(const struct trainer *t);

/* Measures attention at theta_t, on the validation text, in passes of its own. */
bool train_attend(struct trainer *t, int64_t step);

/* Does the run measure attention, and is there a validation text? */
bool train_attends(const struct trainer *t);

/*
 * Validates theta_t, and if `attend` measures attention in the same passes; every sequence counts once,
 * however the batches pack them. A validation may take minutes, so the observer is asked between batches.
 * False: it stopped the run; as nothing of the step was done yet, a checkpoint saved then is that of the run
 * before the step, and the interrupted validation does not count.
 */
bool train_validate(struct trainer *t, int64_t step, bool attend, struct validated *validated);

void train_probe_layout(struct trainer *t, struct arena *arena);

/*
 * Measures at theta_t; overwrites the batch and the plane of the gradient. It may take long, so the observer
 * is asked between passes. False: it stopped the run; as nothing of the step was done yet, a checkpoint saved
 * then is that of the run before the step.
 */
bool train_probe(struct trainer *t, int64_t step);

/* Puts the results into the row, and counts them: a run that was stopped before it measures again. */
void train_put_probe(struct trainer *t, int64_t step);

#endif
