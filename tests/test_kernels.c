/* The loops of every vector level against plain formulas, and their manners with NaN. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "model/kernels.h"
#include "model/random.h"

#ifdef SCALAR_DOUBLE
static const double rounding = 1e-14;
static const double gelu_rounding = 3e-13; /* relative; libm's erfc of a rounded argument, far down */
#else
static const double rounding = 4e-6;
static const double gelu_rounding = 5e-7;
#endif

enum { COUNT = 1337 };

static const char *const levels[] = {"baseline", "avx2", "avx512"};

static void each_level(void (*check)(const struct kernels *))
{
    for (int i = 0; i < 3; i++) {
        setenv("NORMSWEEP_VECTOR", levels[i], 1);
        check(kernels_best()); /* a level that this processor lacks gives the best that it has */
    }
    unsetenv("NORMSWEEP_VECTOR");
}

static void draw(scalar *x, double scale, uint64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (scalar)(scale * random_normal(seed, RANDOM_TEST, (uint64_t)i));
}

static void check_cross_entropy(const struct kernels *kernels)
{
    static scalar x[COUNT], gradient[COUNT];
    double sum = 0, most = -INFINITY;

    draw(x, 8, 1);
    for (int i = 0; i < COUNT; i++)
        most = fmax(most, (double)x[i]);
    for (int i = 0; i < COUNT; i++)
        sum += exp((double)x[i] - most);
    double loss = log(sum) + most - (double)x[5];
    CHECK_CLOSE(kernels->cross_entropy(x, COUNT, 5), loss, rounding * loss);
    memcpy(gradient, x, sizeof(x));
    CHECK_CLOSE(kernels->cross_entropy_gradient(gradient, COUNT, 5, (scalar)0.25), loss, rounding * loss);
    for (int i = 0; i < COUNT; i++)
        CHECK_CLOSE((double)gradient[i], 0.25 * (exp((double)x[i] - most) / sum - (i == 5)), rounding);
}

TEST(kernels_cross_entropy)
{
    each_level(check_cross_entropy);
}

/* One logit against 0: the probability is exp(-x) / (1 + exp(-x)), relative to itself down to where floats
 * end. */
static void check_exponential(const struct kernels *kernels)
{
    for (int i = 0; i < 232; i++) {
        double x = 0.37 * i;
        scalar row[2] = {0, (scalar)-x};
        double e = exp((double)row[1]), expected = e / (1 + e);

        kernels->cross_entropy_gradient(row, 2, 0, 1);
        CHECK_CLOSE((double)row[1] / expected, 1, rounding / 8);
    }
    scalar far[2] = {0, -200};
    kernels->cross_entropy_gradient(far, 2, 0, 1);
    CHECK((double)far[0] == 0 && (double)far[1] < 1e-80);
}

TEST(kernels_exponential)
{
    each_level(check_exponential);
}

/* x Phi(x), relative to itself as far as it is a normal number, and its derivative. */
static void check_gelu(const struct kernels *kernels)
{
    for (int i = -30000; i <= 30000; i++) {
        scalar y, slope = (scalar)(i * 1e-3);
        long double x = (long double)slope, phi = erfcl(x * -0.70710678118654752440L) / 2;
        double value = (double)(x * phi);
        double derivative = (double)(phi + x * 0.39894228040143267794L * expl(x * x / -2));

        kernels->gelu(&y, &slope, 1);
        CHECK_CLOSE((double)y, value, gelu_rounding * fabs(value) + 1e-36);
        CHECK_CLOSE((double)slope, derivative, rounding / 8);
    }
}

static void check_gelu_ends(const struct kernels *kernels)
{
    scalar x[] = {(scalar)INFINITY, (scalar)-INFINITY, (scalar)NAN, (scalar)1e30, (scalar)-1e30, 0}, y[6];

    kernels->gelu(y, x, 6);
    CHECK(isinf((double)y[0]) && y[0] > 0 && x[0] == 1);
    CHECK(y[1] == 0 && x[1] == 0);
    CHECK(isnan((double)y[2]) && isnan((double)x[2]));
    CHECK(y[3] == (scalar)1e30 && x[3] == 1);
    CHECK(y[4] == 0 && x[4] == 0);
    CHECK(y[5] == 0 && x[5] == (scalar)0.5);
}

