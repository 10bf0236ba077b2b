/* Gradients over several batches: means, slopes over depth, and what the theory speaks of, in closed form. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"

enum { LAYERS = 6, BATCHES = 4 };

static const struct architecture small = {.vocabulary = 5,
    .init_scale = 1,
    .residual_scale = 1,
    .context = 3,
    .width = 4,
    .heads = 1,
    .feedforward = 4,
    .layers = LAYERS,
    .biases = BIAS_ALL};

struct bench {
    struct weight_layout layout;
    struct gradients gradients;
    scalar *plane;
    struct arena arena;
};

static void lay_out(struct bench *b, const struct architecture *architecture)
{
    weight_layout_init(&b->layout, architecture, false, &b->arena);
    gradients_layout(&b->gradients, &b->layout, architecture, &b->arena);
    b->plane = arena_take(&b->arena, (size_t)b->layout.size, sizeof(scalar));
}

static void bench_init(struct bench *b, const struct architecture *architecture)
{
    LAY_OUT(&b->arena, lay_out(b, architecture));
}

#define IN_BENCH(id, architecture)                                                                           \
    TEST_IN(id, struct bench, b, bench_init(b, &architecture), arena_release(&b->arena))

/* Fills every tensor of the layers with `value` of its kind and layer. */
static void fill(struct bench *b, double (*value)(int64_t layer, enum tensor_kind kind, int batch), int batch)
{
    for (int64_t t = 0; t < b->layout.tensor_count; t++) {
        const struct tensor *tensor = &b->layout.tensor[t];
        for (int64_t i = 0; i < tensor->size; i++)
            b->plane[tensor->offset + i] =
                (scalar)(tensor->layer < 0 ? 1e30 : value(tensor->layer, tensor->kind, batch));
    }
}

static void measure(struct bench *b, double (*value)(int64_t layer, enum tensor_kind kind, int batch))
{
    gradients_begin(&b->gradients);
    for (int batch = 0; batch < BATCHES; batch++) {
        fill(b, value, batch);
        gradients_add(&b->gradients, b->plane);
    }
    gradients_end(&b->gradients);
}

/* A mean of 2^layer for w2, 3^-layer for the others, and noise of 1 more or less on it. */
static double noisy(int64_t layer, enum tensor_kind kind, int batch)
{
    double mean = kind == TENSOR_W2 ? ldexp(1, (int)layer) : pow(3, -(double)layer);

    return mean + (batch % 2 ? 1 : -1);
}

/* Orthogonal to 1 and to the layer, so that a line through them is flat: they are its residuals. */
static const double bends[LAYERS] = {1, -1, 0, 0, -1, 1};

static double bent(int64_t layer, enum tensor_kind kind, int batch)
{
    (void)batch;
    return kind == TENSOR_K_BIAS ? 0 : exp(0.5 * (double)layer + 0.125 * bends[layer]);
}

static int64_t at(int64_t layer, enum tensor_kind kind)
{
    return layer * LAYER_TENSOR_COUNT + kind - LAYER_TENSOR_FIRST;
}

IN_BENCH(mean_gradients_are_those_of_the_mean, small)
{
    measure(b, noisy);
    measure(b, noisy); /* the first time is forgotten */
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        double w2 = ldexp(1, (int)layer), w1 = pow(3, -(double)layer);
        CHECK_CLOSE(b->gradients.mean_norm[at(layer, TENSOR_W2)] / (4 * w2), 1, 1e-6);
        CHECK_CLOSE(b->gradients.mean_norm[at(layer, TENSOR_W1)] / (4 * w1), 1, 1e-4);
        /* the mean of |w + 1| and |w - 1| is max(w, 1) */
        CHECK_CLOSE(b->gradients.batch_norm[at(layer, TENSOR_W2)] / (4 * w2), 1, 1e-6);
        CHECK_CLOSE(b->gradients.batch_norm[at(layer, TENSOR_W1)], 4, 1e-6);
        CHECK(isnan(b->gradients.mean_norm[at(layer, TENSOR_W3)]) &&
              isnan(b->gradients.batch_norm[at(layer, TENSOR_W3)]));
    }
    CHECK_CLOSE(b->gradients.slope[TENSOR_W2 - LAYER_TENSOR_FIRST], log(2), 1e-6);
    CHECK_CLOSE(b->gradients.slope_error[TENSOR_W2 - LAYER_TENSOR_FIRST], 0, 1e-6);
    CHECK_CLOSE(b->gradients.slope[TENSOR_LN1 - LAYER_TENSOR_FIRST], -log(3), 1e-4);
    CHECK(isnan(b->gradients.slope[TENSOR_W3 - LAYER_TENSOR_FIRST]));
}

/* The squares of the residuals sum to 4 / 64, those of the layers about their mean to 17.5. */
IN_BENCH(mean_gradients_have_the_error_of_their_line, small)
{
    measure(b, bent);
    CHECK_CLOSE(b->gradients.slope[TENSOR_W2 - LAYER_TENSOR_FIRST], 0.5, 1e-6);
    CHECK_CLOSE(b->gradients.slope_error[TENSOR_W2 - LAYER_TENSOR_FIRST], sqrt(4 / 64. / 4 / 17.5), 1e-6);
    CHECK(isnan(b->gradients.slope[TENSOR_K_BIAS - LAYER_TENSOR_FIRST])); /* ln 0 */
}

TEST(mean_gradients_of_few_layers_have_no_slope)
{
    struct architecture shallow = small;
    struct bench b;

    shallow.layers = 3;
    bench_init(&b, &shallow);
    measure(&b, noisy);
    CHECK(isfinite(b.gradients.mean_norm[at(2, TENSOR_W2)]));
    CHECK(isnan(b.gradients.slope[TENSOR_W2 - LAYER_TENSOR_FIRST]));
    arena_release(&b.arena);
}

enum { ENCODER = 4, DECODER = 5 };

/* Each stack has a slope of its own. */
static double by_stack(int64_t layer, enum tensor_kind kind, int batch)
{
    (void)kind, (void)batch;
    return layer < ENCODER ? exp(0.25 * (double)layer) : exp(3 - 0.5 * (double)(layer - ENCODER));
}

TEST(mean_gradients_have_a_slope_for_each_stack)
{
    struct architecture both = small;
    const int64_t w2 = TENSOR_W2 - LAYER_TENSOR_FIRST, cross = TENSOR_CROSS_O - LAYER_TENSOR_FIRST;
    struct bench b;

    both.network = NETWORK_ENCODER_DECODER;
    both.layers = ENCODER;
    both.decoder_layers = DECODER;
    bench_init(&b, &both);
    measure(&b, by_stack);
    CHECK_CLOSE(b.gradients.slope[w2], 0.25, 1e-6);
    CHECK_CLOSE(b.gradients.slope[LAYER_TENSOR_COUNT + w2], -0.5, 1e-6);
    CHECK_CLOSE(b.gradients.slope_error[LAYER_TENSOR_COUNT + w2], 0, 1e-6);
    CHECK(isnan(b.gradients.slope[cross]));
    CHECK_CLOSE(b.gradients.slope[LAYER_TENSOR_COUNT + cross], -0.5, 1e-6);
    arena_release(&b.arena);
}
