#ifndef NORMSWEEP_TESTS_MODEL_LAYERS_LAYER_CASE_H
#define NORMSWEEP_TESTS_MODEL_LAYERS_LAYER_CASE_H

/*
 * Tangents of one layer, in double. A layer is a function y of z, all its arguments side by side: its input
 * and its tensors. J is its Jacobian; w a gradient with respect to y:
 * - J v against differences of y, and <w, J v> against <J^T w, v>;
 * - the tangent of the gradient J^T w, along v in z and tw in w, against differences of the gradient; for tw
 *   = 0 it is the Hessian of w.y times v, which is symmetric.
 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "model/core/random.h"
#include "model/kernels/levels.h"
#include "model/layers/activation.h"
#include "model/layers/attention.h"
#include "model/layers/norm.h"

static const double exact = 1e-12, differences = 1e-8;

enum { MOST = 2000, ROWS = 7, IN = 5 };

struct layer {
    char name[64];
    int64_t in, out; /* scalars in z and in y */
    int64_t moved; /* the first so many of z have tangents */
    void (*forward)(const struct layer *layer, scalar *y, const scalar *z);
    /* After the forward pass at z.at. */
    void (*gradient)(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy);
    void (*tangent)(const struct layer *layer, scalar *ty, struct dual z);
    void (*gradient_tangent)(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy);
    bool bias; /* linear */
    enum norm_kind norm;
    enum activation activation;
    struct heads heads;
};

/* A team of one. */
static inline const struct team *layer_team(void)
{
    static scalar scratch[1 << 17];
    static struct team team = {
        .threads = 1, .scratch_size = sizeof(scratch) / sizeof(*scratch), .scratch = scratch};

    team.kernels = kernels_best(PRECISION_FLOAT);
    return &team;
}

static inline void draw(scalar *x, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = random_normal(seed, RANDOM_TEST, (uint64_t)i);
}

static inline double dot(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double size_of(const scalar *a, int64_t count)
{
    return sqrt(dot(a, a, count));
}

static const double step = 1e-3;

/* Weights of differences of sixth order at -3 .. 3 steps. */
static const double factors[] = {-1.0 / 60, 9.0 / 60, -45.0 / 60, 0, 45.0 / 60, -9.0 / 60, 1.0 / 60};

/* z + by * step * v */
static inline void move(scalar *to, struct dual z, int by, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = z.at[i] + by * step * z.tangent[i];
}

static inline double apart(const scalar *a, const scalar *b, int64_t count)
{
    double square = 0;

    for (int64_t i = 0; i < count; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square) / (1 + size_of(b, count));
}

/* The tangents of y and of the gradient along z.tangent and dy.tangent, by differences. */
static inline void differentiate(
    const struct layer *layer, struct dual z, struct dual dy, scalar *ty, scalar *tdz)
{
    static scalar at[MOST], gradient[MOST], y[MOST], dz[MOST];

    memset(ty, 0, MOST * sizeof(*ty));
    memset(tdz, 0, MOST * sizeof(*tdz));
    for (int p = -3; p <= 3; p++) {
        move(at, z, p, layer->in);
        move(gradient, dy, p, layer->out);
        layer->forward(layer, y, at);
        layer->gradient(layer, dz, at, gradient);
        for (int64_t i = 0; i < layer->out; i++)
            ty[i] += factors[p + 3] / step * y[i];
        for (int64_t i = 0; i < layer->in; i++)
            tdz[i] += factors[p + 3] / step * dz[i];
    }
}

static inline void expect(const struct layer *layer, const char *what, double error, double most)
{
    if (!(error <= most))
        test_fail(__FILE__, __LINE__, "%s: %s: %.3g", layer->name, what, error);
}

/* The results of one layer. Everything starts as NaN, so that nothing can be left unwritten. */
struct results {
    scalar y[MOST], dz[MOST], ty[MOST], tdz[MOST], hv[MOST], hu[MOST];
};

static inline void check_directions(const struct layer *layer, struct dual z, struct dual dy, const scalar *u)
{
    static const scalar zero[MOST];
    static struct results r;
    scalar *all = (scalar *)&r;

    for (size_t i = 0; i < sizeof(r) / sizeof(*all); i++)
        all[i] = NAN;
    layer->forward(layer, r.y, z.at);
    layer->gradient(layer, r.dz, z.at, dy.at);
    layer->tangent(layer, r.ty, z);
    double transposed = dot(r.dz, z.tangent, layer->in) - dot(dy.at, r.ty, layer->out);
    expect(layer, "transposed", fabs(transposed) / (size_of(dy.at, layer->out) * size_of(r.ty, layer->out)),
        exact);
    layer->gradient_tangent(layer, r.hv, z, (struct dual){dy.at, zero});
    layer->gradient_tangent(layer, r.tdz, z, dy);
    layer->tangent(layer, r.y, (struct dual){z.at, u});
    layer->gradient_tangent(layer, r.hu, (struct dual){z.at, u}, (struct dual){dy.at, zero});
    double asymmetric = dot(r.hv, u, layer->in) - dot(r.hu, z.tangent, layer->in);
    expect(
        layer, "symmetry", fabs(asymmetric) / (1 + size_of(u, layer->in) * size_of(r.hv, layer->in)), exact);
    differentiate(layer, z, dy, r.y, r.dz);
    expect(layer, "tangent", apart(r.ty, r.y, layer->out), differences);
    expect(layer, "tangent of gradient", apart(r.tdz, r.dz, layer->in), differences);
}

static inline void check_layer(const struct layer *layer)
{
    static scalar z[MOST], v[MOST], u[MOST], w[MOST], tw[MOST];

    CHECK(layer->in <= MOST && layer->out <= MOST);
    draw(z, layer->in, 1);
    draw(v, layer->in, 2);
    draw(u, layer->in, 3);
    draw(w, layer->out, 4);
    draw(tw, layer->out, 5);
    for (int64_t i = layer->moved; i < layer->in; i++)
        u[i] = v[i] = 0;
    check_directions(layer, (struct dual){z, v}, (struct dual){w, tw}, u);
}

#endif
