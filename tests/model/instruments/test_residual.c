/* The residual stream through depth: in closed form where there is one, against definitions elsewhere. */
#include "tests/model/lay_out.h"
#include "tests/model/network/model_case.h"

#include "model/instruments/instruments.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

enum { LAYERS = 4, WIDTH = 8 };

static const int64_t lengths[] = {5, 1, 3};

static struct architecture small(enum norm_placement placement)
{
    struct architecture a = decoder_of(11, 5, WIDTH, 2, 6, LAYERS);

    a.norm_placement = placement;
    a.biases = BIAS_ALL;
    return a;
}

/* A model with tangents, and the instrument. */
struct bench {
    struct model_case base;
    struct residual residual;
    struct arena arena;
};

static void bench_begin_with(
    struct bench *b, const struct architecture *a, const int64_t *length, int64_t sequences)
{
    int64_t rows = 0;

    for (int64_t s = 0; s < sequences; s++)
        rows += length[s];
    *b = (struct bench){0};
    model_case_init_tangents(&b->base, a, length, sequences, 5);
    LAY_OUT(&b->arena, residual_layout(&b->residual, a, 0, rows, &b->arena));
}

static void bench_begin(struct bench *b, struct architecture a)
{
    bench_begin_with(b, &a, lengths, 3);
}

static void bench_measure(struct bench *b)
{
    residual_states(&b->residual, &b->base.model, b->base.weights, &b->base.batch);
    residual_gradients(&b->residual, &b->base.model, b->base.weights, &b->base.batch, 9);
    residual_angle(&b->residual, &b->base.model, b->base.weights, &b->base.batch, 9);
}

static void bench_end(struct bench *b)
{
    model_case_release(&b->base);
    arena_release(&b->arena);
}

#define IN_BENCH(id, placement) TEST_IN(id, struct bench, b, bench_begin(b, small(placement)), bench_end(b))

TEST(residual_of_identity_blocks)
{
    for (int placement = NORM_PRE; placement <= NORM_OUT; placement++) {
        struct architecture a = small((enum norm_placement)placement);
        struct bench b;
        bench_begin(&b, a);
        model_case_silence(&b.base);
        bench_measure(&b);
        const struct residual *r = &b.residual;
        for (int depth = 0; depth <= LAYERS; depth++)
            CHECK_CLOSE(r->norm[depth] / r->norm[0], 1, rounding);
        CHECK(isnan(r->cosine[0]));
        for (int depth = 1; depth <= LAYERS; depth++)
            CHECK_CLOSE(r->cosine[depth], 1, rounding);
        CHECK_CLOSE(r->growth, 0, rounding);
        CHECK_CLOSE(r->growth_error, 0, rounding);
        CHECK_CLOSE(r->gradient_growth, 0, rounding);
        CHECK_CLOSE(r->gradient_exponent, 0, rounding);
        CHECK_CLOSE(r->angle_exponent, 0, rounding);
        bench_end(&b);
    }
}

/*
 * Under out a sub-layer whose norm has gain 0 adds the norm's bias, here to the first element of tokens that
 * are otherwise (1, 2, 2, 0, ...): in the last block, d. The first token of a sequence is another one.
 */
IN_BENCH(residual_norms_are_means_over_tokens, NORM_OUT)
{
    model_case_silence(&b->base);
    scalar *token = b->base.weights, *position = model_case_tensor(&b->base, TENSOR_POSITION, 0);
    memset(token, 0, (size_t)(b->base.model.architecture.vocabulary * WIDTH) * sizeof(*token));
    for (int64_t t = 0; t < b->base.model.architecture.context; t++)
        for (int c = 0; c < WIDTH; c++)
            position[t * WIDTH + c] = t == 0 ? 1e3 : c == 0 ? 1 : c < 3 ? 2 : 0;
    model_case_tensor(&b->base, TENSOR_LN2_BIAS, LAYERS - 1)[0] = 2;
    bench_measure(b);
    const struct residual *r = &b->residual;
    const double last = sqrt(17), rise = log(last / 3);
    for (int depth = 0; depth < LAYERS; depth++)
        CHECK_CLOSE(r->norm[depth], 3, rounding);
    CHECK_CLOSE(r->norm[LAYERS], last, rounding);
    CHECK_CLOSE(r->cosine[LAYERS], 11 / (3 * last), rounding);
    CHECK_CLOSE(r->scale, sqrt(9. / WIDTH), rounding);
    /* A line through 0, 0, 0, 0 and y at depths 0 .. 4: slope y / 5, squared residuals 0.4 y^2. */
    CHECK_CLOSE(r->growth, rise / 5, rounding);
    CHECK_CLOSE(r->growth_error, rise * sqrt(0.4 / 3 / 10), rounding);
}

