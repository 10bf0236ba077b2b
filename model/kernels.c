/*
 * Built once per vector level with KERNELS_LEVEL set to its name and the compiler's flags for it. The loops
 * are plain C that compilers vectorise: reductions are allowed to reassociate by `omp simd` alone, so that
 * NaN and infinities keep their meaning everywhere.
 */
#include "model/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIMD _Pragma("omp simd")
#define SIMD_SUM(...) SIMD_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_PRAGMA(text) _Pragma(#text)

#define LAYERNORM_EPSILON ((scalar)1e-5)

#ifdef SCALAR_DOUBLE
static inline double exponential(double x)
{
    return exp(x);
}
#define scalar_sqrt sqrt
#define SCALAR_LEAST DBL_MIN
#define scalar_erfc erfc
#else
/*
 * exp(x) for x <= 0 (and NaN), within 2 units in the last place down to -87, 0 below: 2^n times a
 * polynomial in the remainder |r| <= ln(2)/2 (Taylor's, to degree 7). Branch-free, so that it vectorises;
 * adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
 */
static inline float exponential(float x)
{
    const float round = 0x1.8p23f;
    float clipped = x < -87.0f ? -87.0f : x;
    float shifted = clipped * 0x1.715476p0f + round;
    float n = shifted - round;
    float r = (clipped - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float p = 1.98412698e-4f;
    int32_t bits;
    float power;

    p = p * r + 1.38888889e-3f;
    p = p * r + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;
    memcpy(&power, &bits, sizeof(power));
    return x < -87.0f ? 0 : p * power;
}
#define scalar_sqrt sqrtf
#define SCALAR_LEAST ((double)FLT_MIN)
#define scalar_erfc erfcf
#endif

/* Phi(x); through erfc, which keeps its relative precision where Phi is small. */
static inline scalar normal_cdf(scalar x)
{
    return scalar_erfc(x * (scalar)-0.7071067811865476) / 2;
}

static void spread(scalar *out, const scalar *residual, const scalar *bias, int64_t rows, int64_t columns)
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

static void column_sums(scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add)
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

static void layernorm(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
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

static void layernorm_gradient(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
    const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
    int64_t width, bool add)
{
    memset(dgain, 0, (size_t)width * sizeof(*dgain));
    if (dbias)
        column_sums(dbias, dout, rows, width, false);
    for (int64_t r = 0; r < rows; r++) {
        const scalar *dy = dout + r * width, *x = in + r * width;
        scalar m = mean[r], s = scale[r];

        SIMD
        for (int64_t c = 0; c < width; c++)
            dgain[c] += dy[c] * ((x[c] - m) * s);
        layernorm_gradient_row(din + r * width, dy, x, gain, m, s, width, add);
    }
}

static void relu(scalar *x, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        x[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays */
}

static void relu_gradient(scalar *dx, const scalar *y, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        dx[i] = y[i] == 0 ? 0 : dx[i];
}

/* x * Phi(x), with Phi the normal distribution function. */
static void gelu(scalar *y, const scalar *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] * normal_cdf(x[i]);
}

static void gelu_gradient(scalar *dx, const scalar *x, int64_t count)
{
    const scalar inverse_root_2pi = (scalar)0.3989422804014327;

    for (int64_t i = 0; i < count; i++)
        dx[i] *= normal_cdf(x[i]) + x[i] * inverse_root_2pi * exponential(x[i] * x[i] / -2);
}

/* By lanes of its own: compilers do not all take a maximum that passes NaN over for a reduction. */
enum { LANES = 16 };

static scalar maximum(const scalar *x, int64_t count)
{
    scalar lane[LANES], most = x[0];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = most;
    for (; i + LANES <= count; i += LANES) {
        SIMD
        for (int k = 0; k < LANES; k++)
            lane[k] = x[i + k] > lane[k] ? x[i + k] : lane[k];
    }
    for (; i < count; i++)
        most = x[i] > most ? x[i] : most;
    for (int k = 0; k < LANES; k++)
        most = lane[k] > most ? lane[k] : most;
    return most;
}

static void softmax(scalar *x, scalar scale, int64_t visible, int64_t columns)
{
    scalar most = maximum(x, visible), sum = 0; /* scale > 0: the same element stays the largest */

    SIMD_SUM(sum)
    for (int64_t j = 0; j < visible; j++) {
        scalar e = exponential(scale * (x[j] - most));
        x[j] = e;
        sum += e;
    }
    scalar inverse = 1 / sum;
    SIMD
    for (int64_t j = 0; j < visible; j++)
        x[j] *= inverse;
    memset(x + visible, 0, (size_t)(columns - visible) * sizeof(*x));
}

static void softmax_gradient(scalar *dx, const scalar *p, scalar scale, int64_t visible, int64_t columns)
{
    scalar sum = 0;

    SIMD_SUM(sum)
    for (int64_t j = 0; j < visible; j++)
        sum += p[j] * dx[j];
    SIMD
    for (int64_t j = 0; j < visible; j++)
        dx[j] = scale * p[j] * (dx[j] - sum);
    memset(dx + visible, 0, (size_t)(columns - visible) * sizeof(*dx));
}

/* Long sums run in blocks of the vectors' own precision, the blocks' sums in double. */
enum { BLOCK = 1024 };

static double cross_entropy(const scalar *logits, int64_t count, int64_t target)
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

static double cross_entropy_gradient(scalar *logits, int64_t count, int64_t target, scalar weight)
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

static double dot(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    SIMD_SUM(sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void difference(const scalar *a, const scalar *b, int64_t count, double *square, double *product)
{
    double sum = 0, cross = 0;

    SIMD_SUM(sum, cross)
    for (int64_t i = 0; i < count; i++) {
        double d = (double)b[i] - (double)a[i];
        sum += d * d;
        cross += (double)a[i] * d;
    }
    *square = sum;
    *product = cross;
}

/* The constants of a pass in the scalar's precision. */
struct adam_constants {
    scalar scale, beta1, rest1, beta2, rest2, correction1, correction2, epsilon;
};

static struct adam_constants adam_constants(const struct adam_pass *pass)
{
    return (struct adam_constants){
        .scale = (scalar)pass->gradient_scale,
        .beta1 = (scalar)pass->beta1,
        .rest1 = (scalar)(1 - pass->beta1),
        .beta2 = (scalar)pass->beta2,
        .rest2 = (scalar)(1 - pass->beta2),
        .correction1 = (scalar)(1 / pass->correction1),
        .correction2 = (scalar)(1 / pass->correction2),
        .epsilon =
            (scalar)fmax(pass->epsilon, SCALAR_LEAST), /* 0 would make 0 / 0 of weights without gradient */
    };
}

/* The moments with gradient g taken in, and u. */
static inline scalar adam_update(const struct adam_constants *k, scalar g, scalar *m, scalar *v)
{
    *m = k->beta1 * *m + k->rest1 * g;
    *v = k->beta2 * *v + k->rest2 * g * g;
    return *m * k->correction1 / (scalar_sqrt(*v * k->correction2) + k->epsilon);
}

/* theta - eta * (lambda * theta + u): in double and rounded once, so that a decay far below one unit in the
 * last place of theta still moves the mean of many weights by its due; a weight whose updates are all 0 is
 * the exception, for it has no rounding noise to be carried by. */
static void adamw_range(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);
    double rate = pass->rate, decay = pass->weight_decay;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        double theta = (double)weights[i];
        double u = (double)adam_update(&k, k.scale * gradient[i], &m, &v);
        first[i] = m;
        second[i] = v;
        weights[i] = (scalar)(theta - rate * (decay * theta + u));
    }
}

static void adamw_factor_range(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);
    scalar factor = (scalar)(1 - pass->rate * pass->weight_decay), rate = (scalar)pass->rate;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        scalar u = adam_update(&k, k.scale * gradient[i], &m, &v);
        scalar decayed = weights[i] * factor;
        first[i] = m;
        second[i] = v;
        weights[i] = decayed - rate * u;
    }
}

