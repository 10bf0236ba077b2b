/* Critical sharpness on losses of closed form. */
#include "tests/model/optimisers/optimised.h"

#include "model/instruments/instruments.h"

enum { ROWS = 6, COLUMNS = 5, COUNT = 4 };

static const struct tensor tensors[COUNT] = {{.kind = TENSOR_TOKEN, .rows = 7, .columns = 3},
    {.kind = TENSOR_Q, .rows = ROWS, .columns = COLUMNS}, {.kind = TENSOR_LN1, .rows = 1, .columns = 9},
    {.kind = TENSOR_W1, .rows = COLUMNS, .columns = ROWS}};

/* sum h theta^2 / 2, with h a function of the place. */
struct quadratic {
    struct optimised of;
    struct sharpness sharpness;
    struct arena arena;
};

static double curvature(int64_t i)
{
    return 0.5 + (double)(i % 7);
}

static double loss_at(const struct quadratic *q, const scalar *weights)
{
    double sum = 0;

    for (int64_t i = 0; i < q->of.layout.size; i++)
        sum += curvature(i) * (double)weights[i] * (double)weights[i] / 2;
    return sum;
}

static void quadratic_begin(struct quadratic *q, struct optimiser_options options)
{
    *q = (struct quadratic){0};
    optimised_init(&q->of, &options, 1, tensors, COUNT);
    LAY_OUT(&q->arena, sharpness_layout(&q->sharpness, &options, &q->of.layout, 1, &q->arena));
    for (int64_t i = 0; i < q->of.layout.size; i++) {
        q->of.weights[i] = (scalar)random_normal(3, RANDOM_TEST, (uint64_t)i);
        q->of.gradient[i] = (scalar)(curvature(i) * (double)q->of.weights[i]);
    }
    optimiser_begin(&q->of.optimiser, q->of.weights);
}

static void quadratic_end(struct quadratic *q)
{
    optimised_release(&q->of);
    arena_release(&q->arena);
}

/* Searches from the rate, or from an earlier value. */
static double search(struct quadratic *q, double clip, int64_t number, double rate, double before)
{
    double loss = loss_at(q, q->of.weights);
    const scalar *weights;

    sharpness_begin(
        &q->sharpness, &q->of.optimiser, q->of.weights, q->of.gradient, clip, number, loss, rate, before);
    while ((weights = sharpness_next(&q->sharpness)))
        sharpness_take(&q->sharpness, loss_at(q, weights));
    CHECK(q->sharpness.passes <= SHARPNESS_PASSES);
    return sharpness_end(&q->sharpness);
}

static bool is_within(double value, double expected, double width)
{
    return fabs(log2(value / expected)) <= width / 2 + 1e-4;
}

/* u.Hu / u.g of sgd's first step, u = clip g: 1 / clip times sum h^3 theta^2 / sum h^2 theta^2. */
TEST(sharpness_of_a_quadratic)
{
    struct quadratic q;
    double above = 0, below = 0;

    quadratic_begin(
        &q, (struct optimiser_options){.kind = OPTIMISER_SGD, .momentum = 0.9, .weight_decay = 0.3});
    for (int64_t i = 0; i < q.of.layout.size; i++) {
        double square = curvature(i) * curvature(i) * (double)q.of.weights[i] * (double)q.of.weights[i];
        above += square * curvature(i);
        below += square;
    }
    for (int halvings = 0; halvings < 7; halvings++) {
        const double clip = ldexp(1, -halvings);
        double expected = clip * above / below;
        for (int eighths = -56; eighths <= 56; eighths += 5) {
            const double away = exp2(eighths / 8.0); /* the rate of the step, over the one sought */
            double value = search(&q, clip, 1, away * 2 / expected, NAN);
            double width = q.sharpness.high - q.sharpness.low;
            CHECK(width <= (fabs(log2(away)) < 3 ? SHARPNESS_WIDTH : 0.5));
            CHECK(is_within(value, expected, width));
            value = search(&q, clip, 1, NAN, value); /* and once more from there */
            CHECK(is_within(value, expected, SHARPNESS_WIDTH) && q.sharpness.passes <= (width > 0.1 ? 8 : 4));
        }
    }
    quadratic_end(&q);
}

