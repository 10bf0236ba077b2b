#include "model/layers/layers.h"

#include <math.h>

const struct norm_row norm_table[NORM_KIND_COUNT] = {
#define X(KIND, word, shift) [KIND] = {#word, shift},
    NORMS(X)
#undef X
};

const char *const norm_words[NORM_KIND_COUNT + 1] = {
#define X(KIND, word, shift) [KIND] = #word,
    NORMS(X)
#undef X
};

/* The kernels of one norm. */
struct norm_kernels {
    __typeof__(((struct kernels *)NULL)->layernorm) forward;
    __typeof__(((struct kernels *)NULL)->layernorm_gradient) gradient;
    __typeof__(((struct kernels *)NULL)->layernorm_tangent) tangent;
    __typeof__(((struct kernels *)NULL)->layernorm_gradient_tangent) gradient_tangent;
};

static struct norm_kernels kernels_of(const struct norm *norm)
{
    const struct kernels *kernels = norm->team->kernels;
    const struct norm_kernels of[NORM_KIND_COUNT] = {
#define X(KIND, word, shift)                                                                                 \
    [KIND] = {                                                                                               \
        kernels->word, kernels->word##_gradient, kernels->word##_tangent, kernels->word##_gradient_tangent},
        NORMS(X)
#undef X
    };

    return of[norm->kind];
}

struct norm_work {
    const struct norm *norm;
    scalar *out;
    const scalar *in, *residual, *dout;
    const scalar *tin, *tdout;
    bool add, alone;
};

/* One row of norm_forward, in double; a row that is not finite stays NaN. */
static void wide_row(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t row)
{
    int64_t width = norm->width;
    double mean = 0, square = 0;

    for (int64_t c = 0; c < width && norm->kind == LAYERNORM; c++)
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

/* Computes the rows of a share again whose variance has overflowed. A row that is not finite itself stays
 * NaN. */
static void mend_rows(const struct norm_work *work, int64_t begin, int64_t end)
{
    const struct norm *norm = work->norm;

    for (int64_t row = begin; row < end; row++) {
        int64_t at = row * norm->width;
        if (isnan((double)norm->scale[row]))
            wide_row(norm, work->out + at, work->in + at, work->residual ? work->residual + at : NULL, row);
    }
}

static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    int64_t at = begin * norm->width;

    (void)scratch;
    kernels_of(norm).forward(work->out + at, work->in + at, work->residual ? work->residual + at : NULL,
        norm->gain, norm->bias, (scalar)norm->epsilon, norm->mean + begin, norm->scale + begin, end - begin,
        norm->width);
    if (norm->wide)
        mend_rows(work, begin, end);
}

static struct items items_of(const struct norm *norm, int64_t rows, double passes)
{
    return (struct items){rows, 1, passes * ELEMENT_NANOSECONDS * (double)norm->width};
}

void norm_forward(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows)
{
    const struct norm_work work = {.norm = norm, .out = out, .in = in, .residual = residual};

    team_run(norm->team, items_of(norm, rows, 2), forward_share, &work);
}

/* The rows of a share, with their tangents. */
static struct norm_rows rows_of(const struct norm_work *work, int64_t begin, int64_t end)
{
    const struct norm *norm = work->norm;
    int64_t at = begin * norm->width;

    return (struct norm_rows){work->in + at, work->tin + at, norm->gain, norm->tgain, norm->tbias,
        norm->mean + begin, norm->scale + begin, end - begin, norm->width};
}

static void tangent_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm_rows rows = rows_of(work, begin, end);
    int64_t at = begin * rows.width;

    (void)scratch;
    kernels_of(work->norm).tangent(&rows, work->out + at, work->residual ? work->residual + at : NULL);
}

void norm_tangent(
    const struct norm *norm, scalar *tout, struct dual in, const scalar *tresidual, int64_t rows)
{
    const struct norm_work work = {
        .norm = norm, .out = tout, .in = in.at, .tin = in.tangent, .residual = tresidual};

    team_run(norm->team, items_of(norm, rows, 3), tangent_share, &work);
}

/* Where a share adds up its part of the gradients of gain and bias: in place if it is the only share and they
 * are wanted, else in its scratch. */
struct parts {
    scalar *gain, *bias;
};

static struct parts parts_of(const struct norm_work *work, scalar *scratch, scalar *gain, scalar *bias)
{
    int64_t width = work->norm->width;

    if (work->alone && gain)
        return (struct parts){gain, bias};
    return (struct parts){scratch, bias ? scratch + width : NULL};
}

static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    const struct parts parts = parts_of(work, scratch, norm->dgain, norm->dbias);
    int64_t at = begin * norm->width;

    kernels_of(norm).gradient(work->out + at, parts.gain, parts.bias, work->dout + at, work->in + at,
        norm->gain, norm->mean + begin, norm->scale + begin, end - begin, norm->width, work->add);
}

static void gradient_tangent_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    const struct parts parts = parts_of(work, scratch, norm->tdgain, norm->tdbias);
    const struct norm_rows rows = rows_of(work, begin, end);
    int64_t at = begin * rows.width;

    kernels_of(norm).gradient_tangent(
        &rows, work->out + at, parts.gain, parts.bias, work->dout + at, work->tdout + at, work->add);
}

/* Runs the shares of a gradient over the team, and adds up their parts. */
static void run_gradient(struct norm_work *work, team_share *share, int64_t rows, scalar *gain, scalar *bias)
{
    const struct team *team = work->norm->team;
    const struct items items = items_of(work->norm, rows, 4);
    int64_t shares = team_shares(team, items), width = work->norm->width;

    work->alone = shares == 1;
    team_run(team, items, share, work);
    for (int64_t i = 0; gain && shares > 1 && i < shares; i++) {
        const scalar *part = team->scratch + i * team->scratch_size;
        team->kernels->spread(gain, i ? gain : NULL, part, 1, width);
        if (bias)
            team->kernels->spread(bias, i ? bias : NULL, part + width, 1, width);
    }
}

void norm_gradient(
    const struct norm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add)
{
    struct norm_work work = {.norm = norm, .out = din, .dout = dout, .in = in, .add = add};

    run_gradient(&work, gradient_share, rows, norm->dgain, norm->dbias);
}

void norm_gradient_tangent(
    const struct norm *norm, scalar *tdin, struct dual dout, struct dual in, int64_t rows, bool add)
{
    struct norm_work work = {.norm = norm,
        .out = tdin,
        .dout = dout.at,
        .tdout = dout.tangent,
        .in = in.at,
        .tin = in.tangent,
        .add = add};

    run_gradient(&work, gradient_tangent_share, rows, norm->tdgain, norm->tdbias);
}
