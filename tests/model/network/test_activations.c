/* The activations of every vector level against the mathematics, and their manners with NaN. */
#include "tests/model/draw.h"

#include "tests/model/kernels/each_level.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 4e-6;
static const double gelu_rounding = sizeof(scalar) == sizeof(double)
                                        ? 3e-13
                                        : 5e-7; /* relative; libm's erfc of a rounded argument, far down */
static const double gelu_tanh_rounding =
    sizeof(scalar) == sizeof(double) ? 3e-13 : 2e-5; /* relative; the exponent's own rounding, far down */
static const double silu_rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 5e-7; /* relative */

enum { COUNT = 71 };

/* x Phi(x), relative to itself as far as it is a normal number, and its derivative. */
static void check_gelu(const struct kernels *kernels)
{
    for (int i = -30000; i <= 30000; i++) {
        scalar y, slope = (scalar)(i * 1e-3), curvature;
        long double x = (long double)slope, phi = erfcl(x * -0.70710678118654752440L) / 2;
        long double density = 0.39894228040143267794L * expl(x * x / -2);
        double value = (double)(x * phi);
        double derivative = (double)(phi + x * density);

        kernels->gelu(&y, &slope, &curvature, 1);
        CHECK_CLOSE((double)curvature, (double)(density * (2 - x * x)), rounding);
        CHECK_CLOSE((double)y, value, gelu_rounding * fabs(value) + 1e-36);
        CHECK_CLOSE((double)slope, derivative, rounding / 8);
    }
}

/* The same of its form with tanh: x times the logistic function of v. */
static void check_gelu_tanh(const struct kernels *kernels)
{
    const long double root = 1.59576912160573071175L; /* 2 sqrt(2 / pi) */

    for (int i = -30000; i <= 30000; i++) {
        scalar y, slope = (scalar)(i * 1e-3), curvature;
        long double x = (long double)slope, e = expl(-root * (x + 0.044715L * x * x * x)), p = 1 / (1 + e);
        double value = (double)(x * p);
        double derivative =
            (double)(p + (isfinite(e) ? x * p * (e * p) * root * (1 + 3 * 0.044715L * x * x) : 0));

        long double v1 = root * (1 + 3 * 0.044715L * x * x), v2 = root * 6 * 0.044715L * x, q = e * p * p;
        double second = isfinite(e) ? (double)(q * (2 * v1 + x * (v2 + (1 - 2 * p) * v1 * v1))) : 0;

        kernels->gelu_tanh(&y, &slope, &curvature, 1);
        CHECK_CLOSE((double)curvature, second, 2 * rounding);
        CHECK_CLOSE((double)y, value, gelu_tanh_rounding * fabs(value) + 1e-36);
        CHECK_CLOSE((double)slope, derivative, rounding);
    }
}

/* x times the logistic function p, and its derivatives p (1 + x r) and p r (2 + x (r - p)) with r = 1 - p. */
static void check_silu(const struct kernels *kernels)
{
    for (int i = -86000; i <= 86000; i++) {
        scalar y, slope = (scalar)(i * 1e-3), curvature;
        long double x = (long double)slope, p = 1 / (1 + expl(-x)), r = 1 / (1 + expl(x));
        double value = (double)(x * p), second = (double)(p * r * (2 + x * (r - p)));

        kernels->silu(&y, &slope, &curvature, 1);
        CHECK_CLOSE((double)curvature, second, rounding / 8);
        CHECK_CLOSE((double)y, value, silu_rounding * fabs(value) + 1e-36);
        CHECK_CLOSE((double)slope, (double)(p + x * p * r), rounding / 8);
    }
}

typedef __typeof__(*((struct kernels *)NULL)->gelu) gelu_function;

/* `bent`: the curvature at 0. */
static void check_ends(gelu_function *gelu, double bent)
{
    scalar x[] = {(scalar)INFINITY, (scalar)-INFINITY, (scalar)NAN, (scalar)1e30, (scalar)-1e30, 0}, y[6],
           bend[6];

    gelu(y, x, bend, 6);
    CHECK(bend[0] == 0 && bend[1] == 0 && isnan((double)bend[2]) && bend[3] == 0 && bend[4] == 0);
    CHECK_CLOSE((double)bend[5], bent, 1e-6);
    CHECK(isinf((double)y[0]) && y[0] > 0 && x[0] == 1);
    CHECK(y[1] == 0 && x[1] == 0);
    CHECK(isnan((double)y[2]) && isnan((double)x[2]));
    CHECK(y[3] == (scalar)1e30 && x[3] == 1);
    CHECK(y[4] == 0 && x[4] == 0);
    CHECK(y[5] == 0 && x[5] == (scalar)0.5);
}

/* One at a time and many at once are the same, and a product by elements is that of elements; nothing is
 * written beyond the end. */
static void check_counts(const struct kernels *kernels, gelu_function *gelu)
{
    scalar x[COUNT], y[COUNT], dx[COUNT];

    for (int count = 0; count <= 70; count++) {
        draw(x, COUNT, 2, 8);
        draw(y, COUNT, 1, 9);
        draw(dx, COUNT, 1, 10);
        scalar beyond_x = x[count], beyond_y = y[count], beyond_dx = dx[count];
        gelu(y, x, NULL, count);
        kernels->multiply(dx, dx, x, count);
        CHECK(x[count] == beyond_x && y[count] == beyond_y && dx[count] == beyond_dx);
        for (int i = 0; i < count; i++) {
            scalar one, slope = (scalar)(2 * random_normal(8, RANDOM_TEST, (uint64_t)i));
            gelu(&one, &slope, NULL, 1);
            CHECK_CLOSE((double)y[i], (double)one, rounding);
            CHECK_CLOSE((double)x[i], (double)slope, rounding);
            CHECK_CLOSE((double)dx[i], (double)x[i] * random_normal(10, RANDOM_TEST, (uint64_t)i), rounding);
        }
    }
}

static void check_manners(const struct kernels *kernels)
{
    check_ends(kernels->gelu, 0.7978846); /* 2 / sqrt(2 pi) */
    check_ends(kernels->gelu_tanh, 0.7978846);
    check_ends(kernels->silu, 0.5);
    check_counts(kernels, kernels->gelu);
    check_counts(kernels, kernels->gelu_tanh);
    check_counts(kernels, kernels->silu);
}

TEST(activations)
{
    each_level(check_gelu);
    each_level(check_gelu_tanh);
    each_level(check_silu);
    each_level(check_manners);
}
