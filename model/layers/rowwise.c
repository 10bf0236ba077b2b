#include "model/layers/rowwise.h"

/* The grains of shares: smaller shares would cost more than they save. */
enum { ROWS = 16, ELEMENTS = 4096, COLUMNS = 64 };

/* ---- LayerNorm ---- */

struct norm_work {
    const struct layernorm *norm;
    scalar *out;
    const scalar *in, *residual, *dout;
    bool add, alone;
};

static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct layernorm *norm = work->norm;
    int64_t at = begin * norm->width;

    (void)scratch;
    norm->team->kernels->layernorm(work->out + at, work->in + at, work->residual ? work->residual + at : NULL,
        norm->gain, norm->bias, norm->mean + begin, norm->scale + begin, end - begin, norm->width);
}

void layernorm_forward(
    const struct layernorm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows)
{
    const struct norm_work work = {.norm = norm, .out = out, .in = in, .residual = residual};

    team_run(norm->team, rows, ROWS, forward_share, &work);
}

/* A share's part of dgain and dbias stays in its scratch, unless there is only one share. */
static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct layernorm *norm = work->norm;
    int64_t at = begin * norm->width;
    scalar *dgain = work->alone ? norm->dgain : scratch, *dbias = work->alone ? norm->dbias : NULL;

    if (norm->dbias && !work->alone)
        dbias = scratch + norm->width;
    norm->team->kernels->layernorm_gradient(work->out + at, dgain, dbias, work->dout + at, work->in + at,
        norm->gain, norm->mean + begin, norm->scale + begin, end - begin, norm->width, work->add);
}

void layernorm_gradient(
    const struct layernorm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add)
{
    const struct team *team = norm->team;
    int64_t shares = team_shares(team, rows, ROWS);
    const struct norm_work work = {
        .norm = norm, .out = din, .dout = dout, .in = in, .add = add, .alone = shares == 1};

    team_run(team, rows, ROWS, gradient_share, &work);
    for (int64_t share = 0; shares > 1 && share < shares; share++) {
        const scalar *part = team->scratch + share * team->scratch_size;
        const struct kernels *kernels = team->kernels;
        kernels->spread(norm->dgain, share ? norm->dgain : NULL, part, 1, norm->width);
        if (norm->dbias)
            kernels->spread(norm->dbias, share ? norm->dbias : NULL, part + norm->width, 1, norm->width);
    }
}

/* ---- sums of columns ---- */

struct sums_work {
    const struct team *team;
    scalar *sums;
    const scalar *in;
    int64_t rows, columns;
    bool add;
};

static void sums_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct sums_work *work = context;

    (void)scratch;
    work->team->kernels->column_sums(
        work->sums + begin, work->in + begin, work->columns, work->rows, end - begin, work->add);
}

void column_sums(
    const struct team *team, scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add)
{
    const struct sums_work work = {team, sums, in, rows, columns, add};

    team_run(team, columns, COLUMNS, sums_share, &work);
}

/* ---- gelu ---- */

struct gelu_work {
    const struct team *team;
    scalar *y, *x, *dx;
    const scalar *slope; /* NULL in the forward pass */
    bool tanh;
};

static void gelu_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct gelu_work *work = context;
    const struct kernels *kernels = work->team->kernels;

    (void)scratch;
    if (work->slope)
        kernels->gelu_gradient(work->dx + begin, work->slope + begin, end - begin);
    else
        (work->tanh ? kernels->gelu_tanh : kernels->gelu)(work->y + begin, work->x + begin, end - begin);
}

void gelu_forward(const struct team *team, scalar *y, scalar *x, int64_t count, bool tanh)
{
    const struct gelu_work work = {.team = team, .y = y, .x = x, .tanh = tanh};

    team_run(team, count, ELEMENTS, gelu_share, &work);
}

void gelu_gradient(const struct team *team, scalar *dx, const scalar *slope, int64_t count)
{
    const struct gelu_work work = {.team = team, .dx = dx, .slope = slope};

    team_run(team, count, ELEMENTS, gelu_share, &work);
}

/* ---- cross-entropy ---- */

struct entropy_work {
    const struct kernels *kernels;
    double *loss;
    scalar *logits;
    const int32_t *target;
    const scalar *weight;
    int64_t vocabulary;
};

static void entropy_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct entropy_work *work = context;

    (void)scratch;
    for (int64_t row = begin; row < end; row++) {
        scalar *logits = work->logits + row * work->vocabulary;
        work->loss[row] = work->weight
                              ? work->kernels->cross_entropy_gradient(
                                    logits, work->vocabulary, work->target[row], work->weight[row])
                              : work->kernels->cross_entropy(logits, work->vocabulary, work->target[row]);
    }
}

void cross_entropy_rows(const struct team *team, double *loss, scalar *logits, const int32_t *target,
    const scalar *weight, int64_t rows, int64_t vocabulary)
{
    const struct entropy_work work = {team->kernels, loss, logits, target, weight, vocabulary};

    team_run(team, rows, ROWS, entropy_share, &work);
}

/* ---- predictions ---- */

struct predicted_work {
    const struct kernels *kernels;
    int32_t *predicted;
    const scalar *logits;
    int64_t vocabulary;
};

static void predicted_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct predicted_work *work = context;

    (void)scratch;
    for (int64_t row = begin; row < end; row++)
        work->predicted[row] =
            (int32_t)work->kernels->argmax(work->logits + row * work->vocabulary, work->vocabulary);
}

void predicted_rows(
    const struct team *team, int32_t *predicted, const scalar *logits, int64_t rows, int64_t vocabulary)
{
    const struct predicted_work work = {team->kernels, predicted, logits, vocabulary};

    team_run(team, rows, ROWS, predicted_share, &work);
}
