#ifndef NORMSWEEP_WORKER_CHECKPOINT_KEEPER_H
#define NORMSWEEP_WORKER_CHECKPOINT_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/checkpoint/checkpoint.h"
#include "worker/train/train.h"

/*
 * Keeps the checkpoints of the run that trains: when one is due, where it goes, what became of it. One for
 * each process that trains; what its observer does with checkpoints is a line each.
 */
struct keeper {
    /* set once, by whoever has it */
    const char *folder; /* borrowed */
    int64_t session;
    double interval; /* seconds of a run between two of its checkpoints; INFINITY: when it is stopped alone */
    void (*say)(
        void *context, const char *line); /* what became of checkpoints that cannot be used; or NULL */
    void *context; /* of say */
    const char *mark; /* of the coordinator, see checkpoint.h; or NULL. Borrowed */
    const struct breath *breath; /* while files are read and written; or NULL. Borrowed */
    struct error failed; /* the first that could not be saved, or the folder not read; text "": none */

    /* of the run that trains, set by keeper_begin and kept by the rest */
    struct checkpoint_owner owner;
    bool resume; /* earlier attempts at the run have left checkpoints, as far as is known */
    int64_t saved_step; /* the step of its newest checkpoint that is known to be good; -1: none */
    double saved_at; /* clock: when that was made, or the run began */
};

/* A run begins, handed out under `ticket`. Touches no file. `resume`: there may be checkpoints of it. */
void keeper_begin(struct keeper *keeper, const struct digest *digest, uint64_t ticket, bool resume);

/* Is a checkpoint due at `now` (clock_now)? */
bool keeper_due(const struct keeper *keeper, double now);

/*
 * The answer of an observer's carry_on at `step`: save when it is due, and before a stop unless this very
 * step is saved or nothing has been done yet. A keeper that has failed stops the run.
 */
enum verdict keeper_verdict(const struct keeper *keeper, int64_t step, bool stop, double now);

/* May there be checkpoints of the run, to be removed when it has ended? */
bool keeper_has_saved(const struct keeper *keeper);

/* For an observer's functions of the same name. The run needs no `resume` where keeper->resume is false. What
 * fails is kept in keeper->failed: it is no fault of the run but of the machine, and ends the sweep. */
bool keeper_resume(struct keeper *keeper, struct snapshot *snapshot);
void keeper_save(struct keeper *keeper, const struct snapshot *snapshot);
void keeper_finish(struct keeper *keeper, const struct snapshot *snapshot); /* where run->save_weights */

#endif
