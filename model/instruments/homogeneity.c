/*
 * The homogeneity of a fresh network: homogeneity_layout makes a small model of the run's architecture, and
 * homogeneity_measure draws its weights and sequences and runs it at each scale of its parameters. It depends
 * on architecture and seed alone, not on the weights in training. Nothing can fail.
 */
#include "model/instruments/inside.h"

#include <string.h>

enum { ROWS = HOMOGENEITY_SEQUENCES * HOMOGENEITY_CONTEXT };

double homogeneity_scale(int64_t i)
{
    return 1 + 9 * (double)i / (HOMOGENEITY_SCALES - 1);
}

void homogeneity_layout(
    struct homogeneity_model *h, const struct architecture *architecture, struct arena *arena)
{
    struct architecture small = *architecture;

    small.vocabulary = HOMOGENEITY_VOCABULARY;
    small.context = HOMOGENEITY_CONTEXT;
    transformer_layout(&h->model, &small, ROWS, 1, false, arena);
    batch_layout(&h->batch, (struct batch_rows){ROWS, architecture_stacks(&small) > 1 ? ROWS : 0}, arena);
    h->weights = arena_take(arena, (size_t)h->model.layout.size, sizeof(scalar));
    h->scaled = arena_take(arena, (size_t)h->model.layout.size, sizeof(scalar));
    h->limit = arena_take(arena, (size_t)(ROWS * small.width), sizeof(scalar));
    h->logits = arena_take(arena, (size_t)(ROWS * small.vocabulary), sizeof(scalar));
}

static void draw_tokens(int32_t *tokens, int64_t seed, uint64_t first)
{
    for (uint64_t row = 0; row < ROWS; row++)
        tokens[row] =
            (int32_t)random_below((uint64_t)seed, RANDOM_HOMOGENEITY, first + row, HOMOGENEITY_VOCABULARY);
}

/* Returns f(scale * theta), valid until the next call, and fills the logits. */
static const scalar *states_at(struct homogeneity_model *h, double scale)
{
    weights_scale(h->scaled, h->weights, h->model.layout.size, scale);
    transformer_logits(&h->model, h->scaled, &h->batch, h->logits);
    return transformer_final(&h->model);
}

void homogeneity_measure(struct homogeneity_model *h, int64_t seed, struct homogeneity *result)
{
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);
    const int64_t size = ROWS * h->model.architecture.width, logits = ROWS * HOMOGENEITY_VOCABULARY;
    struct batch *batch = &h->batch;
    double scale[HOMOGENEITY_SCALES], state[HOMOGENEITY_SCALES], output[HOMOGENEITY_SCALES]; /* logarithms */

    weights_init(h->weights, &h->model.layout, &h->model.architecture, seed);
    batch->sequences = HOMOGENEITY_SEQUENCES;
    batch->rows = ROWS;
    for (int64_t i = 0; i <= HOMOGENEITY_SEQUENCES; i++)
        batch->start[i] = i * HOMOGENEITY_CONTEXT;
    draw_tokens(batch->tokens, seed, 0);
    if (batch->source_tokens) { /* the architecture reads a source: drawn behind the others */
        batch->source_rows = ROWS;
        memcpy(batch->source_start, batch->start, (HOMOGENEITY_SEQUENCES + 1) * sizeof(*batch->start));
        draw_tokens(batch->source_tokens, seed, ROWS);
    }

    memcpy(h->limit, states_at(h, HOMOGENEITY_LIMIT), (size_t)size * sizeof(*h->limit));
    double limit_square = kernels->dot(h->limit, h->limit, size);
    for (int64_t i = 0; i < HOMOGENEITY_SCALES; i++) {
        struct sums sums = kernels->sums(h->limit, states_at(h, homogeneity_scale(i)), size);
        result->cosine[i] = cosine(sums.product, limit_square, sums.square);
        scale[i] = log(homogeneity_scale(i));
        state[i] = log(sums.square) / 2;
        output[i] = log(kernels->dot(h->logits, h->logits, logits)) / 2;
    }
    struct straight fit = straight_fit(scale, state, HOMOGENEITY_SCALES);
    result->degree = fit.slope;
    result->degree_r2 = fit.r2;
    fit = straight_fit(scale, output, HOMOGENEITY_SCALES);
    result->output_degree = fit.slope;
    result->output_degree_r2 = fit.r2;
}
