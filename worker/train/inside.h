#ifndef NORMSWEEP_WORKER_TRAIN_INSIDE_H
#define NORMSWEEP_WORKER_TRAIN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/instruments/instruments.h"
#include "worker/train/train.h"

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

/* The same with the Hessian's product with a direction, a plane, in t->gradient. */
void train_hessian_product(struct trainer *t, int64_t number, const scalar *direction);

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

/* Puts the results into the row under way, and counts them: a measurement may be repeated by a run that was
 * stopped before its row. */
void train_put_probe(struct trainer *t, int64_t step);

#endif
