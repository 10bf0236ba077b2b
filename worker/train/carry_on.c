#include "worker/host/host.h"
#include "worker/train/inside.h"

struct snapshot train_snapshot(struct trainer *t, int64_t step)
{
    t->result->last_step = step;
    t->result->seconds = clock_now() - t->begin;
    return (struct snapshot){
        .run = t->run,
        .model = &t->model,
        .step = step,
        .last_step = t->last_step,
        .weights = t->weights,
        .optimiser = &t->optimiser,
        .instruments = &t->instruments,
        .history = &t->history,
        .result = t->result,
    };
}

bool train_carry_on(struct trainer *t, int64_t step)
{
    const struct observer *observer = t->observer;
    enum verdict verdict = VERDICT_CARRY_ON;

    if (observer && observer->carry_on)
        verdict = observer->carry_on(observer->context, step, t->last_step, t->result->tokens);
    if ((verdict == VERDICT_SAVE || verdict == VERDICT_SAVE_AND_STOP) && observer->save) {
        const struct snapshot snapshot = train_snapshot(t, step);
        observer->save(observer->context, &snapshot);
    }
    if (verdict == VERDICT_STOP || verdict == VERDICT_SAVE_AND_STOP)
        t->result->outcome = OUTCOME_PENDING;
    return t->result->outcome == OUTCOME_RUNNING;
}
