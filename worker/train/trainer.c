/*
 * What the other files of this room need of a trainer: the rows that a run has measured, the gradient and the
 * loss of a step's batch, summed over the gang that shares it, a snapshot of the run between two steps, and
 * the observer's word on going on. Rows are kept until the end: a resumed run sends them again, and growth,
 * fits and forecasts are computed from them.
 */
#include "model/core/check.h"
#include "worker/host/host.h"
#include "worker/train/inside.h"

#include <math.h>

/* ---- rows ---- */

void history_layout(
    struct history *history, const struct metric_form *form, int64_t rows, struct arena *arena)
{
    size_t most = (size_t)rows;

    *history = (struct history){
        .form = *form,
        .rows_most = rows,
        .step = arena_take(arena, most, sizeof(int64_t)),
        .values = arena_take(arena, most, form->row_size * sizeof(double)),
        .norm_step = arena_take(arena, most, sizeof(int64_t)),
        .norm = arena_take(arena, most, sizeof(double)),
        .reach = arena_take(arena, most, sizeof(double)),
        .scratch = arena_take(arena, 2 * most, sizeof(double)),
        .fitted = arena_take(arena, 3 * most, sizeof(double)),
    };
}

double *history_row(const struct history *history, int64_t index)
{
    return history->values + (size_t)index * history->form.row_size;
}

double *history_begin_row(const struct history *history)
{
    INVARIANT(history->row_count < history->rows_most, "row %lld of %lld", (long long)history->row_count,
        (long long)history->rows_most);
    double *row = history_row(history, history->row_count);

    for (size_t i = 0; i < history->form.row_size; i++)
        row[i] = NAN;
    return row;
}

void history_add_row(struct history *history, int64_t step)
{
    INVARIANT(history->row_count == 0 || history->step[history->row_count - 1] < step, "step %lld after %lld",
        (long long)step, (long long)history->step[history->row_count - 1]);
    history->step[history->row_count++] = step;
}

void history_add_norm(struct history *history, int64_t step, double norm)
{
    INVARIANT(history->norm_count < history->rows_most, "norm %lld of %lld at step %lld",
        (long long)history->norm_count, (long long)history->rows_most, (long long)step);
    history->norm_step[history->norm_count] = step;
    history->reach[history->norm_count] = NAN;
    history->norm[history->norm_count++] = norm;
}

/* ---- steps ---- */

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
