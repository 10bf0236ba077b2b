#ifndef NORMSWEEP_TESTS_MODEL_NETWORK_ARRANGEMENTS_H
#define NORMSWEEP_TESTS_MODEL_NETWORK_ARRANGEMENTS_H

#include "tests/test.h"

#include "model/network/weights.h"

/* Tiny models in every arrangement, for tests that take all of them. */

/* Arrangement `bits` of all of them. */
enum { FLAGS = 1 << 4, ARRANGEMENTS = 4 * 3 * FLAGS * ACTIVATION_COUNT };

static inline struct architecture arrangement(int bits)
{
    const int flags = bits / ACTIVATION_COUNT % FLAGS, rest = bits / (ACTIVATION_COUNT * FLAGS);

    return (struct architecture){
        .vocabulary = 11,
        .init_scale = 1,
        .residual_scale = bits % 5 == 2 ? 0.7 : 1,
        .context = 5,
        .width = 8,
        .heads = 2,
        .feedforward = 6,
        .layers = 2,
        .norm_placement = (enum norm_placement)(rest % 3),
        .norm = rest / 3 & 1 ? RMSNORM : LAYERNORM,
        .gated = rest / 6,
        .activation = (enum activation)(bits % ACTIVATION_COUNT),
        .attention_mask = flags & 1 ? MASK_MULTIPLICATIVE : MASK_CAUSAL,
        .bias = flags & 2,
        .tied = flags & 4,
        .init = flags & 8 ? INIT_XAVIER : INIT_TORCH,
    };
}

static inline void arrangement_fail(
    const char *file, int line, const struct architecture *a, const char *what, double error)
{
    test_fail(file, line, "%s: %s placement %d gated %d activation %d mask %d bias %d tied %d: %.3g", what,
        norm_table[a->norm].word, a->norm_placement, a->gated, a->activation, a->attention_mask, a->bias,
        a->tied, error);
}

#endif
