#include "model/kernels/team.h"
#include "model/kernels/levels.h"

void team_layout(struct team *team, int64_t threads, int64_t scratch_size, struct arena *arena)
{
    *team = (struct team){.kernels = kernels_best(),
        .threads = (int)threads,
        .scratch_size = scratch_size,
        .scratch = arena_take_scratch(arena, (size_t)(threads * scratch_size), sizeof(scalar))};
}

bool team_has_threads(void)
{
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

int64_t team_shares(const struct team *team, int64_t items, int64_t grain)
{
    int64_t grains = (items + grain - 1) / grain;

    return team->threads < grains ? team->threads : grains;
}

void team_run(const struct team *team, int64_t items, int64_t grain, team_share *share, const void *context)
{
    int64_t grains = (items + grain - 1) / grain, shares = team_shares(team, items, grain);

    if (shares <= 1) {
        share(context, team->scratch, 0, items);
        return;
    }
#pragma omp parallel for num_threads((int)shares) schedule(static, 1)
    for (int64_t t = 0; t < shares; t++) {
        int64_t begin = grains * t / shares * grain, end = grains * (t + 1) / shares * grain;
        share(context, team->scratch + t * team->scratch_size, begin, end < items ? end : items);
    }
}
