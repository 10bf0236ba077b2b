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
    double least; /* nanoseconds of work that are worth a thread; 0: any, as tests want */
};

/* precision: of matrix products. scratch_size: scalars that the largest share needs; at least PRODUCT_SCRATCH
 * for product_run. */
void team_layout(
    struct team *team, enum precision precision, int64_t threads, int64_t scratch_size, struct arena *arena);

/*
 * Items to share out, in whole multiples of `multiple`. Each takes one thread about so many nanoseconds, on
 * the processors of today and to an order of magnitude: the number of shares must not depend on the machine.
 */
struct items {
    int64_t count, multiple;
    double nanoseconds;
};

/* A `multiple` of elements with which shares begin at whole cache lines. */
enum { LINE_ELEMENTS = 64 };

/* What an element takes that a simple loop passes, and a multiplication and addition of a product. */
#define ELEMENT_NANOSECONDS 0.25
#define PRODUCT_NANOSECONDS 0.01

/* A share of some work: items [begin, end), with that share's scratch. */
typedef void team_share(const void *context, scalar *scratch, int64_t begin, int64_t end);

/*
 * The number of shares that team_run makes: at most one per thread, and fewer of little work. Share i uses
 * scratch i, whichever thread does it.
 */
int64_t team_shares(const struct team *team, struct items items);

/*
 * Splits the items into shares, calls `share` for each, and returns when all are done. How they are split
 * depends only on the number of threads and on the items.
 */
void team_run(const struct team *team, struct items items, team_share *share, const void *context);

#endif
