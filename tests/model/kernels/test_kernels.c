/* The loops of every vector level against plain formulas, and their manners with NaN. */
#include "tests/model/draw.h"

#include "tests/model/kernels/each_level.h"

/* The error of a kernel's result of size 1. */
static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 4e-6;

enum { COUNT = 1337 };

EACH_LEVEL(kernels_cross_entropy)
{
    static scalar x[COUNT], gradient[COUNT];
    double sum = 0, most = -INFINITY, log_sum[2];

    draw(x, COUNT, 8, 1);
    for (int i = 0; i < COUNT; i++)
        most = (double)x[i] > most ? (double)x[i] : most; /* gcc 12 on arm64 fails on fmax */
    for (int i = 0; i < COUNT; i++)
        sum += exp((double)x[i] - most);
    double loss = log(sum) + most - (double)x[5];
    CHECK_CLOSE(kernels->cross_entropy(x, COUNT, 5, &log_sum[0]), loss, rounding * loss);
    CHECK_CLOSE(log_sum[0], log(sum) + most, rounding * loss);
    for (int i = 0; i < 3; i++) {
        double z_loss = 0.25 * i, factor = 1 + 2 * z_loss * (log(sum) + most);
        memcpy(gradient, x, sizeof(x));
        CHECK_CLOSE(kernels->cross_entropy_gradient(gradient, COUNT, 5, (scalar)0.25, z_loss, &log_sum[1]),
            loss, rounding * loss);
        CHECK_CLOSE(log_sum[1], log_sum[0], rounding * loss);
        for (int k = 0; k < COUNT; k++)
            CHECK_CLOSE((double)gradient[k], 0.25 * (factor * exp((double)x[k] - most) / sum - (k == 5)),
                factor * rounding);
    }
}

/* One logit against 0: the probability is exp(-x) / (1 + exp(-x)), relative to itself down to where floats
 * end. */
EACH_LEVEL(kernels_exponential)
{
    for (int i = 0; i < 232; i++) {
        double x = 0.37 * i;
        scalar row[2] = {0, (scalar)-x};
        double e = exp((double)row[1]), expected = e / (1 + e), log_sum;

        kernels->cross_entropy_gradient(row, 2, 0, 1, 0, &log_sum);
        CHECK_CLOSE((double)row[1] / expected, 1, rounding / 8);
    }
    scalar far[2] = {0, -200};
    double log_sum;
    kernels->cross_entropy_gradient(far, 2, 0, 1, 0, &log_sum);
    CHECK((double)far[0] == 0 && (double)far[1] < 1e-80);
}

static const struct adam_pass first_step = {.rate = 1e-3,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-300,
    .correction1 = 0.1,
    .correction2 = 1e-3,
    .gradient_scale = 1};

EACH_LEVEL(kernels_adam_without_gradient)
{
    scalar weight = 1, first = 0, second = 0, gradient = 0;

    kernels->adam(&first_step, &weight, &first, &second, &gradient, 1, NULL);
    CHECK((double)weight == 1); /* and not NaN */
}

EACH_LEVEL(kernels_let_nan_through)
{
    static scalar x[COUNT], y[COUNT], moment[COUNT], weights[COUNT];
    double log_sum;

    draw(x, COUNT, 1, 3);
    x[700] = NAN;
    CHECK(isnan(kernels->cross_entropy(x, COUNT, 5, &log_sum)));
    CHECK(isnan(kernels->dot(x, x, COUNT)));
    memcpy(y, x, sizeof(x));
    kernels->relu(y, COUNT);
    CHECK(isnan((double)y[700]) && (double)y[701] >= 0);
    kernels->adam(&first_step, weights, moment, y, x, COUNT, NULL);
    CHECK(isnan((double)weights[700]));
    x[700] = (scalar)INFINITY;
    CHECK(isnan(kernels->cross_entropy(x, COUNT, 5, &log_sum)));
    CHECK(isinf(kernels->dot(x, x, COUNT)));
}

