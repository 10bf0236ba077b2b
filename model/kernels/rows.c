/* Kernels that go by rows: norms, cross-entropy and attention weights. */
#include "model/kernels/level.h"

/* Inlined, so that the compiler builds each norm for itself. */
#define INLINE_ROWS static inline __attribute__((always_inline))

void KERNEL(spread)(scalar *out, const scalar *residual, const scalar *bias, int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++) {
        scalar *to = out + r * columns;
        const scalar *from = residual ? residual + r * columns : NULL;

        if (from && bias) {
            SIMD
            for (int64_t c = 0; c < columns; c++)
                to[c] = from[c] + bias[c];
        } else if (from || bias) {
            memcpy(to, from ? from : bias, (size_t)columns * sizeof(*to));
        } else {
            memset(to, 0, (size_t)columns * sizeof(*to));
        }
    }
}

/* Takes four rows at a time, which loads and stores the sums, too long for the first-level cache, a quarter
 * as often. */
void KERNEL(column_sums)(
    scalar *sums, const scalar *in, int64_t stride, int64_t rows, int64_t columns, bool add)
{
    int64_t r = 0;

    if (!add)
        memset(sums, 0, (size_t)columns * sizeof(*sums));
    for (; r + 4 <= rows; r += 4) {
        const scalar *a = in + r * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        SIMD
        for (int64_t i = 0; i < columns; i++)
            sums[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; r < rows; r++) {
        const scalar *row = in + r * stride;
        SIMD
        for (int64_t i = 0; i < columns; i++)
            sums[i] += row[i];
    }
}

/* The number of rows that are summed side by side: a single sum waits for each of its additions. */
enum { SIDE_BY_SIDE = 4 };

/* Four rows from r on; the last row takes the place of missing rows. */
static void rows_from(
    const scalar *row[SIDE_BY_SIDE], const scalar *in, int64_t r, int64_t rows, int64_t width)
{
    for (int k = 0; k < SIDE_BY_SIDE; k++)
        row[k] = in + (r + k < rows ? r + k : rows - 1) * width;
}

static void row_means(scalar mean[SIDE_BY_SIDE], const scalar *row[SIDE_BY_SIDE], int64_t width)
{
    const scalar *x0 = row[0], *x1 = row[1], *x2 = row[2], *x3 = row[3];
    scalar a = 0, b = 0, c = 0, d = 0;

    SIMD_SUM(a, b, c, d)
    for (int64_t i = 0; i < width; i++) {
        a += x0[i];
        b += x1[i];
        c += x2[i];
        d += x3[i];
    }
    mean[0] = a / (scalar)width;
    mean[1] = b / (scalar)width;
    mean[2] = c / (scalar)width;
    mean[3] = d / (scalar)width;
}

static void row_variances(scalar variance[SIDE_BY_SIDE], const scalar mean[SIDE_BY_SIDE],
    const scalar *row[SIDE_BY_SIDE], int64_t width)
{
    const scalar *x0 = row[0], *x1 = row[1], *x2 = row[2], *x3 = row[3];
    scalar m0 = mean[0], m1 = mean[1], m2 = mean[2], m3 = mean[3];
    scalar a = 0, b = 0, c = 0, d = 0;

    SIMD_SUM(a, b, c, d)
    for (int64_t i = 0; i < width; i++) {
        a += (x0[i] - m0) * (x0[i] - m0);
        b += (x1[i] - m1) * (x1[i] - m1);
        c += (x2[i] - m2) * (x2[i] - m2);
        d += (x3[i] - m3) * (x3[i] - m3);
    }
    variance[0] = a / (scalar)width;
    variance[1] = b / (scalar)width;
    variance[2] = c / (scalar)width;
    variance[3] = d / (scalar)width;
}

static void norm_row(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar mean, scalar scale, int64_t width)
{
    if (residual) {
        SIMD
        for (int64_t c = 0; c < width; c++)
            out[c] = (in[c] - mean) * scale * gain[c] + (bias ? bias[c] : 0) + residual[c];
    } else {
        SIMD
        for (int64_t c = 0; c < width; c++)
            out[c] = (in[c] - mean) * scale * gain[c] + (bias ? bias[c] : 0);
    }
}

/* LayerNorm if `centred`, else RMSNorm, whose variance is about 0. */
INLINE_ROWS void norm_rows(bool centred, scalar *out, const scalar *in, const scalar *residual,
    const scalar *gain, const scalar *bias, scalar epsilon, scalar *mean, scalar *scale, int64_t rows,
    int64_t width)
{
    for (int64_t begin = 0; begin < rows; begin += SIDE_BY_SIDE) {
        int64_t end = begin + SIDE_BY_SIDE < rows ? begin + SIDE_BY_SIDE : rows;
        const scalar *row[SIDE_BY_SIDE];
        scalar means[SIDE_BY_SIDE] = {0}, variance[SIDE_BY_SIDE];

        rows_from(row, in, begin, rows, width);
        if (centred)
            row_means(means, row, width);
        row_variances(variance, means, row, width);
        for (int64_t r = begin; r < end; r++) {
            scalar v = variance[r - begin];
            mean[r] = means[r - begin];
            /* If the variance overflows, the row is NaN: a scale of 0 would hide the fault. */
            scale[r] = v < (scalar)INFINITY ? 1 / scalar_sqrt(v + epsilon) : (scalar)NAN;
            norm_row(out + r * width, in + r * width, residual ? residual + r * width : NULL, gain, bias,
                mean[r], scale[r], width);
        }
    }
}

void KERNEL(layernorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar epsilon, scalar *mean, scalar *scale, int64_t rows, int64_t width)
{
    norm_rows(true, out, in, residual, gain, bias, epsilon, mean, scale, rows, width);
}

void KERNEL(rmsnorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar epsilon, scalar *mean, scalar *scale, int64_t rows, int64_t width)
{
    norm_rows(false, out, in, residual, gain, bias, epsilon, mean, scale, rows, width);
}

/*
 * One row of din, and its contribution to dgain and dbias. With n = (in - mean) * scale and d = gain * dout:
 * din = scale * (d - mean(d) - n * mean(d n)), without mean(d) unless `centred`. Where
 * this is inlined, `centred` is a constant, and dbias NULL or known not to be: a condition would keep the
 * loop from becoming one of vectors.
 */
INLINE_ROWS void norm_gradient_row(bool centred, scalar *din, scalar *dgain, scalar *dbias,
    const scalar *dout, const scalar *in, const scalar *gain, scalar mean, scalar scale, int64_t width,
    bool add)
{
    scalar sum = 0, product = 0;

    SIMD_SUM(sum, product)
    for (int64_t c = 0; c < width; c++) {
        scalar n = (in[c] - mean) * scale, d = gain[c] * dout[c];
        dgain[c] += dout[c] * n;
        if (dbias)
            dbias[c] += dout[c];
        sum += d;
        product += d * n;
    }
    sum = centred ? sum / (scalar)width : 0;
    product *= scale / (scalar)width;
    SIMD
    for (int64_t c = 0; c < width; c++) {
        scalar d = scale * (gain[c] * dout[c] - sum - (in[c] - mean) * product);
        din[c] = add ? din[c] + d : d;
    }
}

/* dgain and dbias are sums over rows. */
static void clear_sums(scalar *dgain, scalar *dbias, int64_t width)
{
    memset(dgain, 0, (size_t)width * sizeof(*dgain));
    if (dbias)
        memset(dbias, 0, (size_t)width * sizeof(*dbias));
}

void KERNEL(layernorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
    const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
    int64_t width, bool add)
{
    clear_sums(dgain, dbias, width);
    for (int64_t r = 0; dbias && r < rows; r++)
        norm_gradient_row(true, din + r * width, dgain, dbias, dout + r * width, in + r * width, gain,
            mean[r], scale[r], width, add);
    for (int64_t r = 0; !dbias && r < rows; r++)
        norm_gradient_row(true, din + r * width, dgain, NULL, dout + r * width, in + r * width, gain, mean[r],
            scale[r], width, add);
}

void KERNEL(rmsnorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout, const scalar *in,
    const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows, int64_t width, bool add)
{
    clear_sums(dgain, dbias, width);
    for (int64_t r = 0; dbias && r < rows; r++)
        norm_gradient_row(false, din + r * width, dgain, dbias, dout + r * width, in + r * width, gain,
            mean[r], scale[r], width, add);
    for (int64_t r = 0; !dbias && r < rows; r++)
        norm_gradient_row(false, din + r * width, dgain, NULL, dout + r * width, in + r * width, gain,
            mean[r], scale[r], width, add);
}

/*
 * The maximum, ignoring NaN; -infinity if all are NaN. Lanes are explicit, as not every compiler vectorises a
 * maximum that ignores NaN.
 */
enum { LANE_COUNT = 16 };

static scalar maximum(const scalar *x, int64_t count)
{
    scalar lane[LANE_COUNT], most = -(scalar)INFINITY;
    int64_t i = 0;

    for (int k = 0; k < LANE_COUNT; k++)
        lane[k] = most;
    for (; i + LANE_COUNT <= count; i += LANE_COUNT) {
        SIMD
        for (int k = 0; k < LANE_COUNT; k++)
            lane[k] = x[i + k] > lane[k] ? x[i + k] : lane[k];
    }
    for (; i < count; i++)
        most = x[i] > most ? x[i] : most;
    for (int k = 0; k < LANE_COUNT; k++)
        most = lane[k] > most ? lane[k] : most;
    return most;
}

/* Long sums: each block is summed in scalars, the sums of blocks in double. */
enum { BLOCK = 1024 };

double KERNEL(cross_entropy)(const scalar *logits, int64_t count, int64_t target, double *log_sum)
{
    scalar most = maximum(logits, count);
    double sum = 0;

    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        int64_t end = begin + BLOCK < count ? begin + BLOCK : count;
        scalar part = 0;
        SIMD_SUM(part)
        for (int64_t i = begin; i < end; i++)
            part += exponential(logits[i] - most);
        sum += (double)part;
    }
    /* cppcheck-suppress invalidFunctionArg; count > 0 */
    *log_sum = log(sum) + (double)most;
    return *log_sum - (double)logits[target];
}

