/*
 * The tangents and all sums are double; a tangent is rounded to scalar on its way through a block. First for
 * the exponents, then for the angular ones, there is a round that draws the tangents, and one for each block
 * that they pass, forward and, for a sweep, back. A round takes one tangent after the other, so that a caller
 * can stop between them: in Gram-Schmidt, a tangent needs only those before it.
 */
#include "model/instruments/inside.h"

#include <string.h>

void lyapunov_layout(struct lyapunov *l, const struct architecture *architecture, int64_t exponents,
    int64_t sweeps, int64_t rows, struct arena *arena)
{
    size_t wanted = (size_t)exponents, size = (size_t)(rows * architecture->width);
    size_t stacks = (size_t)architecture_stacks(architecture);

    *l = (struct lyapunov){.wanted = exponents, .sweeps = sweeps};
    l->exponent = arena_take(arena, stacks * wanted, sizeof(double));
    l->angular = arena_take(arena, stacks * wanted, sizeof(double));
    l->tangent = arena_take(arena, wanted * size, sizeof(double));
    l->sum = arena_take(arena, wanted, sizeof(double));
    l->state = arena_take(arena, size, sizeof(scalar));
}

void lyapunov_begin(struct lyapunov *l, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t stack, int64_t seed)
{
    const struct stack_form form = architecture_stack(&model->architecture, stack);

    l->model = model;
    l->weights = weights;
    l->batch = batch_first(batch);
    l->stack = stack;
    l->first = form.begin;
    l->layers = form.end - form.begin;
    l->seed = (uint64_t)seed;
    l->rows = transformer_side(model, &l->batch, stack).rows;
    l->size = l->rows * model->architecture.width;
    l->at = l->next = 0;
    l->end = 2 * (1 + (2 * l->sweeps + 1) * l->layers);
    transformer_forward(model, weights, &l->batch, false);
}

/*
 * Makes tangent i orthogonal to those before it, which are orthonormal, normalises it, and adds ln R_ii to
 * its sum. Modified Gram-Schmidt, twice: once leaves an error of rounding times the condition of the
 * tangents. A tangent that is exactly 0 then stays 0, and its sum becomes NaN.
 */
static void orthonormalise(struct lyapunov *l, int64_t i)
{
    double *v = l->tangent + i * l->size;

    for (int64_t j = 0; j < 2 * i; j++) {
        const double *u = l->tangent + j % i * l->size;
        double along = dot(u, v, l->size);
        for (int64_t c = 0; c < l->size; c++)
            v[c] -= along * u[c];
    }
    double norm = sqrt(dot(v, v, l->size));
    l->sum[i] += norm > 0 ? log(norm) : NAN;
    for (int64_t c = 0; c < l->size; c++)
        v[c] = norm > 0 ? v[c] / norm : 0;
}

/* Takes from each token's part of a tangent what points along the token x, and multiplies by |x|^power. */
static void make_angular(const struct lyapunov *l, double *tangent, const scalar *state, int power)
{
    int64_t width = l->model->architecture.width;

    for (int64_t row = 0; row < l->rows; row++) {
        const scalar *x = state + row * width;
        double *v = tangent + row * width, square = 0, product = 0;
        for (int64_t c = 0; c < width; c++) {
            square += (double)x[c] * (double)x[c];
            product += (double)x[c] * v[c];
        }
        for (int64_t c = 0; c < width; c++)
            v[c] = (v[c] - product / square * (double)x[c]) * pow(square, 0.5 * power);
    }
}

/*
 * Takes tangent i through a round: 0 draws it, each later one is a pass through a block by J_l or its
 * transpose. For the angular exponents that is P_(l+1) D_(l+1)^-1 J_l D_l P_l, where D_l has the tokens'
 * norms and P_l projects, or its transpose.
 */
static void take_tangent(const struct lyapunov *l, int64_t i, int64_t round, bool angular)
{
    int64_t done = (round - 1) % l->layers;
    bool back = (round - 1) / l->layers % 2;
    int64_t layer = back ? l->layers - 1 - done : done, block = l->first + layer;
    double *v = l->tangent + i * l->size;

    if (round == 0) {
        for (int64_t c = 0; c < l->size; c++)
            v[c] = random_normal(l->seed, RANDOM_LYAPUNOV, ((uint64_t)i << 40) + (uint64_t)c);
        if (angular)
            make_angular(l, v, transformer_state(l->model, l->stack, 0), 0);
        return;
    }
    if (done == 0)
        l->sum[i] = 0;
    if (angular)
        make_angular(l, v, transformer_state(l->model, l->stack, layer + back), back ? -1 : 1);
    for (int64_t c = 0; c < l->size; c++)
        l->state[c] = (scalar)v[c];
    if (back)
        transformer_block_gradient(l->model, l->weights, &l->batch, block, l->state);
    else
        transformer_block_tangent(l->model, l->weights, &l->batch, block, l->state);
    for (int64_t c = 0; c < l->size; c++)
        v[c] = (double)l->state[c];
    if (angular)
        make_angular(l, v, transformer_state(l->model, l->stack, layer + !back), back ? 1 : -1);
}

bool lyapunov_advance(struct lyapunov *l)
{
    int64_t half = l->end / 2, round = l->at % half;
    bool angular = l->at >= half;
    int64_t most = angular ? l->size - l->rows : l->size, count = l->wanted < most ? l->wanted : most;

    if (l->next < count) { /* with a width of 1 there are no angular ones */
        take_tangent(l, l->next, round, angular);
        orthonormalise(l, l->next);
    }
    if (++l->next < count)
        return true;
    l->next = 0;
    l->at++;
    double *exponent = (angular ? l->angular : l->exponent) + l->stack * l->wanted;
    for (int64_t i = 0; round == half - 1 && i < l->wanted; i++)
        exponent[i] = i < count ? l->sum[i] / (double)l->layers : NAN;
    return l->at < l->end;
}
