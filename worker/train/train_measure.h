#ifndef NORMSWEEP_WORKER_TRAIN_TRAIN_MEASURE_H
#define NORMSWEEP_WORKER_TRAIN_TRAIN_MEASURE_H

#include "worker/train/trainer.h"

/* The measurements of a run under way, for train.c. */

/* Lays out everything that measurements need, after the model. */
void train_measure_layout(struct trainer *t, struct arena *arena);

/* Measure before and after the optimiser's step from theta_t of a measured step. */
void train_before_step(struct trainer *t, double clip, int64_t number);
void train_after_step(struct trainer *t);

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

void train_put_loss(struct trainer *t, double loss);

/* Measures saturation and heads at theta_t, on the validation text. Overwrites the plane of the gradient. */
bool train_saturate(struct trainer *t, int64_t step);

/* Does the run measure saturation or heads, and is there a validation text? */
bool train_saturates(const struct trainer *t);

/*
 * Validates theta_t; every sequence counts once, however the batches pack them. A validation may take
 * minutes, so the observer is asked between batches. False: it stopped the run; as nothing of the step was
 * done yet, a checkpoint saved then is that of the run before the step, and the interrupted validation does
 * not count.
 */
bool train_validate(struct trainer *t, int64_t step, struct validated *validated);

#endif