/* Replaces scores by exp(scale * (score - most)); returns their sum. A scale of 1 is left out where this is
 * inlined. */
INLINE_ROWS double soften_row(scalar *scores, int64_t count, scalar scale, scalar most)
{
    double sum = 0;

    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        int64_t end = begin + BLOCK < count ? begin + BLOCK : count;
        scalar part = 0;
        SIMD_SUM(part)
        for (int64_t i = begin; i < end; i++) {
            scalar e = exponential(scale * (scores[i] - most));
            scores[i] = e;
            part += e;
        }
        sum += (double)part;
    }
    return sum;
}

/*
 * The factor of the softmax in the gradient of loss + z_loss log_sum^2. The tangent divides by it, so it is
 * never 0: DBL_EPSILON is within its rounding. Both take the same factor, whatever the compiler contracts.
 */
static double softmax_factor(double z_loss, double log_sum)
{
    double factor = z_loss != 0 ? fma(2 * z_loss, log_sum, 1) : 1;

    return fabs(factor) < DBL_EPSILON ? DBL_EPSILON : factor;
}

double KERNEL(cross_entropy_gradient)(
    scalar *logits, int64_t count, int64_t target, scalar weight, double z_loss, double *log_sum)
{
    scalar most = maximum(logits, count), at_target = logits[target];
    double sum = soften_row(logits, count, 1, most);
    /* cppcheck-suppress invalidFunctionArg; count > 0 */
    *log_sum = log(sum) + (double)most;
    scalar factor = (scalar)((double)weight * softmax_factor(z_loss, *log_sum) / sum);
    SIMD
    for (int64_t i = 0; i < count; i++)
        logits[i] *= factor;
    logits[target] -= weight;
    return *log_sum - (double)at_target;
}