EACH_LEVEL(kernels_add)
{
    static scalar a[COUNT], b[COUNT], out[COUNT];

    for (int count = 0; count < COUNT; count += count < 70 ? 1 : 211)
        for (int given = 0; given < 4; given++) {
            const scalar *left = given & 1 ? a : NULL, *right = given & 2 ? b : NULL;
            for (int target = 0; target < 3; target++) { /* out itself, or in place */
                scalar *to = target == 0 ? out : target == 1 ? a : b;
                draw(a, COUNT, 1, 17);
                draw(b, COUNT, 1, 18);
                draw(out, COUNT, 1, 19);
                kernels->add(to, left, right, count);
                for (int i = 0; i < COUNT; i++) {
                    scalar x = (scalar)random_normal(17, RANDOM_TEST, (uint64_t)i);
                    scalar y = (scalar)random_normal(18, RANDOM_TEST, (uint64_t)i);
                    scalar sum = (left ? x : 0) + (right ? y : 0);
                    scalar before = target == 0   ? (scalar)random_normal(19, RANDOM_TEST, (uint64_t)i)
                                    : target == 1 ? x
                                                  : y;
                    CHECK(to[i] == (i < count ? sum : before));
                }
            }
        }
}

/* Planes of one draw, whatever the count; [COUNT - 1] lies beyond every range. */
struct planes {
    scalar weights[COUNT], first[COUNT], second[COUNT], gradient[COUNT], out[COUNT];
};

static void planes_draw(struct planes *p)
{
    draw(p->weights, COUNT, 1, 4);
    draw(p->first, COUNT, 0.1, 5);
    draw(p->second, COUNT, 0.1, 6);
    draw(p->gradient, COUNT, 1, 7);
    memset(p->out, 0, sizeof(p->out));
    for (int i = 0; i < COUNT; i++)
        p->second[i] = p->second[i] < 0 ? -p->second[i] : p->second[i];
}

/* A check of ranges of `count` weights, around the sizes of vectors and a long one. */
static void each_count(void (*check)(const struct kernels *, int count), const struct kernels *kernels)
{
    for (int count = 0; count <= 70; count++)
        check(kernels, count);
    check(kernels, COUNT - 1);
}

static bool untouched(const struct planes *p, int from)
{
    static struct planes drawn;

    planes_draw(&drawn);
    return drawn.weights[from] == p->weights[from] && drawn.first[from] == p->first[from] &&
           drawn.second[from] == p->second[from] && p->out[from] == 0;
}

/* Sums of updates u of weights w, compared to `got`. */
static void check_sums(struct sums got, const double *u, const scalar *weights, int count)
{
    double square = 0, product = 0, size = 0;

    for (int i = 0; i < count; i++) {
        square += u[i] * u[i];
        product += (double)weights[i] * u[i];
        size += fabs((double)weights[i] * u[i]);
    }
    CHECK_CLOSE(got.square, square, rounding * square);
    CHECK_CLOSE(got.product, product, rounding * size);
}

static void check_adamw_count(const struct kernels *kernels, int count)
{
    static struct planes p;
    static double u[COUNT];
    struct adam_pass pass = {.rate = 1e-2,
        .weight_decay = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .correction1 = 0.19,
        .correction2 = 0.0199,
        .gradient_scale = 0.5};

    planes_draw(&p);
    for (int i = 0; i < count; i++) {
        double g = 0.5 * (double)p.gradient[i], m = 0.9 * (double)p.first[i] + 0.1 * g;
        double v = 0.99 * (double)p.second[i] + 0.01 * g * g;
        u[i] = m / 0.19 / (sqrt(v / 0.0199) + 1e-8);
    }
    check_sums(
        kernels->adam_sums(&pass, p.weights, p.first, p.second, p.gradient, count), u, p.weights, count);
    kernels->adam(&pass, p.weights, p.first, p.second, p.gradient, count, NULL);
    CHECK(untouched(&p, count));
    for (int i = 0; i < count; i++) {
        double old = random_normal(4, RANDOM_TEST, (uint64_t)i), expected = old - 1e-2 * (0.1 * old + u[i]);
        CHECK_CLOSE((double)p.weights[i], expected, rounding * (1 + fabs(expected)));
    }
}

EACH_LEVEL(kernels_adamw)
{
    each_count(check_adamw_count, kernels);
}

/* Norms, products and differences of two planes. */
static void check_passes_count(const struct kernels *kernels, int count)
{
    static struct planes p;
    static double now[COUNT], step[COUNT];
    double after;

    planes_draw(&p);
    for (int i = 0; i < count; i++) {
        now[i] = (double)p.gradient[i];
        step[i] = now[i] - (double)p.weights[i];
    }
    check_sums(kernels->sums(p.weights, p.gradient, count), now, p.weights, count);
    check_sums(kernels->difference(p.weights, p.gradient, count, &after), step, p.weights, count);
    CHECK_CLOSE(after, kernels->sums(p.weights, p.gradient, count).square, 1e-12 * after);
    CHECK_CLOSE(kernels->dot(p.gradient, p.gradient, count), after, 1e-12 * after);
    memcpy(p.out, p.weights, (size_t)count * sizeof(*p.out));
    check_sums(kernels->keep(p.out, p.gradient, count), now, p.weights, count);
    CHECK(untouched(&p, count) && memcmp(p.out, p.gradient, (size_t)count * sizeof(*p.out)) == 0);
}

