/*
 * Splits work into shares for the threads of a team. Small work stays with the caller, because handing it
 * over would take longer; the pool (pool.c) runs the shares.
 */
#include "model/kernels/kernels.h"
#include "model/kernels/pool.h"

/* Handing a share to a thread that still spins takes half a microsecond. If it sleeps, the caller loses 3
 * until it goes on, and the thread begins after 10 to 20: by then the caller has done what takes less. */
#define LEAST_NANOSECONDS 5000

void team_layout(
    struct team *team, enum precision precision, int64_t threads, int64_t scratch_size, struct arena *arena)
{
    *team = (struct team){.kernels = kernels_best(precision),
        .threads = (int)threads,
        .scratch_size = scratch_size,
        .scratch = arena_take_scratch(arena, (size_t)(threads * scratch_size), sizeof(scalar)),
        .least = LEAST_NANOSECONDS};
}

static int64_t multiples_of(struct items items)
{
    return (items.count + items.multiple - 1) / items.multiple;
}

int64_t team_shares(const struct team *team, struct items items)
{
    int64_t multiples = multiples_of(items), most = team->threads < multiples ? team->threads : multiples;
    double takes = (double)items.count * items.nanoseconds;

    if (takes >= (double)most * team->least)
        return most;
    return takes >= 2 * team->least ? (int64_t)(takes / team->least) : 1;
}

/* Some work, split into shares. */
struct split {
    const struct team *team;
    struct items items;
    int64_t shares;
    team_share *share;
    const void *context;
};

/* The first item of a share; of the one after the last, where the items end. */
static int64_t share_begin(const struct split *split, int64_t share)
{
    int64_t begin = multiples_of(split->items) * share / split->shares * split->items.multiple;

    return begin < split->items.count ? begin : split->items.count;
}

static void run_share(const void *context, int64_t share)
{
    const struct split *split = context;

    split->share(split->context, split->team->scratch + share * split->team->scratch_size,
        share_begin(split, share), share_begin(split, share + 1));
}

void team_run(const struct team *team, struct items items, team_share *share, const void *context)
{
    const struct split split = {team, items, team_shares(team, items), share, context};

    if (split.shares <= 1)
        share(context, team->scratch, 0, items.count);
    else
        pool_run(team->threads, split.shares, run_share, &split);
}
