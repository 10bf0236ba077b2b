/*
 * A dataset does not hold what the texts are like: the words of a text's vocabulary are guessed at, and where
 * runs of several kinds have epochs, the last step of each is told from that of the longest. Both only matter
 * until a run of a kind has ended.
 */
#include "driver/picture/kinds.h"

#include "worker/run/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_OF_TEXT = 20000, BYTES_OF_TEXT = 256 };

static bool is_told_apart(const struct axis *axis)
{
    for (int64_t i = 0; i < axis->param_count; i++)
        if (axis->param[i]->cost || axis->param[i] == param_find("epochs") ||
            axis->param[i] == param_find("steps"))
            return true;
    return false;
}

/* Parameters that are no axes. */
static void read_base(const struct view *view, struct run *run)
{
    union param_value value;

    run_init(run);
    for (size_t i = 0; i < param_count; i++)
        if (view_param(view, &param_table[i], &value))
            param_set(&param_table[i], run, value);
    run->vocabulary = run->corpus == CORPUS_TEXT    ? WORDS_OF_TEXT
                      : run->corpus == CORPUS_BYTES ? BYTES_OF_TEXT
                                                    : run->vocabulary;
}

static void set_axis(const struct axis *axis, int64_t index, struct run *run)
{
    for (int64_t i = 0; i < axis->param_count; i++)
        param_set(axis->param[i], run, axis->value[i * axis->length + index]);
}

/* What the steps of an epoch are in proportion to. */
static double relative_steps(const struct run *run)
{
    double length = run->sequences == SEQUENCES_STREAM ? (double)run->context : 1;

    return (double)run->epochs / ((double)run->batch * length);
}

/* The step of the coordinate that is nearest to a part of the last one: each run's last is there. */
static int64_t nearest_step(const struct view *view, double part)
{
    int64_t last = view->step_count - 1;

    if (!(part >= 0 && part < 1))
        return view->step[last];
    double steps = part * (double)view->step[last];
    int64_t place = step_place(view->step, view->step_count, (int64_t)steps);

    place = place < last ? place : last; /* beyond it in a file that nobody has written alone */
    bool before = place > 0 && steps - (double)view->step[place - 1] < (double)view->step[place] - steps;
    return view->step[before ? place - 1 : place];
}

static void set_last_steps(struct kinds *kinds, const struct view *view, const struct run *run)
{
    double most = 0;

    for (int64_t i = 0; i < kinds->count; i++)
        most = fmax(most, relative_steps(&run[i]));
    for (int64_t i = 0; i < kinds->count; i++)
        kinds->kind[i].last_step =
            run[i].steps > 0 ? run[i].steps : nearest_step(view, relative_steps(&run[i]) / most);
}

static void fill(struct kinds *kinds, const struct view *view, struct run *run)
{
    read_base(view, &run[0]);
    for (int64_t i = 1; i < kinds->count; i++)
        run[i] = run[0];
    for (int64_t i = 0; i < kinds->count; i++) {
        for (int64_t a = 0; a < kinds->axis_count; a++)
            if (kinds->stride[a])
                set_axis(&view->axis[a], i / kinds->stride[a] % view->axis[a].length, &run[i]);
        bool full = run[i].sequences == SEQUENCES_STREAM;
        kinds->kind[i].step_cost = train_step_cost(&run[i], run[i].vocabulary);
        kinds->tokens[i] = full ? (double)run[i].batch * (double)run[i].context : NAN;
    }
    set_last_steps(kinds, view, run);
}

int kinds_init(struct kinds *kinds, const struct view *view, struct error *error)
{
    *kinds =
        (struct kinds){.count = 1, .cells = view->cells, .axis_count = view->axis_count, .axis = view->axis};
    kinds->stride = calloc((size_t)view->axis_count + 1, sizeof(*kinds->stride));
    for (int64_t i = view->axis_count - 1; kinds->stride && i >= 0; i--) {
        if (!is_told_apart(&view->axis[i]))
            continue;
        kinds->stride[i] = kinds->count;
        kinds->count *= view->axis[i].length;
    }
    kinds->kind = calloc((size_t)kinds->count, sizeof(*kinds->kind));
    kinds->tokens = calloc((size_t)kinds->count, sizeof(*kinds->tokens));
    struct run *run = malloc((size_t)kinds->count * sizeof(*run));
    bool there = kinds->stride && kinds->kind && kinds->tokens && run;
    if (there)
        fill(kinds, view, run);
    free(run);
    if (there)
        return 0;
    kinds_release(kinds);
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
}

void kinds_release(struct kinds *kinds)
{
    free(kinds->kind);
    free(kinds->tokens);
    free(kinds->stride);
    *kinds = (struct kinds){0};
}

int64_t kinds_find(const struct kinds *kinds, int64_t cell)
{
    int64_t inner = kinds->cells, kind = 0;

    for (int64_t i = 0; i < kinds->axis_count; i++) {
        inner /= kinds->axis[i].length;
        kind += cell / inner % kinds->axis[i].length * kinds->stride[i];
    }
    return kind;
}