EACH_LEVEL(kernels_passes)
{
    each_count(check_passes_count, kernels);
}

static void check_lion_count(const struct kernels *kernels, int count)
{
    static struct planes p;
    static double u[COUNT], first[COUNT];
    struct lion_pass pass = {
        .rate = 1e-2, .weight_decay = 0.1, .beta1 = 0.9, .beta2 = 0.99, .gradient_scale = 0.5};

    planes_draw(&p);
    for (int i = 0; i < count; i++) {
        double g = 0.5 * (double)p.gradient[i], mixed = 0.9 * (double)p.first[i] + 0.1 * g;
        u[i] = (mixed > 0) - (mixed < 0);
        first[i] = 0.99 * (double)p.first[i] + 0.01 * g;
    }
    check_sums(kernels->lion_sums(&pass, p.weights, p.first, p.gradient, count), u, p.weights, count);
    kernels->lion(&pass, p.weights, p.first, p.gradient, count, NULL);
    CHECK(untouched(&p, count));
    for (int i = 0; i < count; i++) {
        double old = random_normal(4, RANDOM_TEST, (uint64_t)i), expected = old - 1e-2 * (0.1 * old + u[i]);
        CHECK_CLOSE((double)p.weights[i], expected, rounding * (1 + fabs(expected)));
        CHECK_CLOSE((double)p.first[i], first[i], rounding * (1 + fabs(first[i])));
    }
}

/* A gradient that is not finite has no sign: the weight is NaN after the step, and the sums tell before. */
static void check_lion_ends(const struct kernels *kernels)
{
    static struct planes p;
    struct lion_pass pass = {.rate = 1e-2, .beta1 = 0.9, .beta2 = 0.99, .gradient_scale = 1};
    const double ends[] = {NAN, INFINITY, -INFINITY};

    for (int i = 0; i < 6; i++) {
        pass.cautious = i % 2;
        planes_draw(&p);
        p.gradient[700] = (scalar)ends[i / 2];
        struct sums sums = kernels->lion_sums(&pass, p.weights, p.first, p.gradient, COUNT);
        CHECK(isnan(sums.square) && isnan(sums.product));
        kernels->lion(&pass, p.weights, p.first, p.gradient, COUNT, NULL);
        CHECK(isnan((double)p.weights[700]) && isfinite((double)p.weights[701]));
    }
}

EACH_LEVEL(kernels_lion)
{
    each_count(check_lion_count, kernels);
    check_lion_ends(kernels);
}

static void check_sgd_count(const struct kernels *kernels, int count)
{
    static struct planes p;
    static double u[COUNT];
    struct sgd_pass pass = {.rate = 1e-2, .weight_decay = 0.1, .momentum = 0.9, .gradient_scale = 0.5};

    planes_draw(&p);
    for (int i = 0; i < count; i++)
        u[i] = 0.9 * (double)p.first[i] + 0.5 * (double)p.gradient[i];
    check_sums(kernels->sgd_sums(&pass, p.weights, p.first, p.gradient, count), u, p.weights, count);
    kernels->sgd(&pass, p.weights, p.first, p.gradient, count, NULL);
    CHECK(untouched(&p, count));
    for (int i = 0; i < count; i++) {
        double old = random_normal(4, RANDOM_TEST, (uint64_t)i), buffer = u[i] + 0.1 * old;
        CHECK_CLOSE((double)p.first[i], buffer, rounding * (1 + fabs(buffer)));
        CHECK_CLOSE((double)p.weights[i], old - 1e-2 * buffer, rounding * (1 + fabs(old)));
    }
}

EACH_LEVEL(kernels_sgd)
{
    each_count(check_sgd_count, kernels);
}

