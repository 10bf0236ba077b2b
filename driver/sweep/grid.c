/* Cells of a grid and the run of each: one by its number, or all in order; and whose turn is when. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"
#include "worker/host/host.h"

#include <stddef.h>

void axis_set(const struct axis *axis, int64_t index, struct run *run)
{
    for (int64_t p = 0; p < axis->param_count; p++)
        param_set(axis->param[p], run, axis->value[p * axis->length + index]);
}

void grid_run(int64_t count, const struct axis *axis, const struct run *base, int64_t cell, struct run *run)
{
    *run = *base;
    for (int64_t i = count - 1; i >= 0; i--) {
        axis_set(&axis[i], cell % axis[i].length, run);
        cell /= axis[i].length;
    }
    run_derive(run);
}

void sweep_cell(const struct sweep *sweep, int64_t cell, struct run *run)
{
    INVARIANT(
        cell >= 0 && cell < sweep->cells, "cell %lld of %lld", (long long)cell, (long long)sweep->cells);
    grid_run(sweep->axis_count, sweep->axis, &sweep->base, cell, run);
}

/* A grid of so many values of each axis is fine enough, and all others have one turn, in which runs come by
 * cell: runs whose cells are far from each other are costly to write, 120 us instead of 30. */
enum { FINE = 64 };

int sweep_turn(const struct sweep *sweep, int64_t cell)
{
    int seed = 0, turn = 0, turns = 1;

    for (int64_t i = sweep->axis_count - 1; i >= 0; i--) {
        const struct axis *axis = &sweep->axis[i];
        const struct param *param = axis->label ? NULL : axis->param[0];
        int index = (int)(cell % axis->length), here = 0, size = 1;
        cell /= axis->length;
        if (!param || !param_is_number(param))
            continue;
        if (param->offset == offsetof(struct run, seed)) {
            seed = index;
            continue;
        }
        /* The index with its bits reversed: of 8 values the turns are 0 4 2 6 1 5 3 7. */
        for (; size < axis->length; size *= 2)
            here = 2 * here + index / size % 2;
        here = here < FINE ? here : FINE;
        turn = here > turn ? here : turn;
        turns = size > turns ? size : turns;
    }
    return seed * turns + turn;
}

bool sweep_skips(const struct sweep *sweep, int64_t cell)
{
    return sweep->skip && sweep->skip[cell / 64] >> (cell % 64) & 1;
}

bool sweep_trains(const struct sweep *sweep, int64_t cell)
{
    return !sweep_skips(sweep, cell) && (!sweep->part_of || sweep->part_of[cell] == sweep->part);
}

bool sweep_chooses(const struct sweep *sweep, int64_t cell)
{
    return !sweep->only || sweep->only[cell];
}

void walk_init(struct walk *walk, const struct sweep *sweep)
{
    *walk = (struct walk){.sweep = sweep, .cell = -1};
}

/* Steps to the next cell, skipped or not. */
static void advance_index(struct walk *walk)
{
    const struct sweep *sweep = walk->sweep;
    int64_t axis = sweep->axis_count - 1;

    if (++walk->cell == 0) {
        sweep_cell(sweep, 0, &walk->run);
        return;
    }
    for (; axis >= 0 && ++walk->index[axis] == sweep->axis[axis].length; axis--) {
        walk->index[axis] = 0;
        axis_set(&sweep->axis[axis], 0, &walk->run);
    }
    if (axis >= 0)
        axis_set(&sweep->axis[axis], walk->index[axis], &walk->run);
    run_derive(&walk->run);
}

bool walk_next(struct walk *walk)
{
    while (walk->cell + 1 < walk->sweep->cells) {
        advance_index(walk);
        if (!sweep_skips(walk->sweep, walk->cell))
            return true;
    }
    return false;
}

struct threads threads_of(const struct sweep *sweep)
{
    const struct param *param = param_find("threads");
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param);

    if (!axis)
        return (struct threads){sweep->base.threads, sweep->base.threads};
    const union param_value *value = axis->value + axis_row(axis, param) * axis->length;
    struct threads threads = {value[0].integer, value[0].integer};
    for (int64_t i = 1; i < axis->length; i++) {
        threads.least = value[i].integer < threads.least ? value[i].integer : threads.least;
        threads.most = value[i].integer > threads.most ? value[i].integer : threads.most;
    }
    return threads;
}

int threads_workers(const struct sweep *sweep)
{
    int64_t each = threads_of(sweep).most;
    int processors = processors_count();

    if (each <= 1)
        return processors;
    return each < processors ? processors / (int)each : 1;
}
