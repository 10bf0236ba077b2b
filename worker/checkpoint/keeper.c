/*
 * When a run is saved, and where it resumes: the worker's side of checkpoints. A run that is stopped is saved
 * first, unless nothing was trained since its last checkpoint. Messages go to the caller, which knows where
 * they can be read.
 */
#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void keeper_begin(struct keeper *keeper, const struct digest *digest, uint64_t ticket, bool resume)
{
    keeper->owner = (struct checkpoint_owner){.folder = keeper->folder,
        .digest = *digest,
        .session = keeper->session,
        .ticket = ticket,
        .mark = keeper->mark,
        .breath = keeper->breath};
    keeper->resume = resume;
    keeper->has_trunk = false;
    keeper->saved_step = -1;
    keeper->saved_at = clock_now();
}

void keeper_share(struct keeper *keeper, const struct digest *trunk)
{
    keeper->has_trunk = keeper->resume = true;
    keeper->trunk = *trunk;
}

enum verdict keeper_verdict(const struct keeper *keeper, int64_t step, bool stop, double now)
{
    if (keeper->failed.text[0])
        return VERDICT_STOP;
    bool worth = step > 0 && step != keeper->saved_step;
    if (stop)
        return worth ? VERDICT_SAVE_AND_STOP : VERDICT_STOP;
    return worth && now - keeper->saved_at >= keeper->interval ? VERDICT_SAVE : VERDICT_CARRY_ON;
}

/* Keeps the first error. */
static void keep_error(struct keeper *keeper, int status, const struct error *error)
{
    if (status < 0 && !keeper->failed.text[0])
        keeper->failed = *error;
}

/* The owner of states up to a step. The caller frees its folder, which is NULL without memory. */
static struct checkpoint_owner owner_of_states(const struct keeper *keeper, int64_t step, char **folder)
{
    struct checkpoint_owner owner = keeper->owner;

    if (asprintf(folder, "%s/" KEEPER_STATES, keeper->folder) < 0)
        *folder = NULL;
    owner.folder = *folder;
    owner.digest = keeper->trunk;
    owner.session = owner.last = step;
    owner.shared = true;
    owner.mark = NULL; /* it lies in the folder above */
    return owner;
}

/* As checkpoint_load, or without a snapshot as checkpoint_look, from the state of a run with fewer steps. */
static int find_state(const struct keeper *keeper, const struct run *run, int64_t last_step,
    struct snapshot *snapshot, int64_t *step, struct error *error)
{
    char *folder;
    const struct checkpoint_owner owner = owner_of_states(keeper, run_kept_step(run, last_step), &folder);
    int found = 0;

    if (!folder)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", keeper->folder);
    if (owner.last > 0)
        found = snapshot ? checkpoint_load(&owner, snapshot, keeper->say, keeper->context, error)
                         : checkpoint_look(&owner, step, error);
    free(folder);
    return found;
}

bool keeper_resume(struct keeper *keeper, struct snapshot *snapshot)
{
    struct error error;
    int status = checkpoint_load(&keeper->owner, snapshot, keeper->say, keeper->context, &error);

    if (status > 0)
        keeper->saved_step = snapshot->step;
    else if (status == 0 && keeper->has_trunk)
        status = find_state(keeper, snapshot->run, snapshot->last_step, snapshot, NULL, &error);
    keep_error(keeper, status, &error);
    return status > 0;
}

void keeper_save(struct keeper *keeper, const struct snapshot *snapshot)
{
    struct error error;
    int status = checkpoint_save(&keeper->owner, snapshot, &error);

    keep_error(keeper, status, &error);
    if (status == 0)
        keeper->saved_step = snapshot->step;
    keeper->saved_at = clock_now();
}

void keeper_keep(struct keeper *keeper, const struct snapshot *snapshot)
{
    struct error error;
    char *folder;
    const struct checkpoint_owner owner = owner_of_states(keeper, snapshot->step, &folder);
    int status = folder ? mark_admits(keeper->folder, keeper->mark) : ENOMEM;

    if (!keeper->has_trunk)
        status = 0;
    else if (status == 0)
        status = checkpoint_save(&owner, snapshot, &error);
    else
        status = error_set(&error, ERROR_ENVIRONMENT, "%s: %s", keeper->folder, strerror(status));
    keep_error(keeper, status, &error);
    free(folder);
}

void keeper_finish(struct keeper *keeper, const struct snapshot *snapshot)
{
    struct error error;

    if (snapshot->run->save_weights)
        keep_error(keeper, checkpoint_save_weights(&keeper->owner, snapshot, &error), &error);
}

int keeper_look(const struct keeper *keeper, const struct run *run, int64_t last_step, int64_t *step,
    enum resumption *resumption, struct error *error)
{
    int found = checkpoint_look(&keeper->owner, step, error);

    *resumption = found > 0 ? RESUME_CHECKPOINT : RESUME_NONE;
    if (found != 0 || !keeper->has_trunk)
        return found < 0 ? -1 : 0;
    found = find_state(keeper, run, last_step, NULL, step, error);
    *resumption = found > 0 ? RESUME_STATE : RESUME_NONE;
    return found < 0 ? -1 : 0;
}