/* What normalized_sgd and adafactor are made of. */
static void check_updates_count(const struct kernels *kernels, int count)
{
    static struct planes p;
    double sum = 0;

    planes_draw(&p);
    const struct descent descent = {.rate = 1e-2, .weight_decay = 0.1, .scale = 0.3};
    kernels->descend(&descent, p.weights, p.gradient, count, NULL);
    kernels->over_root(p.out, p.gradient, p.second, count, 0.7);
    double got = kernels->add_squares(p.first, p.gradient, count, 0.5, 0.25);
    CHECK(untouched(&p, count));
    for (int i = 0; i < count; i++) {
        double old = random_normal(4, RANDOM_TEST, (uint64_t)i), g = (double)p.gradient[i];
        double first = 0.1 * random_normal(5, RANDOM_TEST, (uint64_t)i),
               over = 0.7 * g / sqrt((double)p.second[i]);
        CHECK_CLOSE((double)p.weights[i], old - 1e-2 * (0.1 * old + 0.3 * g), rounding * (1 + fabs(old)));
        CHECK_CLOSE((double)p.out[i], over, rounding * fabs(over));
        CHECK_CLOSE((double)p.first[i], first + 0.25 * 0.25 * g * g, rounding * (1 + g * g));
        sum += 0.25 * g * g;
    }
    CHECK_CLOSE(got, sum, 1e-12 * sum);
}

EACH_LEVEL(kernels_updates)
{
    scalar gradient = 0, sum = 0;

    each_count(check_updates_count, kernels);
    CHECK_CLOSE(kernels->add_squares(&sum, &gradient, 1, 1, 0.5), 1e-30, 1e-40);
    gradient = NAN;
    CHECK(isnan(kernels->add_squares(&sum, &gradient, 1, 1, 0.5)) && isnan((double)sum));
}

/* ---- norms of rows and their gradients ---- */

/* A norm of rows x width, out of the same draws whatever the size. */
struct norm_case {
    int64_t rows, width;
    bool centred; /* LayerNorm, else RMSNorm */
    bool bias, add;
    scalar in[COUNT], dout[COUNT], out[COUNT], din[COUNT], residual[COUNT];
    scalar gain[COUNT], shift[COUNT], dgain[COUNT], dbias[COUNT], mean[COUNT], scale[COUNT];
};

static void norm_draw(struct norm_case *k)
{
    draw(k->in, COUNT, 2, 11);
    draw(k->dout, COUNT, 1, 12);
    draw(k->gain, COUNT, 1, 13);
    draw(k->shift, COUNT, 1, 14);
    draw(k->residual, COUNT, 1, 15);
    memcpy(k->din, k->residual, sizeof(k->din));
}

static struct norm_rows norm_rows(struct norm_case *k, double epsilon)
{
    return (struct norm_rows){.centred = k->centred,
        .in = k->in,
        .gain = k->gain,
        .bias = k->bias ? k->shift : NULL,
        .epsilon = (scalar)epsilon,
        .mean = k->mean,
        .scale = k->scale,
        .rows = k->rows,
        .width = k->width};
}

/* Forward, and back to din, which may be dout. */
static void norm_run(const struct kernels *kernels, struct norm_case *k, double epsilon, scalar *din)
{
    const struct norm_rows rows = norm_rows(k, epsilon);
    const struct norm_gradient gradient = {
        .dout = k->dout, .din = din, .add = k->add, .dgain = k->dgain, .dbias = k->bias ? k->dbias : NULL};

    kernels->norm(&rows, k->out, k->add ? k->residual : NULL);
    kernels->norm_gradient(&rows, &gradient);
}

/* One row of out and din, and what it adds to dgain [width]. */
static void check_norm_row(const struct norm_case *k, int64_t r, double *dgain)
{
    const scalar *in = k->in + r * k->width, *dout = k->dout + r * k->width;
    double width = (double)k->width, mean = 0, square = 0, sum = 0, product = 0;

    for (int64_t c = 0; c < k->width && k->centred; c++)
        mean += (double)in[c] / width;
    for (int64_t c = 0; c < k->width; c++)
        square += ((double)in[c] - mean) * ((double)in[c] - mean) / width;
    double scale = 1 / sqrt(square + 1e-5);
    CHECK_CLOSE((double)k->mean[r], mean, rounding);
    CHECK_CLOSE((double)k->scale[r], scale, rounding * 20 * scale);
    for (int64_t c = 0; c < k->width; c++) {
        double n = ((double)in[c] - mean) * scale, d = (double)k->gain[c] * (double)dout[c];
        double out = n * (double)k->gain[c] + (k->bias ? (double)k->shift[c] : 0);
        out += k->add ? (double)k->residual[r * k->width + c] : 0;
        CHECK_CLOSE((double)k->out[r * k->width + c], out, rounding * 20);
        sum += k->centred ? d / width : 0;
        product += d * n / width;
        dgain[c] += n * (double)dout[c];
    }
    for (int64_t c = 0; c < k->width; c++) {
        double n = ((double)in[c] - mean) * scale, d = (double)k->gain[c] * (double)dout[c];
        double din = scale * (d - sum - n * product);
        din += k->add ? (double)k->residual[r * k->width + c] : 0;
        CHECK_CLOSE((double)k->din[r * k->width + c], din, rounding * 20 * (1 + scale));
    }
}

