/* Kernels that go by rows: sums of columns, cross-entropy, attention weights and rotary positions. */
#include "model/kernels/level.h"

void KERNEL(add)(scalar *out, const scalar *a, const scalar *b, int64_t count)
{
    if (a && b) {
        SIMD
        for (int64_t i = 0; i < count; i++)
            out[i] = a[i] + b[i];
    } else if (a || b) {
        memmove(out, a ? a : b, (size_t)count * sizeof(*out));
    } else {
        memset(out, 0, (size_t)count * sizeof(*out));
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

/* The maximum, ignoring NaN; -infinity if all are NaN. Lanes are explicit, as not every compiler vectorises a
 * maximum that ignores NaN. */
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

/* Replaces scores by exp(scale * (score - most)); returns their sum. Inlined, it leaves a scale of 1 out. */
INLINE double soften_row(scalar *scores, int64_t count, scalar scale, scalar most)
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

/* The factor of the softmax in the gradient of loss + z_loss log_sum^2. The tangent divides by it, so it is
 * never 0: DBL_EPSILON is within its rounding. Both take the same factor, whatever the compiler contracts. */
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

/* Two passes over a row in the cache: the first finds the maximum, the second where it comes first. */
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

/* ---- rotary positions: pairs of elements of queries and keys turn by the angles of their row ---- */

/* Inlined into its cases, so that the compiler builds each usual half for itself, in whole vectors. */
INLINE void turn_head(scalar *x, const scalar *cosine, const scalar *sine, int64_t half, scalar direction)
{
    scalar *y = x + half;

    SIMD
    for (int64_t i = 0; i < half; i++) {
        scalar a = x[i], b = y[i], s = direction * sine[i];
        x[i] = a * cosine[i] - b * s;
        y[i] = b * cosine[i] + a * s;
    }
}

INLINE void turn_rows(scalar *x, int64_t stride, const scalar *cosine, const scalar *sine, int64_t rows,
    int64_t heads, int64_t half, scalar direction)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t h = 0; h < heads; h++)
            turn_head(x + r * stride + 2 * h * half, cosine + r * half, sine + r * half, half, direction);
}

void KERNEL(rotary)(scalar *x, int64_t stride, const scalar *cosine, const scalar *sine, int64_t rows,
    int64_t heads, int64_t half, bool back)
{
    const scalar direction = back ? -1 : 1;

    switch (half) {
#define CASE(half)                                                                                           \
    case half:                                                                                               \
        turn_rows(x, stride, cosine, sine, rows, heads, half, direction);                                    \
        break;
        CASE(4)
        CASE(8)
        CASE(16)
        CASE(32)
        CASE(64)
    default:
        turn_rows(x, stride, cosine, sine, rows, heads, half, direction);
    }
}
