/* Kernels that go by rows: LayerNorm and cross-entropy. */
#include "model/kernels_level.h"

#define LAYERNORM_EPSILON ((scalar)1e-5)

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

void KERNEL(column_sums)(scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add)
{
    if (!add)
        memset(sums, 0, (size_t)columns * sizeof(*sums));
    for (int64_t r = 0; r < rows; r++) {
        const scalar *row = in + r * columns;
        SIMD
        for (int64_t c = 0; c < columns; c++)
            sums[c] += row[c];
    }
}

static void layernorm_row(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar *mean, scalar *scale, int64_t width)
{
    scalar sum = 0, square = 0;

    SIMD_SUM(sum)
    for (int64_t c = 0; c < width; c++)
        sum += in[c];
    scalar m = sum / (scalar)width;
    SIMD_SUM(square)
    for (int64_t c = 0; c < width; c++)
        square += (in[c] - m) * (in[c] - m);
    /* A row too long to be squared is NaN, or it would pass for a healthy one of length 0. */
    scalar s =
        square < (scalar)INFINITY ? 1 / scalar_sqrt(square / (scalar)width + LAYERNORM_EPSILON) : (scalar)NAN;
    SIMD
    for (int64_t c = 0; c < width; c++)
        out[c] = (in[c] - m) * s * gain[c];
    if (bias) {
        SIMD
        for (int64_t c = 0; c < width; c++)
            out[c] += bias[c];
    }
    if (residual) {
        SIMD
        for (int64_t c = 0; c < width; c++)
            out[c] += residual[c];
    }
    *mean = m;
    *scale = s;
}

void KERNEL(layernorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar *mean, scalar *scale, int64_t rows, int64_t width)
{
    for (int64_t r = 0; r < rows; r++)
        layernorm_row(out + r * width, in + r * width, residual ? residual + r * width : NULL, gain, bias,
            mean + r, scale + r, width);
}

/* One row of din; with n = (in - mean) * scale, d = gain * dout: din = scale * (d - mean(d) - n * mean(d n)).
 */
static void layernorm_gradient_row(scalar *din, const scalar *dout, const scalar *in, const scalar *gain,
    scalar mean, scalar scale, int64_t width, bool add)
{
    scalar sum = 0, product = 0;

    SIMD_SUM(sum, product)
    for (int64_t c = 0; c < width; c++) {
        scalar d = gain[c] * dout[c];
        sum += d;
        product += d * ((in[c] - mean) * scale);
    }
    sum /= (scalar)width;
    product /= (scalar)width;
    if (add) {
        SIMD
        for (int64_t c = 0; c < width; c++)
            din[c] += scale * (gain[c] * dout[c] - sum - (in[c] - mean) * scale * product);
    } else {
        SIMD
        for (int64_t c = 0; c < width; c++)
            din[c] = scale * (gain[c] * dout[c] - sum - (in[c] - mean) * scale * product);
    }
}

void KERNEL(layernorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
    const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
    int64_t width, bool add)
{
    memset(dgain, 0, (size_t)width * sizeof(*dgain));
    if (dbias)
        KERNEL(column_sums)(dbias, dout, rows, width, false);
    for (int64_t r = 0; r < rows; r++) {
        const scalar *dy = dout + r * width, *x = in + r * width;
        scalar m = mean[r], s = scale[r];

        SIMD
        for (int64_t c = 0; c < width; c++)
            dgain[c] += dy[c] * ((x[c] - m) * s);
        layernorm_gradient_row(din + r * width, dy, x, gain, m, s, width, add);
    }
}

/* By lanes of its own: compilers do not all take a maximum that passes NaN over for a reduction. */
enum { LANE_COUNT = 16 };

static scalar maximum(const scalar *x, int64_t count)
{
    scalar lane[LANE_COUNT], most = x[0];
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

/* Long sums run in blocks of the vectors' own precision, the blocks' sums in double. */
enum { BLOCK = 1024 };

double KERNEL(cross_entropy)(const scalar *logits, int64_t count, int64_t target)
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
    return log(sum) + (double)most - (double)logits[target];
}

double KERNEL(cross_entropy_gradient)(scalar *logits, int64_t count, int64_t target, scalar weight)
{
    scalar most = maximum(logits, count), at_target = logits[target];
    double sum = 0;

    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        int64_t end = begin + BLOCK < count ? begin + BLOCK : count;
        scalar part = 0;
        SIMD_SUM(part)
        for (int64_t i = begin; i < end; i++) {
            scalar e = exponential(logits[i] - most);
            logits[i] = e;
            part += e;
        }
        sum += (double)part;
    }
    scalar factor = (scalar)((double)weight / sum);
    SIMD
    for (int64_t i = 0; i < count; i++)
        logits[i] *= factor;
    logits[target] -= weight;
    /* cppcheck-suppress invalidFunctionArg; count > 0 */
    return log(sum) + (double)most - (double)at_target;
}
