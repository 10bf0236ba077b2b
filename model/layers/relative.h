#ifndef NORMSWEEP_MODEL_LAYERS_RELATIVE_H
#define NORMSWEEP_MODEL_LAYERS_RELATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"

/*
 * A bias of each head on each score, by distance: that of the query's position from the key's (Raffel et al.
 * 2020). It is learned as a table [32, H] of buckets of distances; attention reads it spread out by distance.
 */

/* The buckets, and the distance from which on all share the last one. */
enum { RELATIVE_BUCKETS = 32, RELATIVE_REACH = 128 };

/* The bias by distance, [H, stride]: entry [h][query - key + reach]. What a pass does not have is NULL. */
struct relative {
    int64_t reach, stride; /* context - 1; relative_stride(context) */
    const scalar *bias, *tbias; /* tbias: the tangent; NULL counts as 0 */
    scalar *dbias, *tdbias; /* attention adds the gradient, or its tangent */
};

/* Scalars of a row by distance: 2 context - 1, and what vectors may read behind them, which is 0. */
int64_t relative_stride(int64_t context);

/*
 * The bucket of a distance, query - key. One-sided: keys behind the query count as distance 0; distances
 * below 16 have buckets of their own, the other 16 buckets are equally wide in the logarithm of the distance
 * up to 128. Two-sided: 16 buckets, half of them exact, for either sign; distance 0 counts as positive.
 */
int64_t relative_bucket(int64_t distance, bool two_sided);

/* bias [H, stride], overwritten, from table [32, H]. Linear: also for tangents. */
void relative_spread(scalar *bias, const scalar *table, int64_t heads, int64_t context, bool two_sided);

/* Its adjoint: dtable [32, H], overwritten, from dbias [H, stride]; sums in double. */
void relative_gather(scalar *dtable, const scalar *dbias, int64_t heads, int64_t context, bool two_sided);

#endif
