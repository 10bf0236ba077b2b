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

double train_loss(struct trainer *t, int64_t number)
{
    batches_fill(&t->batches, number, &t->batch);
    double loss = transformer_loss(&t->model, t->weights, &t->batch, NULL);
    combine(t, &loss, NULL);
    return loss;
}

void train_hessian_product(struct trainer *t, int64_t number, const scalar *direction)
{
    double slope;

    batches_fill(&t->batches, number, &t->batch);
    double loss =
        transformer_hessian_product(&t->model, t->weights, &t->batch, direction, t->gradient, &slope);
    combine(t, &loss, t->gradient);
}
