/*
 * Where the norm stands beside a sub-layer S, in the residual stream x:
 * - post: x' = LN(x + S(x))
 * - pre:  x' = x + S(LN(x))
 * - out:  x' = x + LN(S(x))
 */
#include "model/network/sublayer.h"

#include <string.h>

#include "model/layers/norm.h"
#include "model/network/attention.h"
#include "model/network/feedforward.h"
#include "model/network/pass.h"

const struct sublayer_row sublayer_table[SUBLAYER_KINDS] = {
    [SUBLAYER_ATTENTION] = {TENSOR_LN1, TENSOR_LN1_BIAS, attention_layout, attention_forward,
        attention_gradient},
    [SUBLAYER_FEEDFORWARD] = {TENSOR_LN2, TENSOR_LN2_BIAS, feedforward_layout, feedforward_forward,
        feedforward_gradient},
};

void sublayer_layout(struct sublayer *s, enum sublayer_kind kind, int64_t layer,
    const struct architecture *architecture, int64_t rows, struct arena *arena)
{
    *s = (struct sublayer){.row = &sublayer_table[kind],
        .layer = layer,
        .norm = arena_plane(arena, rows, architecture->width),
        .mean = arena_plane(arena, rows, 1),
        .scale = arena_plane(arena, rows, 1),
        .out = arena_plane(arena, rows, architecture->width)};
    s->row->layout(s, architecture, rows, arena);
}

static struct norm norm_of(const struct pass *pass, const struct sublayer *s)
{
    return pass_norm(pass, s->row->gain, s->row->shift, s->layer, s->mean, s->scale);
}

void sublayer_forward(const struct pass *pass, const struct sublayer *s, const scalar *x)
{
    struct norm norm = norm_of(pass, s);
    int64_t rows = pass->batch->rows;

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        s->row->forward(pass, s, s->norm, x, x);
        norm_forward(&norm, s->out, s->norm, NULL, rows);
        break;
    case NORM_PRE:
        norm_forward(&norm, s->norm, x, NULL, rows);
        s->row->forward(pass, s, s->out, s->norm, x);
        break;
    case NORM_OUT:
        s->row->forward(pass, s, s->norm, x, NULL);
        norm_forward(&norm, s->out, s->norm, x, rows);
        break;
    }
}

void sublayer_gradient(const struct pass *pass, const struct sublayer *s, const scalar *x)
{
    struct norm norm = norm_of(pass, s);
    scalar *dstream = pass->a->dstream, *dnorm = pass->a->dnorm;
    int64_t rows = pass->batch->rows;

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        norm_gradient(&norm, dstream, dstream, s->norm, rows, false);
        memcpy(dnorm, dstream, (size_t)(rows * norm.width) * sizeof(*dnorm));
        s->row->gradient(pass, s, dstream, dnorm, x, true);
        break;
    case NORM_PRE:
        s->row->gradient(pass, s, dnorm, dstream, s->norm, false);
        norm_gradient(&norm, dstream, dnorm, x, rows, true);
        break;
    case NORM_OUT:
        norm_gradient(&norm, dnorm, dstream, s->norm, rows, false);
        s->row->gradient(pass, s, dstream, dnorm, x, true);
        break;
    }
}