TEST(residual_of_single_tokens_is_missing)
{
    static const int64_t ones[] = {1, 1};
    struct architecture a = small(NORM_PRE);
    struct bench b;

    a.context = 1;
    a.layers = 2;
    bench_begin_with(&b, &a, ones, 2);
    bench_measure(&b);
    CHECK(isnan(b.residual.norm[0]) && isnan(b.residual.cosine[1]) && isnan(b.residual.growth));
    CHECK(isnan(b.residual.angle_exponent) && isfinite(b.residual.gradient_growth));
    bench_end(&b);
}

/* Behind a norm whose gain is 0 all tokens are equal. */
IN_BENCH(residual_angle_of_equal_tokens_is_missing, NORM_POST)
{
    bench_measure(b);
    CHECK(isfinite(b->residual.angle_exponent));
    model_case_set(&b->base, TENSOR_LN2, 0);
    bench_measure(b);
    CHECK(isnan(b->residual.angle_exponent));
}

#ifdef SCALAR_DOUBLE

/* 1 - p/q of the state in double. */
static double apart(const scalar *x, int64_t rows, int64_t width)
{
    double diagonal = 0, all = 0;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++)
            for (int64_t c = 0; c < width; c++) {
                all += x[i * width + c] * x[j * width + c];
                diagonal += i == j ? x[i * width + c] * x[i * width + c] : 0;
            }
    double n = (double)rows;
    return 1 - (all - diagonal) / (n * (n - 1)) / (diagonal / n);
}

/* The definition: a state with a perturbation that is small, not infinitely so, and a forward pass. */
TEST(residual_angle_is_the_limit_of_small_perturbations)
{
    const double small_step = 1e-4;

    for (int placement = 0; placement < 3; placement++) {
        struct architecture a = small((enum norm_placement)placement);
        struct bench b;
        a.activation = ACTIVATION_GELU;
        bench_begin(&b, a);
        model_case_move(&b.base, 0.1);
        bench_measure(&b);
        struct residual *r = &b.residual;
        int64_t rows = a.context, start[] = {0, rows};
        const struct batch batch = {.sequences = 1, .rows = rows, .start = start};
        scalar *state = malloc((size_t)(rows * WIDTH) * sizeof(*state));
        double square = 0;
        for (int c = 0; c < WIDTH; c++)
            square += pow(random_normal(9, RANDOM_RESIDUAL, (uint64_t)c), 2) / WIDTH;
        for (int64_t i = 0; i < rows * WIDTH; i++)
            state[i] = r->scale / sqrt(square) * random_normal(9, RANDOM_RESIDUAL, (uint64_t)(i % WIDTH)) +
                       small_step * random_normal(9, RANDOM_RESIDUAL, ((uint64_t)1 << 40) + (uint64_t)i);
        double before = apart(state, rows, WIDTH);
        transformer_forward_from(&b.base.model, b.base.weights, &batch, 0, state);
        double after = apart(transformer_state(&b.base.model, 0, LAYERS), rows, WIDTH);
        CHECK_CLOSE(r->angle_exponent, log(after / before) / LAYERS, 5e-4);
        free(state);
        bench_end(&b);
    }
}

