/* Passes over planes of weights: sums in double, and the steps of the optimisers. */
#include "model/kernels/level.h"

double KERNEL(dot)(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    SIMD_SUM(sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

struct sums KERNEL(sums)(const scalar *a, const scalar *b, int64_t count)
{
    double square = 0, product = 0;

    SIMD_SUM(square, product)
    for (int64_t i = 0; i < count; i++) {
        square += (double)b[i] * (double)b[i];
        product += (double)a[i] * (double)b[i];
    }
    return (struct sums){square, product};
}

struct sums KERNEL(keep)(scalar *kept, const scalar *now, int64_t count)
{
    double square = 0, product = 0;

    SIMD_SUM(square, product)
    for (int64_t i = 0; i < count; i++) {
        double b = (double)now[i];
        square += b * b;
        product += (double)kept[i] * b;
        kept[i] = now[i];
    }
    return (struct sums){square, product};
}

struct sums KERNEL(difference)(const scalar *a, const scalar *b, int64_t count, double *b_square)
{
    double square = 0, product = 0, after = 0;

    SIMD_SUM(square, product, after)
    for (int64_t i = 0; i < count; i++) {
        double d = (double)b[i] - (double)a[i];
        square += d * d;
        product += (double)a[i] * d;
        after += (double)b[i] * (double)b[i];
    }
    *b_square = after;
    return (struct sums){square, product};
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

/* Updates the moments by gradient g and returns u. */
static inline scalar adam_update(const struct adam_constants *k, scalar g, scalar *m, scalar *v)
{
    *m = k->beta1 * *m + k->rest1 * g;
    *v = k->beta2 * *v + k->rest2 * g * g;
    return *m * k->correction1 / (scalar_sqrt(*v * k->correction2) + k->epsilon);
}

/* The decay of a weight theta with the update u. */
INLINE double decay_of(bool cautious, double decay, double theta, double u)
{
    return cautious && u * theta < 0 ? 0 : decay;
}

/* Each step is built twice: with the sums of struct moved, for runs that measure them, and without. The
 * weights are the same bit for bit. share: what the weight loses of itself by decay. */
#define COUNT_MOVED(theta, u, share)                                                                         \
    do {                                                                                                     \
        decaying += (share) != 0 ? (theta) * (theta) : 0;                                                    \
        square += (u) * (u);                                                                                 \
        product += (u) * ((theta) - (share) * (theta));                                                      \
    } while (0)

/*
 * theta - eta * (lambda * theta + u), in double and rounded once, so that a decay far below one unit in the
 * last place of theta still moves the mean of many weights by the right amount. Only a weight whose updates
 * are all 0 does not move: it has no rounding noise.
 */
INLINE void adamw_range(bool cautious, bool counted, const struct adam_pass *pass, scalar *weights,
    scalar *first, scalar *second, const scalar *gradient, int64_t count, struct moved *moved)
{
    struct adam_constants k = adam_constants(pass);
    double rate = pass->rate, decay = pass->weight_decay;
    double decaying = 0, square = 0, product = 0;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        double theta = (double)weights[i];
        double u = (double)adam_update(&k, k.scale * gradient[i], &m, &v);
        first[i] = m;
        second[i] = v;
        weights[i] = (scalar)(theta - rate * (decay_of(cautious, decay, theta, u) * theta + u));
        if (counted)
            COUNT_MOVED(theta, u, rate * decay_of(cautious, decay, theta, u));
    }
    if (counted)
        *moved = (struct moved){decaying, square, product};
}

INLINE void adamw_factor_range(bool counted, const struct adam_pass *pass, scalar *weights, scalar *first,
    scalar *second, const scalar *gradient, int64_t count, struct moved *moved)
{
    struct adam_constants k = adam_constants(pass);
    double share = pass->rate * pass->weight_decay, decaying = 0, square = 0, product = 0;
    scalar factor = (scalar)(1 - share), rate = (scalar)pass->rate;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        scalar u = adam_update(&k, k.scale * gradient[i], &m, &v);
        scalar theta = weights[i], decayed = theta * factor;
        first[i] = m;
        second[i] = v;
        weights[i] = decayed - rate * u;
        if (counted)
            COUNT_MOVED((double)theta, (double)u, share);
    }
    if (counted)
        *moved = (struct moved){decaying, square, product};
}

/* Its decay is a part of u: no share of a weight is lost by itself. */
INLINE void adam_coupled_range(bool counted, const struct adam_pass *pass, scalar *weights, scalar *first,
    scalar *second, const scalar *gradient, int64_t count, struct moved *moved)
{
    struct adam_constants k = adam_constants(pass);
    scalar decay = (scalar)pass->weight_decay;
    double rate = pass->rate, decaying = 0, square = 0, product = 0;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        double theta = (double)weights[i];
        double u = (double)adam_update(&k, k.scale * gradient[i] + decay * weights[i], &m, &v);
        first[i] = m;
        second[i] = v;
        weights[i] = (scalar)(theta - rate * u);
        if (counted)
            COUNT_MOVED(theta, u, 0.0);
    }
    if (counted)
        *moved = (struct moved){decaying, square, product};
}

