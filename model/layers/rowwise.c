#include "model/layers/layers.h"

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

    team_run(
        team, (struct items){columns, LINE_ELEMENTS, ELEMENT_NANOSECONDS * (double)rows}, sums_share, &work);
}

/* ---- scaled sums ---- */

struct scaled_work {
    const struct kernels *kernels;
    scalar *out;
    const scalar *a, *b;
    scalar factor;
};

static void scaled_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct scaled_work *work = context;

    (void)scratch;
    work->kernels->add_scaled(
        work->out + begin, work->a ? work->a + begin : NULL, work->b + begin, work->factor, end - begin);
}

void add_scaled(
    const struct team *team, scalar *out, const scalar *a, const scalar *b, double factor, int64_t count)
{
    const struct scaled_work work = {team->kernels, out, a, b, (scalar)factor};

    team_run(team, (struct items){count, LINE_ELEMENTS, ELEMENT_NANOSECONDS}, scaled_share, &work);
}

/* ---- cross-entropy ---- */

struct entropy_work {
    const struct entropy *of;
    double *loss;
    scalar *logits;
};

/* An exponential takes as long as two or three simple passes. */
static struct items rows_of(const struct entropy *entropy)
{
    return (struct items){entropy->rows, 1, 3 * ELEMENT_NANOSECONDS * (double)entropy->vocabulary};
}

static void entropy_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct entropy_work *work = context;
    const struct entropy *of = work->of;
    const struct kernels *kernels = of->team->kernels;

    (void)scratch;
    for (int64_t r = begin; r < end; r++) {
        scalar *logits = work->logits + r * of->vocabulary;
        work->loss[r] = of->weight
                            ? kernels->cross_entropy_gradient(logits, of->vocabulary, of->target[r],
                                  of->weight[r], of->z_loss, &of->log_sum[r])
                            : kernels->cross_entropy(logits, of->vocabulary, of->target[r], &of->log_sum[r]);
    }
}

void cross_entropy_rows(const struct entropy *entropy, double *loss, scalar *logits)
{
    const struct entropy_work work = {entropy, loss, logits};

    team_run(entropy->team, rows_of(entropy), entropy_share, &work);
}

struct entropy_tangent_work {
    const struct entropy *of;
    double *tloss;
    scalar *tlogits;
    const scalar *dlogits;
};

static void entropy_tangent_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct entropy_tangent_work *work = context;
    const struct entropy *of = work->of;

    (void)scratch;
    for (int64_t r = begin; r < end; r++) {
        int64_t at = r * of->vocabulary;
        work->tloss[r] = of->team->kernels->cross_entropy_tangent(work->tlogits + at, work->dlogits + at,
            of->vocabulary, of->target[r], of->weight[r], of->z_loss, of->log_sum[r]);
    }
}

void cross_entropy_tangent_rows(
    const struct entropy *entropy, double *tloss, scalar *tlogits, const scalar *dlogits)
{
    const struct entropy_tangent_work work = {entropy, tloss, tlogits, dlogits};

    team_run(entropy->team, rows_of(entropy), entropy_tangent_share, &work);
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

    team_run(team, (struct items){rows, 1, ELEMENT_NANOSECONDS * (double)vocabulary}, predicted_share, &work);
}