/* |J^T R|^2 / |R|^2 from J, one column for each element of the state. */
IN_BENCH(residual_gradient_exponent_is_of_the_jacobian, NORM_PRE)
{
    bench_measure(b);
    int64_t size = b->base.batch.rows * WIDTH;
    scalar *column = malloc((size_t)size * sizeof(*column));
    double gradient = 0, direction = 0;
    transformer_forward(&b->base.model, b->base.weights, &b->base.batch, false);
    for (int64_t i = 0; i < size; i++) {
        double sum = 0;
        memset(column, 0, (size_t)size * sizeof(*column));
        column[i] = 1;
        for (int64_t layer = 0; layer < LAYERS; layer++)
            transformer_block_tangent(&b->base.model, b->base.weights, &b->base.batch, layer, column);
        for (int64_t j = 0; j < size; j++)
            sum += column[j] * random_normal(9, RANDOM_RESIDUAL, ((uint64_t)2 << 40) + (uint64_t)j);
        gradient += sum * sum;
        direction += pow(random_normal(9, RANDOM_RESIDUAL, ((uint64_t)2 << 40) + (uint64_t)i), 2);
    }
    CHECK_CLOSE(b->residual.gradient_exponent, log(gradient / direction) / LAYERS, rounding);
    free(column);
}

#endif

/* E f(s z)^2 of a standard normal z, by the rectangle rule, which is exact for smooth f. */
static double mean_square(double (*f)(double), double s)
{
    double sum = 0;

    for (int i = -1000; i <= 1000; i++) {
        double z = i / 100.0;
        sum += pow(f(s * z), 2) * exp(-z * z / 2) / sqrt(2 * M_PI) / 100;
    }
    return sum;
}

static double relu(double x)
{
    return fmax(x, 0);
}

static double relu_slope(double x)
{
    return x > 0;
}

static double gelu(double x)
{
    return x * 0.5 * (1 + erf(x / sqrt(2)));
}

static double gelu_slope(double x)
{
    return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
}

/*
 * Closed form for wide layers and many tokens that all see one another, after Cowsik and others 2024: each
 * sub-layer's norm sees tokens of mean square 1. Attention adds the same to all tokens, a_A^2 to q and
 * nothing to q - p; the feed-forward layer adds a_M^2 V to q and multiplies q - p by 1 + a_M^2 c / q. From q
 * = 1, one block has the exponent ln[(1 + a_A^2 + a_M^2 c) / (1 + a_A^2 + a_M^2 V)] - ln(1 + a_A^2). Initial
 * weights are uniform with variance 1 / (3 inputs).
 */
static double closed_form(enum activation activation, int layers)
{
    const bool is_relu = activation == ACTIVATION_RELU;
    const double attention = 1. / 9, s = sqrt(1. / 3), q_0 = 1;
    double v = mean_square(is_relu ? relu : gelu, s) / 3;
    double c = s * s * mean_square(is_relu ? relu_slope : gelu_slope, s) / 3, q = q_0, growth = 0;

    if (layers == 1)
        return log((1 + attention + c) / (1 + attention + v)) - log(1 + attention);
    for (int layer = 0; layer < layers; layer++) {
        q += attention;
        growth += log(1 + c / q);
        q += v;
    }
    return (growth - log(q / q_0)) / layers;
}

/* A single network differs by the products of a token with what is added to it, of order 1 / sqrt(width). */
static void check_closed_form(const struct architecture *a)
{
    enum { SEEDS = 48 };
    const int64_t one[] = {a->context};
    double sum = 0, squares = 0;
    struct bench b;

    bench_begin_with(&b, a, one, 1);
    for (int seed = 0; seed < SEEDS; seed++) {
        weights_init(b.base.weights, &b.base.model.layout, a, seed);
        b.residual.scale = 1;
        residual_angle(&b.residual, &b.base.model, b.base.weights, &b.base.batch, seed);
        sum += b.residual.angle_exponent;
        squares += b.residual.angle_exponent * b.residual.angle_exponent;
    }
    double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    CHECK(error < 0.008);
    CHECK_CLOSE(mean, closed_form(a->activation, (int)a->layers), 2 * error);
    bench_end(&b);
}

TEST(residual_angle_in_closed_form_at_width_256)
{
    struct architecture a = decoder_of(2, 64, 256, 1, 256, 0);

    a.norm_placement = NORM_PRE;
    a.attention_mask = MASK_MULTIPLICATIVE;
    a.zero_query_key = true;
    for (int activation = ACTIVATION_RELU; activation <= ACTIVATION_GELU; activation++)
        for (int layers = 1; layers <= 5; layers += 4) {
            a.activation = (enum activation)activation;
            a.layers = layers;
            check_closed_form(&a);
        }
}