INLINE void adam_range(bool counted, const struct adam_pass *pass, scalar *weights, scalar *first,
    scalar *second, const scalar *gradient, int64_t count, struct moved *moved)
{
    if (pass->coupled)
        adam_coupled_range(counted, pass, weights, first, second, gradient, count, moved);
    else if (pass->factor)
        adamw_factor_range(counted, pass, weights, first, second, gradient, count, moved);
    else if (pass->cautious)
        adamw_range(true, counted, pass, weights, first, second, gradient, count, moved);
    else
        adamw_range(false, counted, pass, weights, first, second, gradient, count, moved);
}

void KERNEL(adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count, struct moved *moved)
{
    if (moved)
        adam_range(true, pass, weights, first, second, gradient, count, moved);
    else
        adam_range(false, pass, weights, first, second, gradient, count, NULL);
}

struct sums KERNEL(adam_sums)(const struct adam_pass *pass, const scalar *weights, const scalar *first,
    const scalar *second, const scalar *gradient, int64_t count)
{
    struct adam_constants k = adam_constants(pass);
    double square = 0, product = 0;

    SIMD_SUM(square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar m = first[i], v = second[i];
        double u = (double)adam_update(&k, k.scale * gradient[i], &m, &v);
        square += u * u;
        product += (double)weights[i] * u;
    }
    return (struct sums){square, product};
}

/* u is what the buffer holds beside this step's decay. */
INLINE void sgd_range(bool counted, const struct sgd_pass *pass, scalar *weights, scalar *buffer,
    const scalar *gradient, int64_t count, struct moved *moved)
{
    scalar momentum = (scalar)pass->momentum, decay = (scalar)pass->weight_decay;
    scalar scale = (scalar)pass->gradient_scale;
    double rate = pass->rate, decaying = 0, square = 0, product = 0;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar b = momentum * buffer[i] + (scale * gradient[i] + decay * weights[i]);
        double theta = (double)weights[i];
        buffer[i] = b;
        weights[i] = (scalar)(theta - rate * (double)b);
        if (counted) {
            double u = (double)b - pass->weight_decay * theta;
            COUNT_MOVED(theta, u, rate * pass->weight_decay);
        }
    }
    if (counted)
        *moved = (struct moved){decaying, square, product};
}

void KERNEL(sgd)(const struct sgd_pass *pass, scalar *weights, scalar *buffer, const scalar *gradient,
    int64_t count, struct moved *moved)
{
    if (moved)
        sgd_range(true, pass, weights, buffer, gradient, count, moved);
    else
        sgd_range(false, pass, weights, buffer, gradient, count, NULL);
}

struct sums KERNEL(sgd_sums)(const struct sgd_pass *pass, const scalar *weights, const scalar *buffer,
    const scalar *gradient, int64_t count)
{
    scalar momentum = (scalar)pass->momentum, scale = (scalar)pass->gradient_scale;
    double square = 0, product = 0;

    SIMD_SUM(square, product)
    for (int64_t i = 0; i < count; i++) {
        double u = (double)(momentum * buffer[i] + scale * gradient[i]);
        square += u * u;
        product += (double)weights[i] * u;
    }
    return (struct sums){square, product};
}

/* Always with the sums: without them compilers would contract other products, and round otherwise. */
void KERNEL(descend)(
    const struct descent *descent, scalar *weights, const scalar *update, int64_t count, struct moved *moved)
{
    double rate = descent->rate, scale = descent->scale, decaying = 0, square = 0, product = 0;
    bool cautious = descent->cautious;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        double theta = (double)weights[i], u = scale * (double)update[i];
        double decay = decay_of(cautious, descent->weight_decay, theta, u);
        weights[i] = (scalar)(theta - rate * (decay * theta + u));
        COUNT_MOVED(theta, u, rate * decay);
    }
    if (moved)
        *moved = (struct moved){decaying, square, product};
}

