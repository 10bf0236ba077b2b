#include "model/layers/norm.h"

enum { ROWS = 16 }; /* the grain of shares: smaller shares would cost more than they save */

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

typedef __typeof__(((struct kernels *)NULL)->layernorm) norm_kernel;
typedef __typeof__(((struct kernels *)NULL)->layernorm_gradient) norm_gradient_kernel;

static norm_kernel forward_kernel(const struct norm *norm)
{
    const struct kernels *kernels = norm->team->kernels;
    const norm_kernel kernel[NORM_KIND_COUNT] = {
#define X(KIND, word, shift) [KIND] = kernels->word,
        NORMS(X)
#undef X
    };

    return kernel[norm->kind];
}

static norm_gradient_kernel gradient_kernel(const struct norm *norm)
{
    const struct kernels *kernels = norm->team->kernels;
    const norm_gradient_kernel kernel[NORM_KIND_COUNT] = {
#define X(KIND, word, shift) [KIND] = kernels->word##_gradient,
        NORMS(X)
#undef X
    };

    return kernel[norm->kind];
}

struct norm_work {
    const struct norm *norm;
    scalar *out;
    const scalar *in, *residual, *dout;
    bool add, alone;
};

static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    int64_t at = begin * norm->width;

    (void)scratch;
    forward_kernel(norm)(work->out + at, work->in + at, work->residual ? work->residual + at : NULL,
        norm->gain, norm->bias, norm->mean + begin, norm->scale + begin, end - begin, norm->width);
}

void norm_forward(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows)
{
    const struct norm_work work = {.norm = norm, .out = out, .in = in, .residual = residual};

    team_run(norm->team, rows, ROWS, forward_share, &work);
}

/* A share's part of dgain and dbias stays in its scratch, unless there is only one share. */
static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct norm_work *work = context;
    const struct norm *norm = work->norm;
    int64_t at = begin * norm->width;
    scalar *dgain = work->alone ? norm->dgain : scratch, *dbias = work->alone ? norm->dbias : NULL;

    if (norm->dbias && !work->alone)
        dbias = scratch + norm->width;
    gradient_kernel(norm)(work->out + at, dgain, dbias, work->dout + at, work->in + at, norm->gain,
        norm->mean + begin, norm->scale + begin, end - begin, norm->width, work->add);
}

void norm_gradient(
    const struct norm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add)
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