static void adam_coupled_range(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);
    scalar decay = (scalar)pass->weight_decay;
    double rate = pass->rate;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        scalar u = adam_update(&k, k.scale * gradient[i] + decay * weights[i], &m, &v);
        first[i] = m;
        second[i] = v;
        weights[i] = (scalar)((double)weights[i] - rate * (double)u);
    }
}

static void adam(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count)
{
    if (pass->coupled)
        adam_coupled_range(pass, weights, first, second, gradient, count);
    else if (pass->factor)
        adamw_factor_range(pass, weights, first, second, gradient, count);
    else
        adamw_range(pass, weights, first, second, gradient, count);
}

static void adam_direction(const struct adam_pass *pass, scalar *direction, const scalar *first,
    const scalar *second, const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        direction[i] = adam_update(&k, k.scale * gradient[i], &m, &v);
    }
}

#define NAME(level) NAME_(level)
#define NAME_(level) kernels_##level
#define TEXT(level) TEXT_(level)
#define TEXT_(level) #level

extern const struct kernels NAME(KERNELS_LEVEL);
const struct kernels NAME(KERNELS_LEVEL) = {
    .level = TEXT(KERNELS_LEVEL),
    .spread = spread,
    .column_sums = column_sums,
    .layernorm = layernorm,
    .layernorm_gradient = layernorm_gradient,
    .relu = relu,
    .relu_gradient = relu_gradient,
    .gelu = gelu,
    .gelu_gradient = gelu_gradient,
    .softmax = softmax,
    .softmax_gradient = softmax_gradient,
    .cross_entropy = cross_entropy,
    .cross_entropy_gradient = cross_entropy_gradient,
    .dot = dot,
    .difference = difference,
    .adam = adam,
    .adam_direction = adam_direction,
};