/* sign(beta1 m + (1 - beta1) g); NaN unless that is finite, so that a run whose gradients are not diverges */
INLINE double lion_update(scalar beta1, scalar rest1, scalar m, scalar g)
{
    scalar mixed = beta1 * m + rest1 * g;

    return (mixed > 0) - (mixed < 0) + (double)(mixed - mixed);
}

INLINE void lion_range(bool cautious, bool counted, const struct lion_pass *pass, scalar *weights,
    scalar *first, const scalar *gradient, int64_t count, struct moved *moved)
{
    scalar beta1 = (scalar)pass->beta1, rest1 = (scalar)(1 - pass->beta1);
    scalar beta2 = (scalar)pass->beta2, rest2 = (scalar)(1 - pass->beta2);
    scalar scale = (scalar)pass->gradient_scale;
    double rate = pass->rate, decay = pass->weight_decay;
    double decaying = 0, square = 0, product = 0;

    SIMD_SUM(decaying, square, product)
    for (int64_t i = 0; i < count; i++) {
        scalar g = scale * gradient[i];
        double theta = (double)weights[i], u = lion_update(beta1, rest1, first[i], g);
        first[i] = beta2 * first[i] + rest2 * g;
        weights[i] = (scalar)(theta - rate * (decay_of(cautious, decay, theta, u) * theta + u));
        if (counted)
            COUNT_MOVED(theta, u, rate * decay_of(cautious, decay, theta, u));
    }
    if (counted)
        *moved = (struct moved){decaying, square, product};
}

void KERNEL(lion)(const struct lion_pass *pass, scalar *weights, scalar *first, const scalar *gradient,
    int64_t count, struct moved *moved)
{
    if (pass->cautious && moved)
        lion_range(true, true, pass, weights, first, gradient, count, moved);
    else if (pass->cautious)
        lion_range(true, false, pass, weights, first, gradient, count, NULL);
    else if (moved)
        lion_range(false, true, pass, weights, first, gradient, count, moved);
    else
        lion_range(false, false, pass, weights, first, gradient, count, NULL);
}

struct sums KERNEL(lion_sums)(const struct lion_pass *pass, const scalar *weights, const scalar *first,
    const scalar *gradient, int64_t count)
{
    scalar beta1 = (scalar)pass->beta1, rest1 = (scalar)(1 - pass->beta1);
    scalar scale = (scalar)pass->gradient_scale;
    double square = 0, product = 0;

    SIMD_SUM(square, product)
    for (int64_t i = 0; i < count; i++) {
        double u = lion_update(beta1, rest1, first[i], scale * gradient[i]);
        square += u * u;
        product += (double)weights[i] * u;
    }
    return (struct sums){square, product};
}

INLINE double look_ahead_range(bool keep, scalar *out, scalar *kept, const scalar *old,
    const scalar *gradient, int64_t count, scalar scale, scalar momentum, scalar rest)
{
    double sum = 0;

    SIMD_SUM(sum)
    for (int64_t i = 0; i < count; i++) {
        scalar g = scale * gradient[i], m = momentum * old[i] + rest * g, u = rest * g + momentum * m;
        if (keep)
            kept[i] = m;
        out[i] = u;
        sum += (double)u * (double)u;
    }
    return sum;
}

double KERNEL(look_ahead)(scalar *out, scalar *kept, const scalar *old, const scalar *gradient, int64_t count,
    double scale, double momentum)
{
    return look_ahead_range(kept != NULL, out, kept, old, gradient, count, (scalar)scale, (scalar)momentum,
        (scalar)(1 - momentum));
}

double KERNEL(add_squares)(scalar *sums, const scalar *x, int64_t count, double scale, double share)
{
    double sum = 0;

    SIMD_SUM(sum)
    for (int64_t i = 0; i < count; i++) {
        double g = scale * (double)x[i], s = g * g + 1e-30;
        sum += s;
        sums[i] += (scalar)(share * s);
    }
    return sum;
}

void KERNEL(over_root)(scalar *out, const scalar *x, const scalar *square, int64_t count, double factor)
{
    scalar rounded = (scalar)factor;

    SIMD
    for (int64_t i = 0; i < count; i++)
        out[i] = rounded * x[i] / scalar_sqrt(square[i]);
}