static double sum_of(const scalar *x, int64_t begin, int64_t end)
{
    double sum = 0;

    for (; begin < end; begin += BLOCK) {
        int64_t stop = begin + BLOCK < end ? begin + BLOCK : end;
        scalar part = 0;
        SIMD_SUM(part)
        for (int64_t i = begin; i < stop; i++)
            part += x[i];
        sum += (double)part;
    }
    return sum;
}

/*
 * With the softmax p, its factor s, and tangents t counted from that at the target, dlogits is weight s p,
 * less weight at the target. mean = sum p t is the tangent of the loss, and mean + that of the target's logit
 * is that of log_sum, m. The tangent of the gradient is weight p (s (t - mean) + 2 z_loss m), which is
 * weight s p (t - shift). As t is 0 at the target, the first sum does not read dlogits there, and stays
 * precise where p is almost 1.
 */
double KERNEL(cross_entropy_tangent)(scalar *tlogits, const scalar *dlogits, int64_t count, int64_t target,
    scalar weight, double z_loss, double log_sum)
{
    const double factor = softmax_factor(z_loss, log_sum);
    scalar at_target = tlogits[target], of_target = dlogits[target] + weight;
    double loss = 0;

    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        int64_t end = begin + BLOCK < count ? begin + BLOCK : count;
        scalar part = 0;
        SIMD_SUM(part)
        for (int64_t i = begin; i < end; i++)
            part += dlogits[i] * (tlogits[i] - at_target);
        loss += (double)part;
    }
    double mean = loss / ((double)weight * factor), shift = mean;
    if (z_loss != 0) {
        double t = mean + (double)at_target;
        loss = (double)weight * (mean + 2 * z_loss * log_sum * t);
        shift = mean - 2 * z_loss * t / factor;
        /* What the sum would lose where the factor is small. */
        of_target = (scalar)((double)weight * factor - sum_of(dlogits, 0, target) -
                             sum_of(dlogits, target + 1, count));
    }
    scalar from = (scalar)shift;
    SIMD
    for (int64_t i = 0; i < count; i++)
        tlogits[i] = dlogits[i] * ((tlogits[i] - at_target) - from);
    tlogits[target] = -from * of_target;
    return loss;
}

