#ifndef NORMSWEEP_MODEL_NETWORK_FEEDFORWARD_H
#define NORMSWEEP_MODEL_NETWORK_FEEDFORWARD_H

#include "model/network/sublayer.h"

/* The functions of a row of sublayer_table: see sublayer.h. */
void feedforward_layout(
    struct sublayer *s, const struct architecture *architecture, int64_t rows, struct arena *arena);
void feedforward_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual);
void feedforward_gradient(
    const struct pass *pass, const struct sublayer *s, scalar *din, scalar *dout, const scalar *in, bool add);

#endif
