/* Rules on norms: what holds exactly, whatever the gradients are. */
#include <math.h>
#include <string.h>

#include "tests/model/optimisers/optimised.h"

enum { STEPS = 30, ROWS = 12, COLUMNS = 9 };

/* A matrix that is ruled, and a bias that is not. */
static const struct tensor tensors[] = {{.kind = TENSOR_W1, .rows = ROWS, .columns = COLUMNS},
    {.kind = TENSOR_W1_BIAS, .rows = 1, .columns = ROWS}};

static struct optimiser_options options_of(enum optimiser_kind kind, enum norm_rule rule)
{
    return (struct optimiser_options){.kind = kind,
        .norm_rule = rule,
        .decay_on = DECAY_ON_MATRICES,
        .beta1 = 0.9,
        .beta2 = 0.95,
        .epsilon = 1e-30,
        .momentum = 0.8,
        .brake = 0.5,
        .norm_target = 1};
}

static void begin(struct optimised *o, const struct optimiser_options *options)
{
    optimised_init(o, options, 1, tensors, 2);
    draw(o->weights, o->layout.size, 1, 7);
    optimiser_begin(&o->optimiser, o->weights);
}

/* One step; the gradients are the same in each walk, but for `scale`. */
static void step(struct optimised *o, int64_t number, double rate, double scale)
{
    memcpy(o->before, o->weights, o->bytes);
    draw(o->gradient, o->layout.size, scale, (uint64_t)(100 + number));
    optimiser_step(&o->optimiser, o->weights, o->gradient, 1, number, rate);
}

static double norm_of(const scalar *weights)
{
    return sqrt(dot(weights, weights, (int64_t)ROWS * COLUMNS));
}

/* The largest difference of the matrices. */
static double apart(const struct optimised *one, const struct optimised *other)
{
    double most = 0;

    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        double by = fabs((double)one->weights[i] - (double)other->weights[i]);
        most = by <= most ? most : by; /* NaN stays */
    }
    return most;
}

/* Where the norm is held, decay only makes steps longer. */
TEST(norm_rule_fixed_is_a_longer_step)
{
    const double rate = 0.02, decay = 5;
    struct optimiser_options options = options_of(OPTIMISER_ADAMW, NORM_FIXED);
    struct optimised one, other;

    begin(&other, &options);
    options.weight_decay = decay;
    begin(&one, &options);
    for (int64_t i = 1; i <= STEPS; i++) {
        step(&one, i, rate, 1);
        step(&other, i, rate / (1 - rate * decay), 1);
    }
    CHECK_CLOSE(apart(&one, &other), 0, sizeof(scalar) == 8 ? 1e-13 : 1e-5);
    CHECK(apart(&one, &one) == 0 && norm_of(one.weights) > 1);
    optimised_release(&one);
    optimised_release(&other);
}

TEST(norm_rules_hold_norms)
{
    for (enum optimiser_kind kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int hyperball = 0; hyperball < 2; hyperball++) {
            struct optimiser_options options = options_of(kind, hyperball ? NORM_HYPERBALL : NORM_FIXED);
            struct optimised o, free;
            options.norm_target = 0.5;
            options.weight_decay = 0.1;
            begin(&o, &options);
            options.norm_rule = NORM_FREE;
            begin(&free, &options);
            double held = norm_of(o.weights);
            CHECK_CLOSE(held / norm_of(free.weights), 0.5, 1e-6);
            for (int64_t i = 1; i <= STEPS; i++) {
                step(&o, i, 0.01, 1);
                step(&free, i, 0.01, 1);
                CHECK_CLOSE(norm_of(o.weights) / held, 1, 1e-6);
                CHECK(memcmp(o.before, o.weights, o.bytes) != 0);
            }
            /* What is not a matrix takes the usual steps. */
            CHECK(kind == OPTIMISER_ADAFACTOR ||
                  memcmp(o.weights + o.tensor[1].offset, free.weights + o.tensor[1].offset,
                      (size_t)ROWS * sizeof(scalar)) == 0);
            optimised_release(&o);
            optimised_release(&free);
        }
}

