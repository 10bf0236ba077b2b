#include "tests/test.h"

#include "model/core/random.h"
#include "model/optimisers/optimiser.h"

#include <stdlib.h>
#include <string.h>

/*
 * Weight decay far below the rounding of a float. Two planes of weights take the same steps, one with decay
 * and one without; the steps vary, so that roundings dither, and the planes differ by the decay alone. At
 * eta*lambda = 1e-10 one rounding in about a thousand goes the other way: over 10^7 of them the mean is known
 * to 1 %.
 */
enum { COUNT = 1 << 20, STEPS = 10 };

static const double rate = 1e-3;

/* Weights of either sign with magnitudes in [0.5, 2). */
static void fill_weights(scalar *weights)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        double magnitude = 0.5 + 1.5 * random_uniform(1, RANDOM_TEST, i);
        weights[i] = (scalar)(i % 2 ? magnitude : -magnitude);
    }
}

/* The pool of gradients, shifted from step to step. */
static void fill_gradient(scalar *gradient, const scalar *pool, int64_t step)
{
    size_t shift = (size_t)step * 1009;

    memcpy(gradient, pool + shift, (COUNT - shift) * sizeof(*pool));
    memcpy(gradient + COUNT - shift, pool, shift * sizeof(*pool));
}

static void take_steps(
    struct optimiser_options options, scalar *weights, const scalar *pool, scalar *gradient)
{
    struct tensor tensor = {.kind = TENSOR_Q, .rows = COUNT / 1024, .columns = 1024, .size = COUNT};
    struct weight_layout layout = {.size = COUNT,
        .layers_end = COUNT,
        .largest = COUNT,
        .largest_in_layers = COUNT,
        .tensor_count = 1,
        .tensor = &tensor};
    struct arena arena = {0};
    struct optimiser optimiser;

    optimiser_layout(&optimiser, &options, &layout, 1, &arena);
    if (arena_init(&arena, arena.used) != 0) {
        test_fail(__FILE__, __LINE__, "no memory");
        return;
    }
    optimiser_layout(&optimiser, &options, &layout, 1, &arena);
    fill_weights(weights);
    for (int64_t step = 1; step <= STEPS; step++) {
        fill_gradient(gradient, pool, step);
        optimiser_step(&optimiser, weights, gradient, 1, step, rate);
    }
    arena_release(&arena);
}

/* The mean decay a step, over eta*lambda: 1 when it is right. */
static double relative_decay(enum optimiser_kind kind, enum decay decay, double product)
{
    scalar *plane = malloc(4 * (size_t)COUNT * sizeof(*plane));
    scalar *pool = plane, *gradient = plane + COUNT, *decayed = plane + 2 * COUNT, *kept = plane + 3 * COUNT;
    struct optimiser_options options = {
        .kind = kind, .decay = decay, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1};
    double difference = 0, magnitude = 0;

    for (uint64_t i = 0; i < COUNT; i++)
        pool[i] = (scalar)random_normal(2, RANDOM_TEST, i);
    take_steps(options, kept, pool, gradient);
    options.weight_decay = product / rate;
    take_steps(options, decayed, pool, gradient);
    for (int64_t i = 0; i < COUNT; i++) {
        double sign = kept[i] < 0 ? -1 : 1;
        difference += sign * ((double)kept[i] - (double)decayed[i]);
        magnitude += fabs((double)kept[i]);
    }
    free(plane);
    return difference / magnitude / STEPS / product;
}

TEST(decay_adamw_fused_is_right_on_average)
{
    CHECK_CLOSE(relative_decay(OPTIMISER_ADAMW, DECAY_FUSED, 1e-10), 1, 0.05);
    CHECK_CLOSE(relative_decay(OPTIMISER_ADAMW, DECAY_FUSED, 4e-8), 1, 0.005);
}

/* 1 - 1e-10 is 1 in float, and 1 - 4e-8 is 1 - 6e-8, whose product with a weight is rounded once more. */
TEST(decay_adamw_factor_is_lost_in_float)
{
    double small = relative_decay(OPTIMISER_ADAMW, DECAY_FACTOR, 1e-10);
    double large = relative_decay(OPTIMISER_ADAMW, DECAY_FACTOR, 4e-8);

    if (sizeof(scalar) == sizeof(float)) {
        CHECK_CLOSE(small, 0, 1e-3);
        CHECK(large > 1.4);
    } else {
        CHECK_CLOSE(small, 1, 0.05);
        CHECK_CLOSE(large, 1, 0.005);
    }
}

TEST(decay_decoupled_is_right_on_average)
{
    CHECK_CLOSE(relative_decay(OPTIMISER_NORMALIZED_SGD, DECAY_FUSED, 1e-10), 1, 0.05);
    CHECK_CLOSE(relative_decay(OPTIMISER_ADAFACTOR, DECAY_FUSED, 1e-10), 1, 0.05);
}
