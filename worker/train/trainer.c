/*
 * What the other files of this room need of a trainer: the gradient and the loss of a step's batch, summed
 * over the gang that shares it, a snapshot of the run between two steps, and the observer's word on going on.
 */
#include "worker/host/host.h"
#include "worker/train/inside.h"

/* Sums the loss and the gradient over the gang. */
static void combine(const struct trainer *t, double *loss, scalar *gradient)
{
    if (t->observer && t->observer->combine)
        t->observer->combine(t->observer->context, loss, gradient, t->model.layout.size);
}

double train_gradient(struct trainer *t, int64_t number)
{
    batches_fill(&t->batches, number, &t->batch);
    double loss = transformer_gradient(&t->model, t->weights, &t->batch, t->gradient);
    combine(t, &loss, t->gradient);
    return loss;
}

double train_loss_at(struct trainer *t, const scalar *weights)
{
    double loss = transformer_loss(&t->model, weights, &t->batch, NULL);

    combine(t, &loss, NULL);
    return loss;
}

double train_loss(struct trainer *t, int64_t number)
{
    batches_fill(&t->batches, number, &t->batch);
    return train_loss_at(t, t->weights);
}

void train_hessian_product(struct trainer *t, int64_t number, const scalar *direction)
{
    double slope;

    batches_fill(&t->batches, number, &t->batch);
    double loss =
        transformer_hessian_product(&t->model, t->weights, &t->batch, direction, t->gradient, &slope);
    combine(t, &loss, t->gradient);
}

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
