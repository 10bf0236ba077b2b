/*
 * The tangents of norms, cross-entropy and products by elements, at every vector level against plain formulas
 * of complex numbers: with tangents times a step whose square is 0 beside 1 as imaginary parts of the inputs,
 * the imaginary parts of results are their tangents times that step.
 */
#include "tests/test.h"

#include <complex.h>

#include "tests/model/draw.h"
#include "tests/model/kernels/each_level.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 4e-6;

static const double step = 1e-100;

enum { COUNT = 2100 };

static double tangent_of(double complex x)
{
    return cimag(x) / step;
}

/* A plane and its tangent. */
struct plane {
    scalar at[COUNT], t[COUNT];
};

static void draw_plane(struct plane *plane, double scale, uint64_t seed)
{
    draw(plane->at, COUNT, scale, seed);
    draw(plane->t, COUNT, scale, seed + 100);
}

static double complex element(const struct plane *plane, int64_t i)
{
    return (double)plane->at[i] + step * (double)plane->t[i] * I;
}

/* ---- norms ---- */

/* A norm of rows x width, out of the same draws whatever the size. */
struct norm_case {
    int64_t rows, width;
    bool centred; /* LayerNorm, else RMSNorm */
    bool bias, add;
    bool fixed; /* gain and bias have no tangents */
    struct plane in, dout, gain, bias_plane;
    scalar residual[COUNT], mean[COUNT], scale[COUNT], tout[COUNT], tdin[COUNT], tdgain[COUNT], tdbias[COUNT];
};

static void norm_draw(struct norm_case *k)
{
    draw_plane(&k->in, 2, 11);
    draw_plane(&k->dout, 1, 12);
    draw_plane(&k->gain, 1, 13);
    draw_plane(&k->bias_plane, 1, 14);
    draw(k->residual, COUNT, 1, 15);
    memcpy(k->tdin, k->residual, sizeof(k->tdin));
    if (k->fixed)
        memset(k->gain.t, 0, sizeof(k->gain.t));
    if (k->fixed || !k->bias)
        memset(k->bias_plane.t, 0, sizeof(k->bias_plane.t));
    for (int i = 0; i < COUNT; i++)
        k->tout[i] = k->tdgain[i] = k->tdbias[i] = 77;
}

static void norm_run(const struct kernels *kernels, struct norm_case *k, scalar *tdin)
{
    const struct norm_rows rows = {.centred = k->centred,
        .in = k->in.at,
        .tin = k->in.t,
        .gain = k->gain.at,
        .tgain = k->fixed ? NULL : k->gain.t,
        .tbias = k->fixed || !k->bias ? NULL : k->bias_plane.t,
        .epsilon = (scalar)1e-5,
        .mean = k->mean,
        .scale = k->scale,
        .rows = k->rows,
        .width = k->width};
    const struct norm_gradient gradient = {.dout = k->dout.at,
        .tdout = k->dout.t,
        .din = tdin,
        .add = k->add,
        .dgain = k->tdgain,
        .dbias = k->bias ? k->tdbias : NULL};

    kernels->norm(&rows, k->tout, NULL);
    kernels->norm_tangent(&rows, k->tout, k->add ? k->residual : NULL);
    kernels->norm_gradient_tangent(&rows, &gradient);
}

/* One row with its tangents: n, and the mean over the row of the gradients d and of d n. */
struct norm_row_values {
    double complex n[COUNT], scale, d, dn;
};

static void norm_row_values(const struct norm_case *k, int64_t r, struct norm_row_values *row)
{
    double complex mean = 0, square = 0;
    double width = (double)k->width;
    int64_t at = r * k->width;

    for (int64_t c = 0; c < k->width && k->centred; c++)
        mean += element(&k->in, at + c) / width;
    for (int64_t c = 0; c < k->width; c++)
        square += (element(&k->in, at + c) - mean) * (element(&k->in, at + c) - mean) / width;
    row->scale = 1 / csqrt(square + 1e-5);
    row->d = row->dn = 0;
    for (int64_t c = 0; c < k->width; c++) {
        double complex d = element(&k->gain, c) * element(&k->dout, at + c);
        row->n[c] = (element(&k->in, at + c) - mean) * row->scale;
        row->d += k->centred ? d / width : 0;
        row->dn += d * row->n[c] / width;
    }
}

