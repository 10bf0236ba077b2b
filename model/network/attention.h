#ifndef NORMSWEEP_MODEL_NETWORK_ATTENTION_H
#define NORMSWEEP_MODEL_NETWORK_ATTENTION_H

#include "model/network/sublayer.h"

/* The functions of a row of sublayer_table: see sublayer.h. */
void attention_layout(struct sublayer *s, const struct architecture *architecture, int64_t rows,
    bool tangents, struct arena *arena);
void attention_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual);
void attention_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, const scalar *dout,
    const scalar *in, bool add);
void attention_tangent(
    const struct pass *pass, const struct sublayer *s, scalar *tout, struct dual in, const scalar *tresidual);
void attention_gradient_tangent(const struct pass *pass, const struct sublayer *s, scalar *tdin,
    struct dual dout, struct dual in, bool add);
void attention_attended(const struct pass *pass, const struct sublayer *s, int32_t *count);

#endif
