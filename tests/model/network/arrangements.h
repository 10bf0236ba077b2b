#ifndef NORMSWEEP_TESTS_MODEL_NETWORK_ARRANGEMENTS_H
#define NORMSWEEP_TESTS_MODEL_NETWORK_ARRANGEMENTS_H

#include "tests/test.h"

#include "model/core/random.h"
#include "model/network/network.h"

/* Tiny models in every arrangement, for tests that take all of them. */

/* Those of one decoder, all of them; behind them, any architecture, drawn at random. */
enum {
    FLAGS = 1 << 4,
    LISTED_ARRANGEMENTS = 4 * 3 * FLAGS * ACTIVATION_COUNT,
    ARRANGEMENTS = LISTED_ARRANGEMENTS + 400
};

/* Draw `number` of architecture `bits`. */
static inline int drawn_below(int bits, int number, int count)
{
    return (int)random_below((uint64_t)bits, RANDOM_TEST, (uint64_t)number, (uint64_t)count);
}

/* What networks of others may have and those of sweeps have not. */
static inline void draw_of_others(struct architecture *a, int bits)
{
    static const double epsilon[] = {0, 1e-6, 1e-2}, base[] = {0, 50, 1e6};
    static const struct rotary_scaling scaling[] = {{0}, {.factor = 4}, {8, 1, 4, 64}};

    if (drawn_below(bits, 20, 2)) {
        a->width = 4 + drawn_below(bits, 21, 9);
        a->head_width = a->positions == POSITIONS_ROTARY ? 4 + 2 * drawn_below(bits, 22, 2)
                                                         : 3 + drawn_below(bits, 22, 5);
    }
    if (drawn_below(bits, 23, 3) == 0)
        a->biases = (unsigned)drawn_below(bits, 24, BIAS_ALL + 1);
    a->norm_epsilon = epsilon[drawn_below(bits, 25, 3)];
    a->rotary_base = base[drawn_below(bits, 26, 3)];
    a->rotary_scaling = scaling[drawn_below(bits, 27, 3)];
}

/* What mup and z_loss make of an architecture. */
static inline void draw_scales(struct architecture *a, int bits)
{
    static const double z_loss[] = {0, 0, 1e-3, 0.2};

    if (drawn_below(bits, 30, 3) == 0)
        a->score_scale = SCORE_DEPTH;
    a->output_scale = drawn_below(bits, 31, 3) ? 0 : 0.6;
    a->z_loss = z_loss[drawn_below(bits, 32, 4)];
}

static inline struct architecture drawn_arrangement(int bits)
{
    struct architecture a = {.network = (enum network)drawn_below(bits, 0, 3),
        .vocabulary = 11,
        .context = 5,
        .heads = 1 + drawn_below(bits, 1, 4),
        .feedforward = 5 + drawn_below(bits, 2, 4),
        .layers = 1 + drawn_below(bits, 3, 2),
        .decoder_layers = drawn_below(bits, 4, 3),
        .norm_placement = (enum norm_placement)drawn_below(bits, 5, 3),
        .norm = (enum norm_kind)drawn_below(bits, 6, NORM_KIND_COUNT),
        .qk_norm = (enum qk_norm)drawn_below(bits, 7, 3),
        .positions = (enum positions)drawn_below(bits, 8, POSITIONS_NONE + 1),
        .score_scale = (enum score_scale)drawn_below(bits, 9, 2),
        .activation = (enum activation)drawn_below(bits, 10, ACTIVATION_COUNT),
        .gated = drawn_below(bits, 11, 2),
        .biases =
            (drawn_below(bits, 12, 2) ? BIAS_LAYERS : 0u) | (drawn_below(bits, 29, 2) ? BIAS_OUTPUT : 0u),
        .tied = drawn_below(bits, 13, 2),
        .init = (enum init)drawn_below(bits, 14, 3),
        .init_deviation = 0.3,
        .init_scale = 1,
        .residual_scale = drawn_below(bits, 15, 3) ? 1 : 0.7,
        .final_norm = drawn_below(bits, 19, 2)};

    if (a.norm == NO_NORM) /* has none for them */
        a.qk_norm = QK_NORM_NONE;
    a.width = a.heads * (a.positions == POSITIONS_ROTARY ? 4 + 2 * drawn_below(bits, 16, 2)
                                                         : 4 + drawn_below(bits, 16, 4));
    a.kv_heads = 1 + drawn_below(bits, 17, (int)a.heads);
    while (a.heads % a.kv_heads)
        a.kv_heads--;
    if (a.network != NETWORK_ENCODER)
        a.attention_mask = drawn_below(bits, 18, 3) ? MASK_CAUSAL : MASK_MULTIPLICATIVE;
    draw_of_others(&a, bits);
    draw_scales(&a, bits);
    return a;
}

/* A drawn one with what only the forward pass has; keys of distances in a third of them. */
static inline struct architecture measured_arrangement(int bits)
{
    struct architecture a = drawn_arrangement(bits);

    a.token_types = drawn_below(bits, 40, 3);
    a.embedding_norm = drawn_below(bits, 41, 2);
    a.transform = drawn_below(bits, 42, 2);
    a.output_scale = drawn_below(bits, 43, 2) ? 0.6 : 0;
    if (drawn_below(bits, 44, 3))
        return a;
    a.network = NETWORK_ENCODER;
    a.positions = POSITIONS_DISTANCE;
    a.qk_norm = QK_NORM_NONE;
    if (!a.head_width)
        a.head_width = architecture_depth(&a);
    a.width += a.width % 2;
    return a;
}

/* Arrangement `bits` of all of them. */
static inline struct architecture arrangement(int bits)
{
    if (bits >= LISTED_ARRANGEMENTS)
        return drawn_arrangement(bits);
    const int flags = bits / ACTIVATION_COUNT % FLAGS, rest = bits / (ACTIVATION_COUNT * FLAGS);

    return (struct architecture){
        .vocabulary = 11,
        .init_scale = 1,
        .residual_scale = bits % 5 == 2 ? 0.7 : 1,
        .output_scale = bits % 7 == 3 ? 1.4 : 0,
        .z_loss = bits % 11 == 4 ? 0.1 : 0,
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
        .biases = flags & 2 ? BIAS_ALL : BIAS_OUTPUT,
        .tied = flags & 4,
        .init = flags & 8 ? INIT_XAVIER : INIT_TORCH,
    };
}

static inline void arrangement_fail(
    const char *file, int line, const struct architecture *a, const char *what, double error)
{
    test_fail(file, line,
        "%s: network %d %s placement %d positions %d qk_norm %d heads %d of %d, of %d in %d, scale %d gated "
        "%d activation %d mask %d bias %#x tied %d final %d epsilon %g base %g factor %g output %g z %g: "
        "%.3g",
        what, a->network, norm_table[a->norm].word, a->norm_placement, a->positions, a->qk_norm,
        (int)a->kv_heads, (int)a->heads, (int)architecture_depth(a), (int)a->width, a->score_scale, a->gated,
        a->activation, a->attention_mask, a->biases, a->tied, a->final_norm, a->norm_epsilon, a->rotary_base,
        a->rotary_scaling.factor, a->output_scale, a->z_loss, error);
}

#endif