/* One row of tout and tdin, and what it adds to dgain [width]. */
static void check_norm_row(const struct norm_case *k, int64_t r, double complex *dgain)
{
    static struct norm_row_values row;

    norm_row_values(k, r, &row);
    double scale = creal(row.scale), most = rounding * 40 * (1 + scale) * (1 + scale);
    for (int64_t c = 0; c < k->width; c++) {
        int64_t at = r * k->width + c;
        double residual = k->add ? (double)k->residual[at] : 0;
        double complex d = element(&k->gain, c) * element(&k->dout, at);
        double complex out = row.n[c] * element(&k->gain, c) + element(&k->bias_plane, c);
        double complex din = row.scale * (d - row.d - row.n[c] * row.dn);
        CHECK_CLOSE((double)k->tout[at], tangent_of(out) + residual, most);
        CHECK_CLOSE((double)k->tdin[at], tangent_of(din) + residual, most);
        dgain[c] += row.n[c] * element(&k->dout, at);
    }
}

static void check_norm_size(const struct kernels *kernels, struct norm_case *k)
{
    double complex dgain[COUNT] = {0};
    double largest = 0;
    int64_t size = k->rows * k->width;

    norm_draw(k);
    norm_run(kernels, k, k->tdin);
    CHECK((double)k->tout[size] == 77 && k->tdin[size] == k->residual[size]);
    CHECK((double)k->tdgain[k->width] == 77 && (double)k->tdbias[k->bias ? k->width : 0] == 77);
    for (int64_t r = 0; r < k->rows; r++) {
        check_norm_row(k, r, dgain);
        largest = (double)k->scale[r] > largest ? (double)k->scale[r] : largest;
    }
    for (int64_t c = 0; c < k->width; c++) {
        double sum = 0;
        for (int64_t r = 0; r < k->rows; r++)
            sum += (double)k->dout.t[r * k->width + c];
        CHECK_CLOSE((double)k->tdgain[c], tangent_of(dgain[c]), rounding * 40 * (1 + largest));
        if (k->bias)
            CHECK_CLOSE((double)k->tdbias[c], sum, rounding * 20);
    }
}

EACH_LEVEL(kernels_norm_tangents)
{
    static struct norm_case k;

    for (int64_t width = 1; width <= 70; width++)
        for (int kind = 0; kind < 2; kind++) {
            k.rows = 1 + width % 11;
            k.width = width;
            k.centred = kind;
            k.bias = width % 3 && k.centred;
            k.add = width % 2;
            k.fixed = width % 5 == 0;
            check_norm_size(kernels, &k);
        }
}

/* Under post the gradient's tangent takes the place of dout's. */
EACH_LEVEL(kernels_norm_tangent_in_place)
{
    enum { ROWS = 5, WIDTH = 19 };
    static struct norm_case k = {.rows = ROWS, .width = WIDTH, .centred = true, .bias = true};

    norm_draw(&k);
    norm_run(kernels, &k, k.tdin);
    norm_run(kernels, &k, k.dout.t);
    CHECK(memcmp(k.dout.t, k.tdin, ROWS * WIDTH * sizeof(scalar)) == 0);
}

/* ---- cross-entropy ---- */

static void check_cross_entropy_size(
    const struct kernels *kernels, int64_t count, double weight, double z_loss)
{
    static struct plane logits, gradient;
    double complex sum = 0, loss = 0;
    double largest = 0, log_sum;
    int64_t target = count / 3;

    draw_plane(&logits, 3, 21);
    gradient = logits;
    kernels->cross_entropy_gradient(gradient.at, count, target, (scalar)weight, z_loss, &log_sum);
    double tloss = kernels->cross_entropy_tangent(
        gradient.t, gradient.at, count, target, (scalar)weight, z_loss, log_sum);
    for (int64_t i = 0; i < count; i++) {
        sum += cexp(element(&logits, i));
        largest = fmax(largest, fabs((double)logits.t[i]));
    }
    largest *= 1 + 2 * z_loss * (1 + fabs(log_sum));
    loss = weight * (clog(sum) - element(&logits, target) + z_loss * clog(sum) * clog(sum));
    CHECK_CLOSE(tloss, tangent_of(loss), rounding * weight * largest);
    for (int64_t i = 0; i < count; i++) {
        double complex factor = 1 + 2 * z_loss * clog(sum);
        double complex expected = weight * (factor * cexp(element(&logits, i)) / sum - (i == target));
        CHECK_CLOSE((double)gradient.t[i], tangent_of(expected), rounding * weight * largest);
    }
    CHECK(gradient.at[count] == logits.at[count] && gradient.t[count] == logits.t[count]);
}

