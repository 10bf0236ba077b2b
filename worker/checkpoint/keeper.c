#include "worker/checkpoint/keeper.h"

#include "worker/host/clock.h"

void keeper_begin(struct keeper *keeper, const struct digest *digest, uint64_t ticket, bool resume)
{
    keeper->owner = (struct checkpoint_owner){.folder = keeper->folder,
        .digest = *digest,
        .session = keeper->session,
        .ticket = ticket,
        .mark = keeper->mark,
        .breath = keeper->breath};
    keeper->resume = resume;
    keeper->saved_step = -1;
    keeper->saved_at = clock_now();
}

bool keeper_due(const struct keeper *keeper, double now)
{
    return now - keeper->saved_at >= keeper->interval;
}

enum verdict keeper_verdict(const struct keeper *keeper, int64_t step, bool stop, double now)
{
    if (keeper->failed.text[0])
        return VERDICT_STOP;
    bool worth = step > 0 && step != keeper->saved_step;
    if (stop)
        return worth ? VERDICT_SAVE_AND_STOP : VERDICT_STOP;
    return worth && keeper_due(keeper, now) ? VERDICT_SAVE : VERDICT_CARRY_ON;
}

bool keeper_has_saved(const struct keeper *keeper)
{
    return keeper->resume || keeper->saved_step >= 0;
}

/* Keeps the first error. */
static void keep_error(struct keeper *keeper, int status, const struct error *error)
{
    if (status < 0 && !keeper->failed.text[0])
        keeper->failed = *error;
}

bool keeper_resume(struct keeper *keeper, struct snapshot *snapshot)
{
    struct error error;
    int status = checkpoint_load(&keeper->owner, snapshot, keeper->say, keeper->context, &error);

    keep_error(keeper, status, &error);
    if (status > 0)
        keeper->saved_step = snapshot->step;
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

void keeper_finish(struct keeper *keeper, const struct snapshot *snapshot)
{
    struct error error;

    if (snapshot->run->save_weights)
        keep_error(keeper, checkpoint_save_weights(&keeper->owner, snapshot, &error), &error);
}
