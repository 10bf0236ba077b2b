/*
 * Cells of a grid and the run of each: one by its number, or all in order; and whose turn is when.
 *
 * Runs that are chosen from a sweep are a sweep of their own, with one axis `run`, along which every
 * parameter moves that an axis of the sweep moves. `verify` trains such a sweep by the road that `run` takes;
 * its ranks read the same sweep file and then the list of the runs, which is a file of numbers, a line for
 * each.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"
#include "worker/host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

bool walk_next(struct walk *walk)
{
    const struct sweep *sweep = walk->sweep;

    while (++walk->cell < sweep->cells) {
        int64_t axis = sweep->axis_count - 1;
        if (walk->cell == 0) {
            sweep_cell(sweep, 0, &walk->run);
        } else {
            for (; axis >= 0 && ++walk->index[axis] == sweep->axis[axis].length; axis--) {
                walk->index[axis] = 0;
                axis_set(&sweep->axis[axis], 0, &walk->run);
            }
            if (axis >= 0)
                axis_set(&sweep->axis[axis], walk->index[axis], &walk->run);
            run_derive(&walk->run);
        }
        if (!sweep_skips(sweep, walk->cell))
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

/* ---- chosen runs ---- */

int chosen_write(const char *path, const int64_t *cell, int64_t count, struct error *error)
{
    FILE *file = fopen(path, "we");

    if (!file)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    fprintf(file, "%" PRId64 "\n", count);
    for (int64_t i = 0; i < count; i++)
        fprintf(file, "%" PRId64 "\n", cell[i]);
    bool failed = ferror(file);
    if (fclose(file) != 0 || failed)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    return 0;
}

/* The numbers [*count]. The caller frees them; NULL: the file is not one of chosen_write for this sweep. */
static int64_t *read_numbers(const struct sweep *sweep, FILE *file, int64_t *count)
{
    if (fscanf(file, "%" SCNd64, count) != 1 || *count < 1 || *count > sweep->cells)
        return NULL;
    int64_t *cell = memory_new((size_t)*count, sizeof(*cell));
    for (int64_t i = 0; i < *count; i++)
        if (fscanf(file, "%" SCNd64, &cell[i]) != 1 || cell[i] < 0 || cell[i] >= sweep->cells) {
            free(cell);
            return NULL;
        }
    return cell;
}

int sweep_keep_chosen(struct sweep *sweep, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    int64_t count = 0, row = 0, *cell = file ? read_numbers(sweep, file, &count) : NULL;
    struct axis runs = {.name = memory_copy("run"), .length = count};

    if (file)
        fclose(file);
    if (!cell) {
        axis_release(&runs);
        return error_set(error, ERROR_ENVIRONMENT, "%s: is not a list of runs of %s", path, sweep->path);
    }
    if (sweep->axis_count == 0) { /* its one run */
        axis_release(&runs);
        free(cell);
        return 0;
    }
    for (int64_t i = 0; i < sweep->axis_count; i++)
        runs.param_count += sweep->axis[i].param_count;
    runs.label = memory_zero((size_t)count + 1, sizeof(*runs.label));
    runs.param = memory_new((size_t)runs.param_count, sizeof(*runs.param));
    runs.value = memory_new((size_t)(runs.param_count * count), sizeof(*runs.value));
    for (int64_t i = 0; i < sweep->axis_count; i++)
        for (int64_t p = 0; p < sweep->axis[i].param_count; p++)
            runs.param[row++] = sweep->axis[i].param[p];
    for (int64_t i = 0; i < count; i++) {
        char label[LABEL_SIZE];
        struct run run;
        sweep_cell(sweep, cell[i], &run);
        for (int64_t p = 0; p < runs.param_count; p++)
            runs.value[p * count + i] = param_get(runs.param[p], &run);
        label_named(sweep->axis_count, sweep->axis, cell[i], NAMING_WHOLE, label);
        if (strlen(label) + 4 >= LABEL_SIZE) /* it may be cut, and labels must differ */
            snprintf(label, sizeof(label), "%" PRId64, cell[i]);
        runs.label[i] = memory_copy(label);
    }
    for (int64_t i = 0; i < sweep->axis_count; i++)
        axis_release(&sweep->axis[i]);
    free(sweep->axis);
    free(sweep->skip);
    free(cell);
    sweep->axis = memory_new(1, sizeof(*sweep->axis));
    sweep->axis[0] = runs;
    sweep->axis_count = 1;
    sweep->cells = count;
    sweep->skip = NULL;
    sweep->skipped = 0;
    sweep->refine = (struct refine){.kind = REFINE_NONE};
    return 0;
}
