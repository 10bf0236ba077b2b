#ifndef NORMSWEEP_TESTS_MODEL_LAYERS_HEAD_CASE_H
#define NORMSWEEP_TESTS_MODEL_LAYERS_HEAD_CASE_H

/*
 * One head of attention of a vector level, and what plain sums in double say of it. The sums are of complex
 * numbers, whose imaginary parts are the inputs' tangents times a step so small that its square is 0 beside
 * 1: those of the results are the tangents of the results times that step, without a rule of differentiation
 * in the sums.
 */
#include "tests/test.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/random.h"
#include "model/kernels/kernels.h"
#include "model/kernels/levels.h"
#include "tests/model/kernels/nearest.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

enum { LENGTH_MOST = 150, DEPTH_MOST = 40, STRIDE = 3 * DEPTH_MOST + 1, SIZE = LENGTH_MOST * STRIDE };
enum { BIASES = 2 * LENGTH_MOST - 1 + ATTENTION_LANES - 1 };

static const double step = 1e-100;

static scalar qkv[SIZE], dqkv[SIZE], mixed[SIZE], dmixed[SIZE];
static scalar tqkv[SIZE], tdqkv[SIZE], tmixed[SIZE], tdmixed[SIZE];
static scalar most[LENGTH_MOST], inverse[LENGTH_MOST];
static scalar bias[BIASES], tbias[BIASES], dbias[BIASES], tdbias[BIASES];
static double complex p[LENGTH_MOST][LENGTH_MOST], dscore[LENGTH_MOST][LENGTH_MOST];

static inline struct head draw_head(
    int64_t queries, int64_t keys, int64_t depth, enum attention_mask mask, double scale)
{
    for (int i = 0; i < SIZE; i++) {
        qkv[i] = (scalar)(scale * random_normal(1, RANDOM_TEST, (uint64_t)i));
        dmixed[i] = (scalar)random_normal(2, RANDOM_TEST, (uint64_t)i);
        tqkv[i] = (scalar)(scale * random_normal(3, RANDOM_TEST, (uint64_t)i));
        tdmixed[i] = (scalar)random_normal(4, RANDOM_TEST, (uint64_t)i);
        mixed[i] = dqkv[i] = tmixed[i] = tdqkv[i] = 77;
    }
    for (int i = 0; i < BIASES; i++) {
        /* behind the last distance those of longer sequences, whose exponentials are not numbers */
        bias[i] =
            i >= BIASES - (ATTENTION_LANES - 1) ? 10000 : (scalar)random_normal(5, RANDOM_TEST, (uint64_t)i);
        tbias[i] = (scalar)random_normal(6, RANDOM_TEST, (uint64_t)i);
        dbias[i] = tdbias[i] = 0;
    }
    return (struct head){.q = qkv,
        .k = qkv + depth,
        .v = qkv + 2 * depth,
        .q_stride = STRIDE,
        .kv_stride = STRIDE,
        .queries = queries,
        .keys = keys,
        .depth = depth,
        .scale = 1 / (scalar)sqrt((double)depth),
        .mask = mask,
        .most = most,
        .inverse = inverse};
}

/* The place in `biases` of distance 0 of a head of so many queries and keys: the row of distances ends where
 * memory ends. */
static inline scalar *middle(scalar *biases, const struct head *head)
{
    return biases + (BIASES - (ATTENTION_LANES - 1) - head->queries);
}

/* Gives the head a bias, and a scale that is exact. */
static inline void add_bias(struct head *head)
{
    head->scale = (scalar)0.5;
    head->bias = middle(bias, head);
}

/* A head's inputs with their tangents: those of q, k and v in qkv, and dmixed. */
static inline double complex input(const scalar *at)
{
    const scalar *tangent = at < qkv || at >= qkv + SIZE ? tdmixed + (at - dmixed) : tqkv + (at - qkv);

    return (double)*at + step * (double)*tangent * I;
}

/* What products of this precision read of a number, and of its tangent. */
static enum precision precision;

static inline double complex factor(double complex x)
{
    return factor_of(precision, creal(x)) + step * factor_of(precision, cimag(x) / step) * I;
}

/* The bias of query i and key j with its tangent. */
static inline double complex bias_of(const struct head *head, int64_t i, int64_t j)
{
    if (!head->bias)
        return 0;
    return (double)head->bias[i - j] + step * (double)middle(tbias, head)[i - j] * I;
}

static inline double complex product_of(const scalar *x, const scalar *y, int64_t depth)
{
    double complex sum = 0;

    for (int64_t d = 0; d < depth; d++)
        sum += factor(input(x + d)) * factor(input(y + d));
    return sum;
}

