/* Sums of columns, scaled sums, and cross-entropy with predictions by the whole team. */
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
    double *loss; /* or its tangent */
    scalar *logits; /* or their tangents */
    const scalar *dlogits; /* of tangents; else NULL */
};

static void entropy_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct entropy_work *work = context;
    const struct entropy *of = work->of;
    const struct kernels *kernels = of->team->kernels;

    (void)scratch;
    for (int64_t r = begin; r < end; r++) {
        int64_t at = r * of->vocabulary, target = of->target[r];
        scalar *logits = work->logits + at;
        if (of->predicted && !work->dlogits)
            of->predicted[r] = (int32_t)kernels->argmax(logits, of->vocabulary);
        if (work->dlogits)
            work->loss[r] = kernels->cross_entropy_tangent(logits, work->dlogits + at, of->vocabulary, target,
                of->weight[r], of->z_loss, of->log_sum[r]);
        else if (of->weight)
            work->loss[r] = kernels->cross_entropy_gradient(
                logits, of->vocabulary, target, of->weight[r], of->z_loss, &of->log_sum[r]);
        else
            work->loss[r] = kernels->cross_entropy(logits, of->vocabulary, target, &of->log_sum[r]);
    }
}

/* An exponential takes as long as two or three simple passes. */
static void run_entropy(const struct entropy_work *work)
{
    const struct entropy *of = work->of;
    const struct items rows = {of->rows, 1, 3 * ELEMENT_NANOSECONDS * (double)of->vocabulary};

    team_run(of->team, rows, entropy_share, work);
}

void cross_entropy_rows(const struct entropy *entropy, double *loss, scalar *logits)
{
    run_entropy(&(const struct entropy_work){entropy, loss, logits, NULL});
}

void cross_entropy_tangent_rows(
    const struct entropy *entropy, double *tloss, scalar *tlogits, const scalar *dlogits)
{
    run_entropy(&(const struct entropy_work){entropy, tloss, tlogits, dlogits});
}
