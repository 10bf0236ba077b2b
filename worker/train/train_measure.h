#ifndef NORMSWEEP_WORKER_TRAIN_TRAIN_MEASURE_H
#define NORMSWEEP_WORKER_TRAIN_TRAIN_MEASURE_H

#include "worker/train/trainer.h"

/* What is measured on a run under way, for train.c. */

/* Room for everything that is measured, for batches of up to max_rows of the model, which is laid out. */
void train_measure_layout(struct trainer *t, struct arena *arena);

void train_after_step(struct trainer *t);

void train_before_step(struct trainer *t, double clip, int64_t number);

/*
 * The row of step t, from here to train_end_row: the measures of theta_t itself; `validated` where there was
 * a validation, else NULL; what train_saturate found out, where `measured`. False: theta_t or its loss is not
 * finite.
 */
bool train_begin_row(struct trainer *t, int64_t step, bool measured, const struct validated *validated);

/* Hand all rows so far, or that of the whole run, to the observer. */
void train_emit_rows(const struct trainer *t);
void train_emit_run(const struct trainer *t);

void train_end_row(struct trainer *t, int64_t step);

/* Before and after the optimiser's step, where train_measures_steps and the step is measured. */
bool train_measures_steps(const struct trainer *t);

/* What is known of a run before it begins, from its configuration alone: found out anew in every life. */
void train_put_givens(struct trainer *t);

/* What is measured of the whole run, at its end. */
void train_put_growth(struct trainer *t);

void train_put_loss(struct trainer *t, double loss);

/* Measures them at theta_t, on the tokens of a validation, and as one. The gradient's plane is overwritten.
 */
bool train_saturate(struct trainer *t, int64_t step);

/* Are saturation or heads to be measured, and on what? */
bool train_saturates(const struct trainer *t);

/*
 * Every sequence of the validation text counts once, however they are packed. False: told to stop. It may
 * take minutes, so that the observer is asked between its batches; as nothing of the step has been done yet,
 * what is saved then is the run before the step, and a validation that was interrupted counts nothing.
 */
bool train_validate(struct trainer *t, int64_t step, struct validated *validated);

#endif
