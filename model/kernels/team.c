#include "model/kernels/team.h"
#include "model/kernels/levels.h"
#include "model/kernels/pool.h"

void team_layout(struct team *team, int64_t threads, int64_t scratch_size, struct arena *arena)
{
    *team = (struct team){.kernels = kernels_best(),
        .threads = (int)threads,
        .scratch_size = scratch_size,
        .scratch = arena_take(arena, (size_t)(threads * scratch_size), sizeof(scalar))};
}

int64_t team_shares(const struct team *team, int64_t items, int64_t grain)
{
    int64_t grains = (items + grain - 1) / grain;

    return team->threads < grains ? team->threads : grains;
}

/* Some work, split into shares. */
struct split {
    const struct team *team;
    int64_t items, grain, shares;
    team_share *share;
    const void *context;
};

static void run_share(const void *context, int64_t i)
{
    const struct split *split = context;
    const struct team *team = split->team;
    int64_t grains = (split->items + split->grain - 1) / split->grain;
    int64_t begin = grains * i / split->shares * split->grain;
    int64_t end = grains * (i + 1) / split->shares * split->grain;

    split->share(split->context, team->scratch + i * team->scratch_size, begin,
        end < split->items ? end : split->items);
}

void team_run(const struct team *team, int64_t items, int64_t grain, team_share *share, const void *context)
{
    const struct split split = {team, items, grain, team_shares(team, items, grain), share, context};

    if (split.shares <= 1)
        share(context, team->scratch, 0, items);
    else
        pool_run(team->threads, split.shares, run_share, &split);
}
