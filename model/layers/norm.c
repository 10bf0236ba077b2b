/*
 * Norms by the whole team, which shares out the rows. In a gradient each share sums its rows up to a part of
 * those of gain and bias, in scratch of its own; the parts are added up in order.
 */
#include "model/layers/layers.h"

#include <math.h>

const struct norm_row norm_table[NORM_KIND_COUNT] = {
#define X(KIND, word, centred, shift) [KIND] = {#word, centred, shift},
    NORMS(X)
#undef X
};

const char *const norm_words[NORM_KIND_COUNT + 1] = {
#define X(KIND, word, centred, shift) [KIND] = #word,
    NORMS(X)
#undef X
};

struct norm_work {
    const struct norm *norm;
    struct dual in, dout; /* dout: gradients, else NULL */
    scalar *out; /* or din, or the tangent of either */
    const scalar *residual;
    scalar *dgain, *dbias; /* or their tangents; NULL: not wanted */
    bool add, alone;
};

static struct norm_rows rows_of(const struct norm_work *work, int64_t begin, int64_t end)
{
    const struct norm *norm = work->norm;
    int64_t at = begin * norm->width;

    return (struct norm_rows){.centred = norm_table[norm->kind].centred,
        .in = work->in.at + at,
        .tin = work->in.tangent ? work->in.tangent + at : NULL,
        .gain = norm->gain,
        .bias = norm->bias,
        .tgain = norm->tgain,
        .tbias = norm->tbias,
        .epsilon = (scalar)norm->epsilon,
        .mean = norm->mean + begin,
        .scale = norm->scale + begin,
        .rows = end - begin,
        .width = norm->width};
}

/* One row of norm_forward, in double; a row that is not finite stays NaN. */
static void wide_row(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t row)
{
    int64_t width = norm->width;
    double mean = 0, square = 0;

    for (int64_t c = 0; c < width && norm_table[norm->kind].centred; c++)
        mean += (double)in[c] / (double)width;
    for (int64_t c = 0; c < width; c++)
        square += ((double)in[c] - mean) * ((double)in[c] - mean);
    if (!isfinite(square))
        return;
    double scale = 1 / sqrt(square / (double)width + norm->epsilon);
    norm->mean[row] = (scalar)mean;
    norm->scale[row] = (scalar)scale;
    for (int64_t c = 0; c < width; c++)
        out[c] = (scalar)(((double)in[c] - mean) * scale * (double)norm->gain[c] +
                          (norm->bias ? (double)norm->bias[c] : 0) + (residual ? (double)residual[c] : 0));
}

static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    const struct norm_rows rows = rows_of(work, begin, end);
    int64_t width = norm->width, at = begin * width;
    const scalar *residual = work->residual ? work->residual + at : NULL;

    (void)scratch;
    if (rows.tin) {
        norm->team->kernels->norm_tangent(&rows, work->out + at, residual);
        return;
    }
    norm->team->kernels->norm(&rows, work->out + at, residual);
    /* Computes the rows again whose variance has overflowed. */
    for (int64_t row = begin; norm->wide && row < end; row++)
        if (isnan((double)norm->scale[row]))
            wide_row(norm, work->out + row * width, work->in.at + row * width,
                work->residual ? work->residual + row * width : NULL, row);
}

static struct items items_of(const struct norm *norm, int64_t rows, double passes)
{
    return (struct items){rows, 1, passes * ELEMENT_NANOSECONDS * (double)norm->width};
}

void norm_forward(const struct norm *norm, scalar *out, struct dual in, const scalar *residual, int64_t rows)
{
    const struct norm_work work = {.norm = norm, .out = out, .in = in, .residual = residual};

    if (norm->kind == NO_NORM) {
        norm->team->kernels->add(out, residual, in.tangent ? in.tangent : in.at, rows * norm->width);
        return;
    }
    team_run(norm->team, items_of(norm, rows, in.tangent ? 3 : 2), forward_share, &work);
}

/* Adds up its part of the gradients of gain and bias in place if it is the only share and they are wanted,
 * else in its scratch. */
static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct kernels *kernels = work->norm->team->kernels;
    const struct norm_rows rows = rows_of(work, begin, end);
    int64_t at = begin * rows.width;
    struct norm_gradient gradient = {.dout = work->dout.at + at,
        .tdout = work->dout.tangent ? work->dout.tangent + at : NULL,
        .din = work->out + at,
        .add = work->add,
        .dgain = work->dgain,
        .dbias = work->dbias};

    if (!work->alone || !work->dgain) {
        gradient.dgain = scratch;
        gradient.dbias = work->dbias ? scratch + rows.width : NULL;
    }
    (gradient.tdout ? kernels->norm_gradient_tangent : kernels->norm_gradient)(&rows, &gradient);
}

void norm_gradient(
    const struct norm *norm, scalar *din, struct dual dout, struct dual in, int64_t rows, bool add)
{
    const struct team *team = norm->team;
    const struct items items = items_of(norm, rows, 4);
    int64_t shares = team_shares(team, items), width = norm->width;
    const struct norm_work work = {.norm = norm,
        .in = in,
        .dout = dout,
        .out = din,
        .dgain = dout.tangent ? norm->tdgain : norm->dgain,
        .dbias = dout.tangent ? norm->tdbias : norm->dbias,
        .add = add,
        .alone = shares == 1};

    if (norm->kind == NO_NORM) {
        team->kernels->add(din, add ? din : NULL, dout.tangent ? dout.tangent : dout.at, rows * width);
        return;
    }
    team_run(team, items, gradient_share, &work);
    for (int64_t i = 0; work.dgain && shares > 1 && i < shares; i++) {
        const scalar *part = team->scratch + i * team->scratch_size;
        team->kernels->add(work.dgain, i ? work.dgain : NULL, part, width);
        if (work.dbias)
            team->kernels->add(work.dbias, i ? work.dbias : NULL, part + width, width);
    }
}