/* Of each optimiser: -u TWIN_RATE is what optimiser_update has, whatever decay, fixed norms and rounding do.
 */
TEST(sharpness_follows_the_update)
{
    for (enum optimiser_kind kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int odd = 0; odd < 2; odd++) {
            const struct optimiser_options options = {.kind = kind,
                .weight_decay = 0.2,
                .decay_rule = odd ? DECAY_CAUTIOUS : DECAY_SCALED,
                .peak_rate = 0.1,
                .beta1 = 0.9,
                .beta2 = 0.95,
                .epsilon = 1e-8,
                .momentum = 0.8,
                .hidden_rate = 0.25,
                .norm_rule = odd ? NORM_HYPERBALL : NORM_FREE,
                .weights = odd ? WEIGHTS_BFLOAT16_STOCHASTIC : WEIGHTS_FLOAT};
            struct quadratic q;
            quadratic_begin(&q, options);
            for (int64_t step = 1; step < 4; step++)
                optimiser_step(&q.of.optimiser, q.of.weights, q.of.gradient, 0.7, step, 0.1);
            int64_t size = q.of.layout.size;
            struct sharpness *s = &q.sharpness;
            memcpy(q.of.before, q.of.weights, q.of.bytes);
            const struct update update =
                optimiser_update(&q.of.optimiser, q.of.weights, q.of.gradient, 0.7, 4, 0.1, 0, size);
            sharpness_begin(s, &q.of.optimiser, q.of.weights, q.of.gradient, 0.7, 4, 1, 0.1, NAN);
            double square = dot(s->update, s->update, size) * 0x1p-40,
                   product = dot(s->update, q.of.weights, size);
            CHECK_CLOSE(square / update.square, 1, 1e-6);
            CHECK_CLOSE((-product * 0x1p-20 - update.product) / sqrt(update.square), 0, 1e-5);
            CHECK(memcmp(q.of.before, q.of.weights, q.of.bytes) == 0);
            /* The same after the search: nothing of the optimiser has changed. */
            search(&q, 0.7, 4, 0.1, NAN);
            const struct update again =
                optimiser_update(&q.of.optimiser, q.of.weights, q.of.gradient, 0.7, 4, 0.1, 0, size);
            CHECK(memcmp(&again, &update, sizeof(again)) == 0);
            quadratic_end(&q);
        }
}

/* Losses that no rate raises, that every rate raises, and that are not numbers; a search that just reaches
 * its end. */
TEST(sharpness_without_an_end)
{
    static const double always[] = {0, 1, INFINITY, NAN};
    struct quadratic q;

    quadratic_begin(&q, (struct optimiser_options){.kind = OPTIMISER_ADAMW, .beta1 = 0.9, .beta2 = 0.95});
    for (int i = 0; i < 4; i++)
        for (int warm = 0; warm < 2; warm++) {
            sharpness_begin(
                &q.sharpness, &q.of.optimiser, q.of.weights, q.of.gradient, 1, 1, 0, 0.1, warm ? 20 : NAN);
            while (sharpness_next(&q.sharpness))
                sharpness_take(&q.sharpness, always[i]);
            CHECK(isnan(sharpness_end(&q.sharpness)) && q.sharpness.passes <= SHARPNESS_PASSES);
            CHECK(fabs(q.sharpness.at) == 20);
        }
    for (int side = -1; side <= 1; side += 2) { /* the rate is 2^19 times, or part of, the first one */
        sharpness_begin(&q.sharpness, &q.of.optimiser, q.of.weights, q.of.gradient, 1, 1, 0, 0.1, NAN);
        while (sharpness_next(&q.sharpness))
            sharpness_take(&q.sharpness, q.sharpness.at > side * 19 ? NAN : -1);
        CHECK_CLOSE(log2(2 / sharpness_end(&q.sharpness) / 0.1), side * 19, 0.3125);
    }
    quadratic_end(&q);
}
