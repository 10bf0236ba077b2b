#ifndef NORMSWEEP_WORKER_CHECKPOINT_KEEPER_H
#define NORMSWEEP_WORKER_CHECKPOINT_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/checkpoint/checkpoint.h"
#include "worker/train/train.h"

/*
 * Manages the checkpoints of the current run: when one is due, where it goes, whether saving it worked. Every
 * process that trains has one; its observer forwards to these functions.
 */
struct keeper {
    /* set once, by the process that trains */
    const char *folder; /* borrowed */
    int64_t session;
    double interval; /* seconds between two checkpoints of a run; INFINITY: only when it is stopped */
    void (*say)(void *context, const char *line); /* receives lines about unusable checkpoints; or NULL */
    void *context; /* of say */
    const char *mark; /* of the coordinator, see checkpoint.h; or NULL. Borrowed */
    const struct breath *breath; /* called while files are read and written; or NULL. Borrowed */
    struct error failed; /* the first failure to save, or to read the folder; text "": none */

    /* of the current run, set by keeper_begin, updated by the other functions */
    struct checkpoint_owner owner;
    bool has_trunk; /* keeper_share was called */
    struct digest trunk;
    bool resume; /* earlier attempts at the run may have left checkpoints */
    int64_t saved_step; /* the step of the newest checkpoint that is known to be good; -1: none */
    double saved_at; /* clock_now() when it was saved, or when the run began */
};

/* Begins a run under `ticket`. Touches no file. `resume`: there may be checkpoints of the run. */
void keeper_begin(struct keeper *keeper, const struct digest *digest, uint64_t ticket, bool resume);

/*
 * The run keeps its state for longer runs, and may carry on from that of a shorter one. `trunk` is the digest
 * that runs have in common which differ in their number of steps alone. Call it after keeper_begin.
 */
void keeper_share(struct keeper *keeper, const struct digest *trunk);

/* The folder of such states in the folder of checkpoints. They are checkpoints, whose session is their step:
 * the newest is that of the longest run. */
#define KEEPER_STATES "states"

/* Is a checkpoint due at `now` (clock_now)? */
bool keeper_due(const struct keeper *keeper, double now);

/*
 * The answer of an observer's carry_on at `step`: save when a checkpoint is due, and before a stop, unless
 * this step is already saved or is 0. Stops the run after a failure.
 */
enum verdict keeper_verdict(const struct keeper *keeper, int64_t step, bool stop, double now);

/* May the run have checkpoints that must be removed when it has ended? */
bool keeper_has_saved(const struct keeper *keeper);

/*
 * For the observer's functions of the same names. The observer needs no `resume` if keeper->resume is false.
 * A failure goes to keeper->failed: the machine is at fault, not the run, so the sweep ends.
 */
bool keeper_resume(struct keeper *keeper, struct snapshot *snapshot);
void keeper_save(struct keeper *keeper, const struct snapshot *snapshot);
void keeper_keep(struct keeper *keeper, const struct snapshot *snapshot);
void keeper_finish(
    struct keeper *keeper, const struct snapshot *snapshot); /* saves weights if run->save_weights */

/*
 * From where keeper_resume would let a run of so many steps carry on, after keeper_begin, and keeper_share if
 * the run keeps its state. Sets the step. Changes no file. -1: ERROR_ENVIRONMENT.
 */
enum resumption { RESUME_NONE, RESUME_CHECKPOINT, RESUME_STATE };
int keeper_look(const struct keeper *keeper, const struct run *run, int64_t last_step, int64_t *step,
    enum resumption *resumption, struct error *error);

#endif
