#include "tests/model/optimisers/optimised.h"

/*
 * Weight decay far below the rounding of a float. Two planes of weights take the same steps, one with decay
 * and one without; the steps vary, so that roundings dither, and the planes differ by the decay alone. At
 * eta*lambda = 1e-10 one rounding in about a thousand goes the other way: over 10^7 of them the mean is known
 * to 1 %.
 */
enum { COUNT = 1 << 20, STEPS = 10 };

static const double rate = 1e-3;

/* Some steps from weights of either sign with magnitudes in [0.5, 2), the pool of gradients shifted from step
 * to step. */
static void take_steps(struct optimised *o, const struct optimiser_options *options, const scalar *pool)
{
    const struct tensor matrix = {.kind = TENSOR_Q, .rows = COUNT / 1024, .columns = 1024};

    optimised_init(o, options, 1, &matrix, 1);
    for (uint64_t i = 0; i < COUNT; i++) {
        double magnitude = 0.5 + 1.5 * random_uniform(1, RANDOM_TEST, i);
        o->weights[i] = (scalar)(i % 2 ? magnitude : -magnitude);
    }
    for (int64_t step = 1; step <= STEPS; step++) {
        size_t shift = (size_t)step * 1009;
        memcpy(o->gradient, pool + shift, (COUNT - shift) * sizeof(*pool));
        memcpy(o->gradient + COUNT - shift, pool, shift * sizeof(*pool));
        optimiser_step(&o->optimiser, o->weights, o->gradient, 1, step, rate);
    }
}

/* The mean decay a step, over eta*lambda: 1 when it is right. */
static double relative_decay(enum optimiser_kind kind, enum decay decay, double product)
{
    static scalar pool[COUNT];
    struct optimiser_options options = {
        .kind = kind, .decay = decay, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1};
    struct optimised kept, decayed;
    double difference = 0, magnitude = 0;

    draw(pool, COUNT, 1, 2);
    take_steps(&kept, &options, pool);
    options.weight_decay = product / rate;
    take_steps(&decayed, &options, pool);
    for (int64_t i = 0; i < COUNT; i++) {
        double sign = kept.weights[i] < 0 ? -1 : 1;
        difference += sign * ((double)kept.weights[i] - (double)decayed.weights[i]);
        magnitude += fabs((double)kept.weights[i]);
    }
    optimised_release(&kept);
    optimised_release(&decayed);
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
