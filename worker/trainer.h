#ifndef NORMSWEEP_WORKER_TRAINER_H
#define NORMSWEEP_WORKER_TRAINER_H

#include "model/batches.h"
#include "model/collapse.h"
#include "model/homogeneity.h"
#include "model/instruments.h"
#include "model/saturation.h"
#include "worker/train.h"

/* The inside of a run under way, shared by train.c, which trains it, and train_measure.c, which measures it:
 * all of it laid out in one arena. */
struct trainer {
    const struct run *run;
    const struct corpus *corpus;
    const struct measure *measure;
    const struct observer *observer;
    struct result *result;
    int64_t last_step;
    bool can_validate; /* the validation text has a sequence at all */

    struct transformer model;
    struct optimiser optimiser;
    struct schedule schedule;
    struct batches batches;
    struct batch batch;
    struct instruments instruments;
    struct collapse collapse;
    struct saturation saturation; /* where its groups are measured */
    struct homogeneity_model fresh; /* where its group is */
    struct history history;
    scalar *weights, *gradient; /* planes */
    double *row; /* in the history: the one to come, and the last once that is complete */
    double begin; /* clock, less the seconds of earlier lives */
};

/* Room for everything that is measured, for batches of up to max_rows of the model, which is laid out. */
void train_measure_layout(struct trainer *t, struct arena *arena);

/* Does what the observer wants before a step, or amid it. False: the run stops here. */
bool train_carry_on(struct trainer *t, int64_t step);

/* What a validation of theta_t came to. */
struct validated {
    double loss;
    struct collapse_measures collapse;
};

/*
 * Every sequence of the validation text counts once, however they are packed. False: told to stop. It may
 * take minutes, so that the observer is asked between its batches; as nothing of the step has been done yet,
 * what is saved then is the run before the step, and a validation that was interrupted counts nothing.
 */
bool train_validate(struct trainer *t, int64_t step, struct validated *validated);

/* Are saturation or heads to be measured, and on what? */
bool train_saturates(const struct trainer *t);

/* Measures them at theta_t, on the tokens of a validation, and as one. The gradient's plane is overwritten.
 */
bool train_saturate(struct trainer *t, int64_t step);

/*
 * The row of step t, from here to train_end_row: the measures of theta_t itself; `validated` where there was
 * a validation, else NULL; what train_saturate found out, where `measured`. False: theta_t or its loss is not
 * finite.
 */
bool train_begin_row(struct trainer *t, int64_t step, bool measured, const struct validated *validated);
void train_put_loss(struct trainer *t, double loss);
void train_end_row(struct trainer *t, int64_t step);

/* Hands a row of the history to the observer. */
void train_emit_row(const struct trainer *t, int64_t index);

/* Before and after the optimiser's step, where train_measures_steps and the step is measured. */
bool train_measures_steps(const struct trainer *t);
void train_before_step(struct trainer *t, double clip, int64_t number);
void train_after_step(struct trainer *t);

/* What is known of a run before it begins, from its configuration alone: found out anew in every life. */
void train_put_givens(struct trainer *t);

/* What is measured of the whole run, at its end. */
void train_put_growth(struct trainer *t);

#endif
