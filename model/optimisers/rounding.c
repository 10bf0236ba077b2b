/*
 * Weights that are kept in bfloat16. A pass of its own behind the step, over the whole plane: any optimiser's
 * step stays as it is, and what it means to do can be measured beside what rounding leaves of it.
 */
#include "model/optimisers/optimisers.h"

#include "model/core/random.h"

/* The grain of a thread's share: 16 KiB of the plane. */
enum { GRAIN = 4096 };
_Static_assert(GRAIN % ROUNDING_GROUP == 0, "shares begin where groups of draws do");

struct rounding {
    const struct kernels *kernels;
    scalar *weights;
    uint64_t seed; /* of the step's draws */
};

static void round_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct rounding *of = context;

    (void)scratch;
    of->kernels->round_bfloat16(of->weights + begin, end - begin);
}

static void round_share_by_chance(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct rounding *of = context;

    (void)scratch;
    of->kernels->round_bfloat16_by_chance(of->weights + begin, end - begin, of->seed, begin);
}

void rounding_begin(enum weights_kept kept, const struct team *team, scalar *weights, int64_t count)
{
    const struct rounding rounding = {.kernels = team->kernels, .weights = weights};

    if (kept != WEIGHTS_FLOAT)
        team_run(team, (struct items){count, GRAIN, ELEMENT_NANOSECONDS}, round_share, &rounding);
}

void rounding_step(enum weights_kept kept, const struct team *team, scalar *weights, int64_t count,
    uint64_t seed, int64_t number)
{
    const struct rounding rounding = {.kernels = team->kernels,
        .weights = weights,
        .seed = random_bits(seed, RANDOM_STEP, (uint64_t)number)};

    team_share *share = kept == WEIGHTS_BFLOAT16_STOCHASTIC ? round_share_by_chance : round_share;

    if (kept != WEIGHTS_FLOAT)
        team_run(team, (struct items){count, GRAIN, ELEMENT_NANOSECONDS}, share, &rounding);
}
