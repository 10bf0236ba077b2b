/* Passes over planes of weights: sums in double, and the steps of adam. */
#include "model/kernels_level.h"

double KERNEL(dot)(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    SIMD_SUM(sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

void KERNEL(difference)(const scalar *a, const scalar *b, int64_t count, double *square, double *product)
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

void KERNEL(adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count)
{
    if (pass->coupled)
        adam_coupled_range(pass, weights, first, second, gradient, count);
    else if (pass->factor)
        adamw_factor_range(pass, weights, first, second, gradient, count);
    else
        adamw_range(pass, weights, first, second, gradient, count);
}

void KERNEL(adam_direction)(const struct adam_pass *pass, scalar *direction, const scalar *first,
    const scalar *second, const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        direction[i] = adam_update(&k, k.scale * gradient[i], &m, &v);
    }
}
