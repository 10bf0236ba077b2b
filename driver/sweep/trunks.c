/*
 * Runs that take the same first steps, bit for bit: alike in all but their number of steps and what their
 * schedules do at the end. A run leaves its state at the last step that others may share (run_kept_step), and
 * the next run, whose own such step is not before that one, carries on from there: with wsd, 1000 and 2000
 * steps take 800 + 200 + 1200.
 *
 * Only the order is decided here. A run waits until the one before it has left its state or has ended,
 * whatever its end. Where there is no state, because a file was lost or its run diverged, a run starts from
 * the beginning, with the same numbers. So nothing here has to survive a start.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"

#include <stdlib.h>
#include <string.h>

enum stage { STAGE_LEFT, STAGE_WAITS, STAGE_BEGUN, STAGE_PASSED, STAGE_ENDED }; /* left: not chosen, so far */

struct sharer {
    struct digest trunk; /* of sweep_trunk alone: the text and what is measured are those of the sweep */
    int64_t kept; /* the step before which the run leaves its state */
    int64_t cell;
    enum stage stage;
};

struct trunks {
    int64_t count;
    struct sharer *sharer; /* [count] by trunk, then by kept */
    int64_t *of_cell; /* [cells] a cell's sharer; -1: it has none */
    int64_t from, to; /* the sharers that were chosen since trunks_next had none lie between them */
};

