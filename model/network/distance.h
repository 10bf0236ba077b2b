#ifndef NORMSWEEP_MODEL_NETWORK_DISTANCE_H
#define NORMSWEEP_MODEL_NETWORK_DISTANCE_H

#include "model/network/sublayer.h"

/* The functions of a row of sublayer_table: see sublayer.h. */
void distance_layout(struct sublayer *s, const struct architecture *architecture, int64_t rows, bool tangents,
    struct arena *arena);
void distance_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual);
void distance_attended(const struct pass *pass, const struct sublayer *s, int32_t *count);

#endif