static inline double complex score_of(const struct head *head, int64_t i, int64_t j)
{
    double complex product = product_of(head->q + i * STRIDE, head->k + j * STRIDE, head->depth);

    return (double)head->scale * product + bias_of(head, i, j);
}

/* p and dscore, the gradient of the score, of every query and key. */
static inline void differentiate(const struct head *head)
{
    for (int64_t i = 0; i < head->queries; i++) {
        int64_t keys = head->mask == MASK_CAUSAL ? i + 1 : head->keys;
        bool masked = head->mask != MASK_NONE;
        double complex sum = 0, mean = 0;
        double largest = -INFINITY;
        for (int64_t j = 0; j < keys; j++) {
            p[i][j] = masked && j > i ? 0 : score_of(head, i, j);
            largest = fmax(largest, creal(p[i][j]));
        }
        for (int64_t j = 0; j < keys; j++)
            sum += p[i][j] = cexp(p[i][j] - largest);
        for (int64_t j = 0; j < keys; j++) {
            p[i][j] /= sum;
            mean += p[i][j] * product_of(dmixed + i * STRIDE, head->v + j * STRIDE, head->depth);
        }
        for (int64_t j = 0; j < head->keys; j++) {
            double complex d = product_of(dmixed + i * STRIDE, head->v + j * STRIDE, head->depth);
            dscore[i][j] = masked && j > i ? 0 : p[i][j] * (d - mean);
            p[i][j] = j < keys ? p[i][j] : 0;
        }
    }
}

/* Scratch and a margin that must stay as it is. Nothing may be read that was not written: it holds NaN. */
enum { MARGIN = 64 };

static inline scalar *begin_scratch(int64_t size)
{
    scalar *scratch = malloc((size_t)(size + MARGIN) * sizeof(*scratch));

    for (int64_t i = 0; i < size + MARGIN; i++)
        scratch[i] = i < size ? (scalar)NAN : 77;
    return scratch;
}

/* How many scalars of the margin were overwritten. */
static inline int end_scratch(scalar *scratch, int64_t size)
{
    int wrong = 0;

    for (int64_t i = size; i < size + MARGIN; i++)
        wrong += !((double)scratch[i] == 77);
    free(scratch);
    return wrong;
}

static inline int64_t longest(const struct head *head)
{
    return head->queries > head->keys ? head->queries : head->keys;
}

static inline int64_t scratch_size(const struct head *head)
{
    return attention_scratch(longest(head), head->depth);
}

/* Returns how many scalars beside the scratch were overwritten. The gradient is taken twice, for dk, dv and
 * dbias to be added up. */
static inline int run_forward_and_gradient(const struct kernels *kernels, const struct head *head)
{
    struct head_gradient gradient = {.dmixed = dmixed,
        .mixed_stride = STRIDE,
        .dq = dqkv,
        .dk = dqkv + head->depth,
        .dv = dqkv + 2 * head->depth,
        .dbias = head->bias ? middle(dbias, head) : NULL};
    scalar *scratch = begin_scratch(scratch_size(head));

    kernels->attention(head, mixed, STRIDE, scratch);
    for (int add = 0; add < 2; add++) {
        gradient.add = add;
        kernels->attention_gradient(head, &gradient, scratch);
    }
    return end_scratch(scratch, scratch_size(head));
}

/* The same for the tangents, after them. */
static inline int run_tangents(const struct kernels *kernels, const struct head *head)
{
    const int64_t size = attention_tangent_scratch(longest(head), head->depth);
    const struct head tangent = {.q = tqkv,
        .k = tqkv + head->depth,
        .v = tqkv + 2 * head->depth,
        .q_stride = STRIDE,
        .kv_stride = STRIDE,
        .bias = head->bias ? middle(tbias, head) : NULL};
    struct head_gradient gradient = {.dmixed = dmixed,
        .tdmixed = tdmixed,
        .mixed_stride = STRIDE,
        .dq = tdqkv,
        .dk = tdqkv + head->depth,
        .dv = tdqkv + 2 * head->depth,
        .dbias = head->bias ? middle(tdbias, head) : NULL};
    scalar *scratch = begin_scratch(size);

    kernels->attention_tangent(head, &tangent, tmixed, STRIDE, scratch);
    int wrong = end_scratch(scratch, size);
    scratch = begin_scratch(size);
    for (int add = 0; add < 2; add++) {
        gradient.add = add;
        kernels->attention_gradient_tangent(head, &tangent, &gradient, scratch);
    }
    return wrong + end_scratch(scratch, size);
}

#endif
