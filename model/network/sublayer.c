/*
 * Where the norm stands beside a sub-layer S, in the residual stream x, and where its factor a:
 * - post: x' = LN(x + a S(x))
 * - pre:  x' = x + a S(LN(x))
 * - out:  x' = x + a LN(S(x))
 * With a = 1 the last product or the norm adds x; else x is added in a pass of its own.
 */
#include "model/network/inside.h"

#include <string.h>

const struct sublayer_row sublayer_table[SUBLAYER_KINDS] = {
    [SUBLAYER_ATTENTION] = {TENSOR_LN1, TENSOR_LN1_BIAS, attention_layout, attention_forward,
        attention_gradient, attention_attended, false},
    [SUBLAYER_CROSS] = {TENSOR_CROSS_LN, TENSOR_CROSS_LN_BIAS, attention_layout, attention_forward,
        attention_gradient, NULL, true},
    [SUBLAYER_DISTANCE] = {TENSOR_LN1, TENSOR_LN1_BIAS, distance_layout, distance_forward, NULL,
        distance_attended, false},
    [SUBLAYER_FEEDFORWARD] = {TENSOR_LN2, TENSOR_LN2_BIAS, feedforward_layout, feedforward_forward,
        feedforward_gradient, NULL, false},
};

void sublayer_layout(struct sublayer *s, enum sublayer_kind kind, int64_t layer,
    const struct architecture *architecture, int64_t rows, bool tangents, struct arena *arena)
{
    struct sublayer *tangent = tangents ? arena_take(arena, 1, sizeof(*tangent)) : NULL, counted;

    *s = (struct sublayer){.row = &sublayer_table[kind],
        .layer = layer,
        .norm = arena_plane(arena, rows, architecture->width),
        .mean = arena_plane(arena, rows, 1),
        .scale = arena_plane(arena, rows, 1),
        .out = arena_plane(arena, rows, architecture->width),
        .tangent = tangent};
    s->row->layout(s, architecture, rows, tangents, arena);
    if (tangents)
        sublayer_layout(tangent ? tangent : &counted, kind, layer, architecture, rows, false, arena);
}

static struct norm norm_of(const struct pass *pass, const struct sublayer *s)
{
    return pass_norm(pass, s->row->gain, s->row->shift, s->layer, s->mean, s->scale);
}

static double factor_of(const struct pass *pass)
{
    return pass->model->architecture.residual_scale;
}

/* Adds x where it was left out: out = x + factor out. */
static void add_stream(const struct pass *pass, scalar *out, const scalar *x)
{
    int64_t count = pass->packed.rows * pass->model->architecture.width;

    if (factor_of(pass) != 1)
        add_scaled(&pass->a->team, out, x, out, factor_of(pass), count);
}

void sublayer_forward(const struct pass *pass, const struct sublayer *s, struct dual x)
{
    const struct sublayer *to = x.tangent ? s->tangent : s;
    const scalar *stream = x.tangent ? x.tangent : x.at;
    const scalar *residual = factor_of(pass) == 1 ? stream : NULL; /* what S or the norm adds to */
    struct dual kept = dual_of(s->norm, to->norm, x.tangent);
    struct norm norm = norm_of(pass, s);
    int64_t rows = pass->packed.rows;

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        s->row->forward(pass, s, to->norm, x, residual);
        add_stream(pass, to->norm, stream);
        norm_forward(&norm, to->out, kept, NULL, rows);
        break;
    case NORM_PRE:
        norm_forward(&norm, to->norm, x, NULL, rows);
        s->row->forward(pass, s, to->out, kept, residual);
        add_stream(pass, to->out, stream);
        break;
    case NORM_OUT:
        s->row->forward(pass, s, to->norm, x, NULL);
        norm_forward(&norm, to->out, kept, residual, rows);
        add_stream(pass, to->out, stream);
        break;
    }
}

/* A gradient and its tangent; the latter is NULL in a pass without. */
struct back {
    scalar *d, *td;
};

/* din from dout through S. */
static void back_through(const struct pass *pass, const struct sublayer *s, struct back din, struct back dout,
    struct dual in, bool add)
{
    s->row->gradient(pass, s, din.d, (struct dual){.at = dout.d}, in, add);
    if (pass->tgradient)
        s->row->gradient(pass, s, din.td, (struct dual){dout.d, dout.td}, in, add);
}

/* The same through the norm. The tangent comes first, since din may overwrite dout. */
static void back_through_norm(const struct pass *pass, const struct sublayer *s, struct back din,
    struct back dout, struct dual in, bool add)
{
    struct norm norm = norm_of(pass, s);
    int64_t rows = pass->packed.rows;

    if (pass->tgradient)
        norm_gradient(&norm, din.td, (struct dual){dout.d, dout.td}, in, rows, add);
    norm_gradient(&norm, din.d, (struct dual){.at = dout.d}, in, rows, add);
}

/* to = factor from; a copy with factor 1. */
static void copy_back(const struct pass *pass, struct back to, struct back from)
{
    int64_t count = pass->packed.rows * pass->model->architecture.width;
    const struct team *team = &pass->a->team;

    if (factor_of(pass) == 1) {
        memcpy(to.d, from.d, (size_t)count * sizeof(scalar));
        if (pass->tgradient && to.td && from.td) /* the latter always; clang's analyser cannot know */
            memcpy(to.td, from.td, (size_t)count * sizeof(scalar));
        return;
    }
    add_scaled(team, to.d, NULL, from.d, factor_of(pass), count);
    if (pass->tgradient)
        add_scaled(team, to.td, NULL, from.td, factor_of(pass), count);
}

/* The gradient of what was added to the stream: the stream's own, or a->dscaled if there is a factor. */
static struct back added_gradient(const struct pass *pass, struct back stream)
{
    const struct activations *a = pass->a, *t = a->tangent;
    struct back scaled = {a->dscaled, t ? t->dscaled : NULL};

    if (factor_of(pass) == 1)
        return stream;
    copy_back(pass, scaled, stream);
    return scaled;
}

void sublayer_gradient(const struct pass *pass, const struct sublayer *s, struct dual x)
{
    struct dual kept = {s->norm, s->tangent ? s->tangent->norm : NULL};
    const struct activations *a = pass->a, *t = a->tangent;
    struct back stream = {a->dstream, t ? t->dstream : NULL}, inner = {a->dnorm, t ? t->dnorm : NULL};

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        back_through_norm(pass, s, stream, stream, kept, false);
        copy_back(pass, inner, stream);
        back_through(pass, s, stream, inner, x, true);
        break;
    case NORM_PRE:
        back_through(pass, s, inner, added_gradient(pass, stream), kept, false);
        back_through_norm(pass, s, stream, inner, x, true);
        break;
    case NORM_OUT:
        back_through_norm(pass, s, inner, added_gradient(pass, stream), kept, false);
        back_through(pass, s, stream, inner, x, true);
        break;
    }
}
