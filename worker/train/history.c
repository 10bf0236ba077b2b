/*
 * The rows that a run has measured, kept until its end: a resumed run sends them again, and growth, fits and
 * forecasts are computed from them.
 */
#include "model/core/check.h"
#include "worker/train/inside.h"

#include <math.h>

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

double history_growth(const struct history *history)
{
    return history->norm[history->norm_count - 1] / history->norm[0];
}

void history_fit(const struct history *history, struct growth *growth)
{
    growth_fit(history->norm_step, history->norm, history->norm_count, history->scratch, growth);
}
