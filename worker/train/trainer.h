#ifndef NORMSWEEP_WORKER_TRAIN_TRAINER_H
#define NORMSWEEP_WORKER_TRAIN_TRAINER_H

#include <string.h>

#include "model/corpora/batches.h"
#include "model/instruments/collapse.h"
#include "model/instruments/gradients.h"
#include "model/instruments/hessian.h"
#include "model/instruments/homogeneity.h"
#include "model/instruments/instruments.h"
#include "model/instruments/lyapunov.h"
#include "model/instruments/outlook.h"
#include "model/instruments/residual.h"
#include "model/instruments/saturation.h"
#include "worker/run/run_reading.h"
#include "worker/train/by_stack.h"
#include "worker/train/train.h"

/* The state of a run under way, laid out in one arena. For the files of this room only. */
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
    struct homogeneity_model fresh; /* if its group is measured */
    struct gradients gradients; /* if its group is measured */
    struct hessian hessian; /* if its group is measured */
    struct residual residual[STACKS_MOST]; /* of each stack, if its group is measured */
    struct lyapunov lyapunov; /* if its group is measured */
    struct transformer single; /* takes tangents of one sequence, if residual or lyapunov are measured */
    struct history history;
    struct outlook outlook; /* if the run may end early */
    scalar *weights, *gradient; /* planes */
    double *row; /* in the history: the row under way, or the last one */
    double *run_row; /* [history.form.run_size] of the whole run */
    double begin; /* clock, less the seconds of earlier attempts */
};

/* Where a metric's values lie in the row under way. */
static inline double *trainer_values(const struct trainer *t, enum metric metric)
{
    return t->row + t->history.form.offset[metric];
}

/* The one value of a metric in the row under way. */
#define ROW(t, name) (*trainer_values(t, METRIC_##name))

/* Puts all values of a metric into the row under way. */
static inline void trainer_put(const struct trainer *t, enum metric metric, const double *values)
{
    memcpy(trainer_values(t, metric), values, metric_values(metric, &t->history.form) * sizeof(*values));
}

/* The same of one block or depth, and what an instrument gives for all of them, `per` values each: see
 * by_stack.h. */
static inline double *trainer_block(const struct trainer *t, enum metric metric, int64_t at)
{
    return by_stack_place(trainer_values(t, metric), metric, &t->history.form, &t->model.architecture, at);
}

static inline void trainer_put_blocks(
    const struct trainer *t, enum metric metric, const double *values, size_t per)
{
    by_stack_put(trainer_values(t, metric), metric, &t->history.form, &t->model.architecture, values, per);
}

/* The learning rate of the step from theta_t; at the end of the run, where none follows, of the last one. */
static inline double trainer_next_rate(const struct trainer *t, int64_t step)
{
    return schedule_rate(&t->schedule, step < t->end ? step + 1 : step);
}

/* The result of a validation of theta_t. */
struct validated {
    double loss;
    struct collapse_measures collapse;
};

#endif