static int in_order(const void *a, const void *b)
{
    const struct sharer *x = a, *y = b;
    int trunk = memcmp(&x->trunk, &y->trunk, sizeof(x->trunk));

    if (trunk != 0)
        return trunk;
    if (x->kept != y->kept)
        return (x->kept > y->kept) - (x->kept < y->kept);
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static bool same_trunk(const struct trunks *trunks, int64_t i, int64_t j)
{
    return i >= 0 && i < trunks->count && j >= 0 && j < trunks->count &&
           memcmp(&trunks->sharer[i].trunk, &trunks->sharer[j].trunk, sizeof(trunks->sharer[i].trunk)) == 0;
}

/* May runs of the sweep share steps at all? Those of most sweeps may not, and then no digests are needed. */
static bool may_share(const struct sweep *sweep)
{
    static const char *const keys[] = {
        "steps", "epochs", "schedule", "schedule_start", "schedule_end", "schedule_decay"};

    for (size_t i = 0; sweep->trunks && i < sizeof(keys) / sizeof(*keys); i++)
        if (axis_find(sweep->axis_count, sweep->axis, param_find(keys[i])))
            return true;
    return false;
}

struct trunks *trunks_new(const struct sweep *sweep, const struct corpus *corpus)
{
    int64_t count = 0;
    struct walk walk;

    if (!may_share(sweep))
        return NULL;
    struct trunks *trunks = memory_new(1, sizeof(*trunks));
    *trunks = (struct trunks){.sharer = memory_new((size_t)sweep->cells, sizeof(*trunks->sharer)),
        .of_cell = memory_new((size_t)sweep->cells, sizeof(*trunks->of_cell))};
    walk_init(&walk, sweep);
    while (walk_next(&walk)) {
        struct sharer *sharer = &trunks->sharer[trunks->count];
        *sharer = (struct sharer){
            .kept = run_kept_step(&walk.run, run_last_step(&walk.run, corpus)), .cell = walk.cell};
        if (sharer->kept > 0 && (!sweep->part_of || sweep->part_of[walk.cell] == sweep->part)) {
            const struct run trunk = sweep_trunk(&walk.run);
            digest_init(&sharer->trunk);
            run_digest(&trunk, &sharer->trunk);
            trunks->count++;
        }
    }
    qsort(trunks->sharer, (size_t)trunks->count, sizeof(*trunks->sharer), in_order);
    for (int64_t i = 0; i < trunks->count; i++) /* those without others are no sharers */
        if (same_trunk(trunks, i, i - 1) || same_trunk(trunks, i, i + 1))
            trunks->sharer[i].stage = STAGE_WAITS;
    for (int64_t i = 0; i < trunks->count; i++)
        if (trunks->sharer[i].stage == STAGE_WAITS) {
            trunks->sharer[count] = trunks->sharer[i];
            trunks->sharer[count++].stage = STAGE_LEFT;
        }
    trunks->count = trunks->from = count;
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        trunks->of_cell[cell] = -1;
    for (int64_t i = 0; i < count; i++)
        trunks->of_cell[trunks->sharer[i].cell] = i;
    if (count > 0)
        return trunks;
    trunks_free(trunks);
    return NULL;
}

void trunks_free(struct trunks *trunks)
{
    if (!trunks)
        return;
    free(trunks->sharer);
    free(trunks->of_cell);
    free(trunks);
}

bool trunks_has(const struct trunks *trunks, int64_t cell)
{
    return trunks && trunks->of_cell[cell] >= 0;
}

int64_t trunks_before(const struct trunks *trunks, int64_t cell, int64_t *step)
{
    int64_t at = trunks ? trunks->of_cell[cell] : -1;

    if (at < 0 || !same_trunk(trunks, at - 1, at))
        return -1;
    *step = trunks->sharer[at - 1].kept;
    return trunks->sharer[at - 1].cell;
}

bool trunks_choose(struct trunks *trunks, int64_t cell)
{
    int64_t at = trunks ? trunks->of_cell[cell] : -1;

    if (at < 0)
        return false;
    INVARIANT(trunks->sharer[at].stage == STAGE_LEFT, "cell %lld is chosen twice", (long long)cell);
    trunks->sharer[at].stage = STAGE_WAITS;
    trunks->from = at < trunks->from ? at : trunks->from;
    trunks->to = at >= trunks->to ? at + 1 : trunks->to;
    return true;
}

/* Will the chosen run before this one still leave its state? */
static bool has_to_wait(const struct trunks *trunks, int64_t at)
{
    int64_t i = at - 1;

    while (same_trunk(trunks, i, at) && trunks->sharer[i].stage == STAGE_LEFT)
        i--;
    return same_trunk(trunks, i, at) &&
           (trunks->sharer[i].stage == STAGE_WAITS || trunks->sharer[i].stage == STAGE_BEGUN);
}

int64_t trunks_next(struct trunks *trunks)
{
    for (; trunks && trunks->from < trunks->to; trunks->from++) {
        struct sharer *sharer = &trunks->sharer[trunks->from];
        if (sharer->stage == STAGE_WAITS && !has_to_wait(trunks, trunks->from)) {
            sharer->stage = STAGE_BEGUN;
            return sharer->cell;
        }
    }
    if (trunks) {
        trunks->from = trunks->count;
        trunks->to = 0;
    }
    return -1;
}

int64_t trunks_pass(struct trunks *trunks, int64_t cell, bool ended)
{
    int64_t at = trunks ? trunks->of_cell[cell] : -1;

    if (at < 0)
        return -1;
    bool passes = trunks->sharer[at].stage == STAGE_BEGUN;
    trunks->sharer[at].stage = ended ? STAGE_ENDED : STAGE_PASSED;
    int64_t i = at + 1;
    while (same_trunk(trunks, i, at) && trunks->sharer[i].stage == STAGE_LEFT)
        i++;
    if (!passes || !same_trunk(trunks, i, at) || trunks->sharer[i].stage != STAGE_WAITS)
        return -1;
    trunks->sharer[i].stage = STAGE_BEGUN;
    return trunks->sharer[i].cell;
}

bool trunks_over(const struct trunks *trunks, int64_t cell)
{
    int64_t at = trunks ? trunks->of_cell[cell] : -1, first = at;

    while (at >= 0 && same_trunk(trunks, first - 1, at))
        first--;
    for (int64_t i = first; at >= 0 && same_trunk(trunks, i, at); i++)
        if (trunks->sharer[i].stage != STAGE_LEFT && trunks->sharer[i].stage != STAGE_ENDED)
            return false;
    return at >= 0;
}