/* A step of hyperball is as long as the rate says: the angle to W - eta R u / |u| is right, and the scale of
 * gradients is nothing to it. */
TEST(norm_rule_hyperball_takes_directions_alone)
{
    static const enum optimiser_kind kinds[] = {
        OPTIMISER_SGD, OPTIMISER_NORMALIZED_SGD, OPTIMISER_LION, OPTIMISER_ADAMW};

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        struct optimiser_options options = options_of(kinds[k], NORM_HYPERBALL);
        struct optimised one, other;
        begin(&one, &options);
        options.weight_decay = 3; /* is nothing to it, either */
        begin(&other, &options);
        for (int64_t i = 1; i <= STEPS; i++) {
            step(&one, i, 0.05, 1);
            step(&other, i, 0.05, 0x1p-20);
        }
        CHECK_CLOSE(apart(&one, &other), 0, kinds[k] == OPTIMISER_ADAMW ? 1e-5 : 0);
        optimised_release(&one);
        optimised_release(&other);
    }
}

TEST(norm_rule_hyperball_steps)
{
    struct optimiser_options options = options_of(OPTIMISER_SGD, NORM_HYPERBALL);
    struct optimised o;

    options.momentum = 0;
    options.hidden_rate = 0.25;
    begin(&o, &options);
    double held = norm_of(o.weights);
    step(&o, 1, 0.4, 1e-6);
    double moved[ROWS * COLUMNS], square = 0, length = norm_of(o.gradient);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        moved[i] = (double)o.before[i] - 0.1 * held * (double)o.gradient[i] / length;
        square += moved[i] * moved[i];
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK_CLOSE((double)o.weights[i], moved[i] * held / sqrt(square), sizeof(scalar) == 8 ? 1e-14 : 1e-6);
    optimised_release(&o);
}

/* Difference of the norms after a step of brake 1 and of a free one. */
static double beyond_first_order(double rate)
{
    struct optimiser_options options = options_of(OPTIMISER_LION, NORM_BRAKE);
    struct optimised braked, free;

    options.brake = 1;
    begin(&braked, &options);
    options.norm_rule = NORM_FREE;
    begin(&free, &options);
    step(&braked, 1, rate, 1);
    step(&free, 1, rate, 1);
    double difference = norm_of(free.weights) - norm_of(braked.weights);
    optimised_release(&braked);
    optimised_release(&free);
    return difference;
}

TEST(norm_rule_brake_1_is_free_to_second_order)
{
    double full = beyond_first_order(0.1), half = beyond_first_order(0.05);

    CHECK(full > 0);
    CHECK_CLOSE(full / half, 4, 0.2);
}

TEST(norm_rule_brake_slows_growth_alone)
{
    struct optimiser_options options = options_of(OPTIMISER_SGD, NORM_BRAKE);
    int64_t size = (int64_t)ROWS * COLUMNS;

    for (int sign = -1; sign <= 1; sign += 2)
        for (int quarter = 0; quarter <= 4; quarter++) {
            struct optimised o;
            options.brake = quarter / 4.0;
            begin(&o, &options);
            step(&o, 1, 0.02, sign);
            double norm = norm_of(o.before), out = -0.02 * dot(o.gradient, o.before, size) / norm;
            CHECK_CLOSE(norm_of(o.weights) - norm, out > 0 ? options.brake * out : out, 1e-6 * norm);
            optimised_release(&o);
        }
    options.brake = 0;
    struct optimised o;
    begin(&o, &options);
    for (int64_t i = 1; i <= STEPS; i++) {
        step(&o, i, 0.02, 1);
        CHECK(norm_of(o.weights) <= norm_of(o.before) * (1 + 1e-6));
    }
    optimised_release(&o);
}
