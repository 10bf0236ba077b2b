#ifndef NORMSWEEP_MODEL_KERNELS_TEAM_H
#define NORMSWEEP_MODEL_KERNELS_TEAM_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"

/* The threads that compute one run together, the kernels that they use, and scratch for a share of each. */
struct team {
    const struct kernels *kernels;
    int threads;
    int64_t scratch_size; /* scalars per thread */
    scalar *scratch; /* [threads][scratch_size] */
};

/* scratch_size: scalars that the largest share needs; at least PRODUCT_SCRATCH for product_run. */
void team_layout(struct team *team, int64_t threads, int64_t scratch_size, struct arena *arena);

/* A share of some work: items [begin, end), with that share's scratch. */
typedef void team_share(const void *context, scalar *scratch, int64_t begin, int64_t end);

/* The number of shares that team_run makes: at most one per thread. Share i uses scratch i, whoever does it.
 */
int64_t team_shares(const struct team *team, int64_t items, int64_t grain);

/*
 * Splits `items` items into shares of whole grains of `grain` items, calls `share` for each, and returns when
 * all are done. How the items are split depends only on the number of threads.
 */
void team_run(const struct team *team, int64_t items, int64_t grain, team_share *share, const void *context);

#endif
