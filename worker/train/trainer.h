#ifndef NORMSWEEP_WORKER_TRAIN_TRAINER_H
#define NORMSWEEP_WORKER_TRAIN_TRAINER_H

#include "model/corpora/batches.h"
#include "model/instruments/collapse.h"
#include "model/instruments/homogeneity.h"
#include "model/instruments/instruments.h"
#include "model/instruments/saturation.h"
#include "worker/train/train.h"

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
    double *run_row; /* [history.form.run_size] of the whole run */
    double begin; /* clock, less the seconds of earlier lives */
};

/* What a validation of theta_t came to. */
struct validated {
    double loss;
    struct collapse_measures collapse;
};

#endif