EACH_LEVEL(kernels_cross_entropy_tangent)
{
    for (int64_t count = 1; count <= 70; count++) {
        check_cross_entropy_size(kernels, count, 0.25, 0);
        check_cross_entropy_size(kernels, count, 0.25, 0.3);
    }
    check_cross_entropy_size(kernels, COUNT - 1, 1e-4, 0); /* several blocks of its sums */
    check_cross_entropy_size(kernels, COUNT - 1, 1e-4, 1e-2);
}

/* Where the target is almost certain, loss and curvature are small, and yet precise relative to themselves.
 */
EACH_LEVEL(kernels_cross_entropy_tangent_of_certainty)
{
    const double p = 1 / (1 + 2 * exp(-40.0)), rest = exp(-40.0) * p;
    scalar logits[] = {0, 40, 0}, t[] = {1000, 1001, 1003};
    double log_sum;

    kernels->cross_entropy_gradient(logits, 3, 1, 1, 0, &log_sum);
    CHECK_CLOSE(kernels->cross_entropy_tangent(t, logits, 3, 1, 1, 0, log_sum) / rest, 1, rounding);
    CHECK_CLOSE((double)t[0] / -rest, 1, rounding);
    CHECK_CLOSE((double)t[1] / -rest, 1, rounding);
    CHECK_CLOSE((double)t[2] / (2 * rest), 1, rounding);
}

/* Where 2 z_loss log_sum is -1, or nearly, the softmax has hardly a part in the gradient, and yet its tangent
 * is precise: two equal logits a, whose probabilities are 1/2. */
EACH_LEVEL(kernels_cross_entropy_tangent_of_vanishing_factor)
{
    for (int i = -2; i <= 2; i++) {
        const double z_loss = 0.25, beside = i * 1e-9, a = (-2 + beside) - log(2);
        scalar logits[] = {(scalar)a, (scalar)a}, t[] = {3, 1};
        double factor = 1 + 2 * z_loss * ((double)logits[0] + log(2)), log_sum;

        kernels->cross_entropy_gradient(logits, 2, 0, 1, z_loss, &log_sum);
        double tloss = kernels->cross_entropy_tangent(t, logits, 2, 0, 1, z_loss, log_sum);
        CHECK_CLOSE(tloss, 2 - 3 + (1 + 2 * z_loss * log_sum - 1) * 2, rounding);
        CHECK_CLOSE((double)t[0], 0.5 * factor + 2 * z_loss * 2 / 2, rounding);
        CHECK_CLOSE((double)t[1], -0.5 * factor + 2 * z_loss * 2 / 2, rounding);
    }
}

/* ---- products by elements ---- */

static void check_multiply_count(const struct kernels *kernels, int64_t count)
{
    static struct plane a, b;
    static scalar out[COUNT];

    draw_plane(&a, 1, 31);
    draw_plane(&b, 1, 32);
    draw(out, COUNT, 1, 33);
    scalar beside = out[count];
    kernels->multiply_tangent(out, a.at, a.t, b.at, b.t, count);
    for (int64_t i = 0; i < count; i++)
        CHECK_CLOSE((double)out[i], tangent_of(element(&a, i) * element(&b, i)), rounding);
    CHECK(out[count] == beside);
    scalar *const planes[] = {a.at, a.t, b.at, b.t};
    for (int i = 0; i < 4; i++) {
        draw_plane(&a, 1, 31);
        draw_plane(&b, 1, 32);
        kernels->multiply_tangent(planes[i], a.at, a.t, b.at, b.t, count);
        CHECK(memcmp(planes[i], out, (size_t)count * sizeof(scalar)) == 0);
    }
}

EACH_LEVEL(kernels_multiply_tangent)
{
    for (int64_t count = 0; count <= 70; count++)
        check_multiply_count(kernels, count);
    check_multiply_count(kernels, COUNT - 1);
}