static void check_norm_size(const struct kernels *kernels, bool centred, int64_t rows, int64_t width)
{
    static struct norm_case k;
    double dgain[COUNT] = {0};
    scalar sums[COUNT];

    k = (struct norm_case){
        .rows = rows, .width = width, .centred = centred, .bias = width % 3, .add = width % 2};
    norm_draw(&k);
    norm_run(kernels, &k, 1e-5, k.din);
    CHECK(k.out[rows * width] == 0 && k.mean[rows] == 0 && k.scale[rows] == 0 && k.dgain[width] == 0);
    CHECK(k.din[rows * width] == k.residual[rows * width]);
    for (int64_t r = 0; r < rows; r++)
        check_norm_row(&k, r, dgain);
    draw(sums, COUNT, 1, 16);
    kernels->column_sums(sums, k.dout, width, rows, width, k.add);
    for (int64_t c = 0; c < width; c++) {
        double sum = 0;
        for (int64_t r = 0; r < rows; r++)
            sum += (double)k.dout[r * width + c];
        CHECK_CLOSE((double)k.dgain[c], dgain[c], rounding * 20);
        CHECK_CLOSE((double)k.dbias[c], k.bias ? sum : 0, rounding * 20);
        sum += k.add ? random_normal(16, RANDOM_TEST, (uint64_t)c) : 0;
        CHECK_CLOSE((double)sums[c], sum, rounding * 20);
    }
}

EACH_LEVEL(kernels_norms)
{
    for (int64_t width = 1; width <= 70; width++) {
        check_norm_size(kernels, true, 1 + width % 11, width);
        check_norm_size(kernels, false, 1 + width % 11, width);
    }
}

/* Rows that are NaN, or too long to be squared, are NaN, and so are their gradients and those of the tensors;
 * their neighbours are left alone. */
static void check_norm_ends(const struct kernels *kernels, bool centred)
{
    enum { ROWS = 9, WIDTH = 19 };
    static struct norm_case k;

    k = (struct norm_case){.rows = ROWS, .width = WIDTH, .centred = centred};
    norm_draw(&k);
    k.in[1 * WIDTH + 3] = NAN;
    k.in[6 * WIDTH + 2] = sizeof(scalar) == 4 ? (scalar)1e25 : (scalar)1e200;
    norm_run(kernels, &k, 1e-5, k.din);
    for (int r = 0; r < ROWS; r++) {
        bool bad = r == 1 || r == 6;
        CHECK(isnan((double)k.scale[r]) == bad);
        for (int c = 0; c < WIDTH; c++) {
            CHECK(isnan((double)k.out[r * WIDTH + c]) == bad);
            CHECK(isnan((double)k.din[r * WIDTH + c]) == bad);
        }
    }
    for (int c = 0; c < WIDTH; c++)
        CHECK(isnan((double)k.dgain[c]));
}

EACH_LEVEL(kernels_norms_let_nan_through)
{
    check_norm_ends(kernels, true);
    check_norm_ends(kernels, false);
}

/* A row of equal values has the norm 0, however large they are; the gradient may be written over dout. */
EACH_LEVEL(kernels_norm_of_a_constant_row)
{
    const scalar large = sizeof(scalar) == 4 ? (scalar)0x1p121 : (scalar)0x1p1020;

    for (int64_t width = 1; width <= 40; width++) {
        static struct norm_case k;
        k = (struct norm_case){.rows = 5, .width = width, .centred = true, .bias = true};
        norm_draw(&k);
        for (int64_t c = 0; c < width; c++)
            k.in[width + c] = large / (scalar)(1 << 6);
        norm_run(kernels, &k, 1e-12, k.din);
        norm_run(kernels, &k, 1e-12, k.dout);
        CHECK(memcmp(k.dout, k.din, (size_t)(5 * width) * sizeof(scalar)) == 0);
        for (int64_t c = 0; c < 5 * width; c++)
            CHECK(isfinite((double)k.din[c]));
    }
}