/* The same at every place of a vector and behind the last whole one; nothing is written beyond the end. */
static void check_gelu_counts(const struct kernels *kernels)
{
    scalar x[COUNT], y[COUNT], dx[COUNT];

    for (int count = 0; count <= 70; count++) {
        draw(x, 2, 8);
        draw(y, 1, 9);
        draw(dx, 1, 10);
        scalar beyond_x = x[count], beyond_y = y[count], beyond_dx = dx[count];
        kernels->gelu(y, x, count);
        kernels->gelu_gradient(dx, x, count);
        CHECK(x[count] == beyond_x && y[count] == beyond_y && dx[count] == beyond_dx);
        for (int i = 0; i < count; i++) {
            double at = 2 * random_normal(8, RANDOM_TEST, (uint64_t)i),
                   phi = erfc(at * -0.7071067811865476) / 2;
            double slope = phi + at * 0.3989422804014327 * exp(at * at / -2);
            CHECK_CLOSE((double)y[i], at * phi, rounding);
            CHECK_CLOSE((double)dx[i], slope * random_normal(10, RANDOM_TEST, (uint64_t)i), rounding);
        }
    }
}

TEST(kernels_gelu)
{
    each_level(check_gelu);
    each_level(check_gelu_ends);
    each_level(check_gelu_counts);
}

static void check_no_gradient(const struct kernels *kernels)
{
    struct adam_pass pass = {.rate = 1e-3,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-300,
        .correction1 = 0.1,
        .correction2 = 1e-3,
        .gradient_scale = 1};
    scalar weight = 1, first = 0, second = 0, gradient = 0;

    kernels->adam(&pass, &weight, &first, &second, &gradient, 1);
    CHECK((double)weight == 1); /* and not NaN */
}

TEST(kernels_adam_without_gradient)
{
    each_level(check_no_gradient);
}

static void check_nan(const struct kernels *kernels)
{
    static scalar x[COUNT], y[COUNT], moment[COUNT], weights[COUNT];
    struct adam_pass pass = {.rate = 1e-3,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .correction1 = 0.1,
        .correction2 = 1e-3,
        .gradient_scale = 1};

    draw(x, 1, 3);
    x[700] = NAN;
    CHECK(isnan(kernels->cross_entropy(x, COUNT, 5)));
    CHECK(isnan(kernels->dot(x, x, COUNT)));
    memcpy(y, x, sizeof(x));
    kernels->relu(y, COUNT);
    CHECK(isnan((double)y[700]) && (double)y[701] >= 0);
    kernels->adam(&pass, weights, moment, y, x, COUNT);
    CHECK(isnan((double)weights[700]));
    x[700] = (scalar)INFINITY;
    CHECK(isnan(kernels->cross_entropy(x, COUNT, 5)));
    CHECK(isinf(kernels->dot(x, x, COUNT)));
}

TEST(kernels_let_nan_through)
{
    each_level(check_nan);
}

static void check_adamw(const struct kernels *kernels)
{
    static scalar weights[COUNT], first[COUNT], second[COUNT], gradient[COUNT], direction[COUNT];
    static double expected[COUNT];
    struct adam_pass pass = {.rate = 1e-2,
        .weight_decay = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .correction1 = 0.19,
        .correction2 = 0.0199,
        .gradient_scale = 0.5};

    draw(weights, 1, 4);
    draw(first, 0.1, 5);
    draw(second, 0.1, 6);
    draw(gradient, 1, 7);
    for (int i = 0; i < COUNT; i++) {
        second[i] = second[i] < 0 ? -second[i] : second[i];
        double g = 0.5 * (double)gradient[i], m = 0.9 * (double)first[i] + 0.1 * g;
        double v = 0.99 * (double)second[i] + 0.01 * g * g;
        expected[i] = m / 0.19 / (sqrt(v / 0.0199) + 1e-8);
    }
    kernels->adam_direction(&pass, direction, first, second, gradient, COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK_CLOSE((double)direction[i], expected[i], rounding * (1 + fabs(expected[i])));
        expected[i] = (double)weights[i] - 1e-2 * (0.1 * (double)weights[i] + expected[i]);
    }
    kernels->adam(&pass, weights, first, second, gradient, COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK_CLOSE((double)weights[i], expected[i], rounding * (1 + fabs(expected[i])));
}

TEST(kernels_adamw)
{
    each_level(check_adamw);
}
