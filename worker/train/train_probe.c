#include "worker/train/train_probe.h"

#include <math.h>

#include "worker/host/clock.h"
#include "worker/train/carry_on.h"
#include "worker/train/train_loss.h"

void train_probe_layout(struct trainer *t, struct arena *arena)
{
    if (t->measure->group[GROUP_GRADIENTS])
        gradients_layout(&t->gradients, &t->model.layout, t->run->layers, arena);
}

/* Over the batches that the run takes next, as if theta_t stayed. */
static bool probe_gradients(struct trainer *t, int64_t step)
{
    double begin = clock_now();

    gradients_begin(&t->gradients);
    for (int64_t i = 0; i < t->measure->gradient_batches; i++) {
        if (i > 0 && !train_carry_on(t, step))
            return false;
        train_gradient(t, step + 1 + i);
        gradients_add(&t->gradients, t->gradient);
    }
    gradients_end(&t->gradients);
    t->result->gradients_seconds += clock_now() - begin;
    t->result->gradients++;
    return true;
}

bool train_probe(struct trainer *t, int64_t step)
{
    return !t->measure->group[GROUP_GRADIENTS] || probe_gradients(t, step);
}

void train_put_probe(const struct trainer *t, int64_t step)
{
    const struct gradients *g = &t->gradients;
    double *theory = trainer_values(t, METRIC_gradient_depth_slope_theory);

    if (!t->measure->group[GROUP_GRADIENTS])
        return;
    trainer_put(t, METRIC_mean_gradient_norm, g->mean_norm);
    trainer_put(t, METRIC_batch_gradient_norm, g->batch_norm);
    trainer_put(t, METRIC_gradient_depth_slope, g->slope);
    trainer_put(t, METRIC_gradient_depth_slope_error, g->slope_error);
    for (int kind = 0; step == 0 && kind < LAYER_TENSOR_COUNT; kind++)
        theory[kind] =
            gradients_theory(&t->model.architecture, (enum tensor_kind)(LAYER_TENSOR_FIRST + kind));
}
