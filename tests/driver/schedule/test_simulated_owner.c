/* The owner of the simulated sweep, which adds cells. */
#include "tests/driver/schedule/simulated.h"
#include "tests/test.h"

enum { BATCH_MAX = 64 };

struct batch_of_cells {
    int64_t cell[BATCH_MAX + 1];
    double cost[BATCH_MAX + 1];
    int deaths[BATCH_MAX + 1];
    int count;
};

static int64_t any_cell(struct simulation *s)
{
    return (int64_t)(simulated_draw(s) * (double)s->cells);
}

/* Chooses cells that are not there, each once, which counts as pending from now on. */
static void choose(struct simulation *s, struct batch_of_cells *batch)
{
    int wanted = 1 + (int)(simulated_draw(s) * s->owner.batch);

    for (int i = 0; i < 3 * wanted && batch->count < wanted && batch->count < s->owner.most; i++) {
        int64_t at = any_cell(s);
        struct cell *cell = &s->cell[at];
        if (cell->truth != TRUTH_ABSENT)
            continue;
        batch->cell[batch->count] = at;
        batch->cost[batch->count] = cell->length * (0.5 + simulated_draw(s));
        batch->deaths[batch->count++] = cell->deaths;
        cell->truth = TRUTH_PENDING;
    }
}

/* Another cell, which is there, so that it must not be added. */
static int choose_in_vain(struct simulation *s, struct batch_of_cells *batch)
{
    int64_t at = any_cell(s);

    if (s->cell[at].truth == TRUTH_ABSENT)
        return 0;
    batch->cell[batch->count] = at;
    batch->cost[batch->count] = 1;
    batch->deaths[batch->count] = 0;
    return 1;
}

/* `order`: the one that it responds to; NULL: none. */
static void add(struct simulation *s, const struct order *order)
{
    struct batch_of_cells batch = {.count = 0};
    struct coordinator_state state;

    coordinator_state(s->coordinator, &state);
    choose(s, &batch);
    int more = choose_in_vain(s, &batch);
    int64_t added =
        coordinator_add(s->coordinator, batch.cell, batch.cost, batch.deaths, batch.count + more, s->now);
    CHECK(added == (s->stopped || s->home ? 0 : batch.count));
    s->owner.refused += added == 0;
    s->owner.added += added;
    bool continued = order && added > 0 && state.pending + state.running == 0;
    s->owner.continued += continued;
    s->owner.after_failure += continued && order->kind == ORDER_FAIL;
    s->owner.most -= batch.count;
    for (int i = 0; added == 0 && i < batch.count; i++)
        s->cell[batch.cell[i]].truth = TRUTH_ABSENT;
}

void owner_decides(struct simulation *s)
{
    if (s->owner.most > 0 && s->cells > 0)
        add(s, NULL);
}

void owner_responds(struct simulation *s, const struct order *order)
{
    bool of_run = order->kind != ORDER_QUIT && order->kind != ORDER_FINISH && order->cell >= 0;

    if (of_run && !s->home && s->owner.most > 0 && simulated_draw(s) < s->owner.adds)
        add(s, order);
}