/* Two passes over a row that is in the cache: the first finds the maximum, the second where it comes first.
 */
int64_t KERNEL(argmax)(const scalar *x, int64_t count)
{
    scalar most = maximum(x, count);

    for (int64_t begin = 0; begin < count; begin += LANE_COUNT) {
        int64_t end = begin + LANE_COUNT < count ? begin + LANE_COUNT : count;
        int found = 0;
        SIMD_SUM(found)
        for (int64_t i = begin; i < end; i++)
            found += x[i] == most;
        for (int64_t i = begin; found && i < end; i++)
            if (x[i] == most)
                return i;
    }
    return 0; /* all are NaN */
}

/* Replaces scores by 1 if they tie with the largest, else by 0; NaN stays. Returns their sum. */
static double choose_row(scalar *scores, int64_t count, scalar most)
{
    const scalar tie = scalar_abs(most) * (scalar)HARD_TIE;
    double sum = 0;

    for (int64_t i = 0; i < count; i++) {
        scalar below = most - scores[i];
        scores[i] = below <= tie ? 1 : below > tie ? 0 : below;
        sum += (double)scores[i];
    }
    return sum;
}

void KERNEL(attention_weights)(scalar *scores, int64_t count, scalar scale, bool hard)
{
    scalar most = maximum(scores, count);
    double sum = hard ? choose_row(scores, count, most) : soften_row(scores, count, scale, most);
    scalar inverse = (scalar)(1 / sum);

    SIMD
    for (int64_t i = 0; i < count; i++)
        scores[i] *= inverse;
}
