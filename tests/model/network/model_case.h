#ifndef NORMSWEEP_TESTS_MODEL_NETWORK_MODEL_CASE_H
#define NORMSWEEP_TESTS_MODEL_NETWORK_MODEL_CASE_H

#include "tests/model/lay_out.h"

#include "model/core/random.h"
#include "model/corpora/corpora.h"
#include "model/network/network.h"

/*
 * A model with one batch of sequences of unequal length, all drawn anew from `seed`. An encoder-decoder's
 * sources have the same lengths in another order. An encoder predicts some of its tokens alone.
 */
struct model_case {
    struct transformer model;
    struct batch batch;
    scalar *weights;
    struct arena arena;
};

/* A decoder of these sizes; what else an architecture has is 0. */
static inline struct architecture decoder_of(
    int64_t vocabulary, int64_t context, int64_t width, int64_t heads, int64_t feedforward, int64_t layers)
{
    return (struct architecture){.vocabulary = vocabulary,
        .context = context,
        .width = width,
        .heads = heads,
        .feedforward = feedforward,
        .layers = layers,
        .init_scale = 1,
        .residual_scale = 1};
}

static inline void model_case_layout(struct model_case *k, const struct architecture *architecture,
    int64_t rows, int64_t threads, bool tangents, struct arena *arena)
{
    transformer_layout(&k->model, architecture, rows, threads, tangents, arena);
    batch_layout(&k->batch, (struct batch_rows){rows, rows}, arena);
    k->weights = arena_take(arena, (size_t)k->model.layout.size, sizeof(scalar));
}

static inline void model_case_begin(struct model_case *k, const struct architecture *architecture,
    const int64_t *lengths, int64_t sequences, int64_t threads, bool tangents, uint64_t seed)
{
    int64_t rows = 0;

    for (int64_t s = 0; s < sequences; s++)
        rows += lengths[s];
    LAY_OUT(&k->arena, model_case_layout(k, architecture, rows, threads, tangents, &k->arena));
    k->batch.sequences = sequences;
    k->batch.rows = k->batch.source_rows = rows;
    for (int64_t s = 0; s < sequences; s++) {
        k->batch.start[s + 1] = k->batch.start[s] + lengths[s];
        k->batch.source_start[s + 1] = k->batch.source_start[s] + lengths[(s + 1) % sequences];
    }
    for (int64_t row = 0; row < rows; row++) {
        uint64_t at = (uint64_t)row, vocabulary = (uint64_t)architecture->vocabulary;
        k->batch.tokens[row] = (int32_t)random_below(seed, RANDOM_TEST, at, vocabulary);
        k->batch.target[row] = (int32_t)random_below(seed + 1, RANDOM_TEST, at, vocabulary);
        k->batch.source_tokens[row] = (int32_t)random_below(seed + 2, RANDOM_TEST, at, vocabulary);
    }
    /* Every third row that is not the first of its sequence has no target. */
    for (int64_t s = 0; s < sequences && architecture->network == NETWORK_ENCODER; s++)
        for (int64_t row = k->batch.start[s] + 1; row < k->batch.start[s + 1]; row++)
            if (row % 3 == 0)
                k->batch.target[row] = NO_TARGET;
    weights_init(k->weights, &k->model.layout, architecture, (int64_t)seed);
}

static inline void model_case_init(struct model_case *k, const struct architecture *architecture,
    const int64_t *lengths, int64_t sequences, uint64_t seed)
{
    model_case_begin(k, architecture, lengths, sequences, 1, false, seed);
}

/* The same for a model that takes tangents. */
static inline void model_case_init_tangents(struct model_case *k, const struct architecture *architecture,
    const int64_t *lengths, int64_t sequences, uint64_t seed)
{
    model_case_begin(k, architecture, lengths, sequences, 1, true, seed);
}

/* Every weight is moved, so that gains are off 1 and biases off 0 as those of a trained model are. */
static inline void model_case_move(struct model_case *k, double by)
{
    for (int64_t i = 0; i < k->model.layout.size; i++)
        k->weights[i] += (scalar)(by * random_normal(77, RANDOM_TEST, (uint64_t)i));
}

static inline void model_case_release(struct model_case *k)
{
    arena_release(&k->arena);
}

/* The weights of a tensor. */
static inline scalar *model_case_tensor(const struct model_case *k, enum tensor_kind kind, int64_t layer)
{
    int64_t index = tensor_index(&k->model.architecture, kind, layer);
    return k->weights + k->model.layout.tensor[index].offset;
}

/* Sets all scalars of a kind of tensor of the blocks. */
static inline void model_case_set(const struct model_case *k, enum tensor_kind kind, double value)
{
    for (int64_t layer = 0; layer < k->model.architecture.layers; layer++) {
        int64_t index = tensor_index(&k->model.architecture, kind, layer);
        for (int64_t i = 0; i < k->model.layout.tensor[index].size; i++)
            model_case_tensor(k, kind, layer)[i] = (scalar)value;
    }
}

/* Sub-layers add nothing: every block is the identity under pre and out. */
static inline void model_case_silence(const struct model_case *k)
{
    static const enum tensor_kind kinds[] = {TENSOR_O, TENSOR_O_BIAS, TENSOR_W2, TENSOR_W2_BIAS,
        TENSOR_LN1_BIAS, TENSOR_LN2_BIAS, TENSOR_LN1, TENSOR_LN2};

    for (int i = 0; i < (k->model.architecture.norm_placement == NORM_OUT ? 8 : 6); i++)
        model_case_set(k, kinds[i], 0);
}

#endif
