/*
 * The gradient beside the weights where sgd and decay balance, simulated: a tensor whose scale has no effect
 * on the loss has gradients orthogonal to it, of length c / |theta|. At a constant rate |g| / |theta| tends
 * to sqrt(2 lambda / eta) (Defazio 2025, "Why gradients rapidly increase near the end of training");
 * corrected decay keeps it there while the rate falls. That it follows a falling rate without the correction
 * holds for very long runs alone.
 */
#include "tests/model/optimisers/optimised.h"

enum { SIDE = 32, COUNT = SIDE * SIDE, STEPS = 2000, EARLY = STEPS / 4 };

static void fill_normal(scalar *values, uint64_t draw)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (scalar)random_normal(15, RANDOM_TEST, draw * COUNT + (uint64_t)i);
}

static void scale_to(scalar *values, double length)
{
    double factor = length / sqrt(dot(values, values, COUNT));

    for (int i = 0; i < COUNT; i++)
        values[i] = (scalar)(factor * (double)values[i]);
}

/* White noise without its part along the weights, of length 1 / |theta|. */
static void fill_gradient(struct optimised *d, uint64_t step)
{
    fill_normal(d->gradient, step);
    double along = dot(d->gradient, d->weights, COUNT) / dot(d->weights, d->weights, COUNT);

    for (int i = 0; i < COUNT; i++)
        d->gradient[i] -= (scalar)(along * (double)d->weights[i]);
    scale_to(d->gradient, 1 / sqrt(dot(d->weights, d->weights, COUNT)));
}

/* What was found over the later steps: the mean of log(|g| / |theta|), its extremes, and its slope over
 * log(lambda / eta_t). */
struct found {
    double mean, least, most, slope;
};

/* The least squares' slope of y over x: NaN where x is constant. */
static double slope_of(const double *x, const double *y, int count)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

    for (int i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xy / xx;
}

/* Starts where the first step's balance is. */
static struct found descend(enum schedule_kind schedule, enum decay_rule rule, double rate, double decay)
{
    const struct tensor square = {.kind = TENSOR_W1, .rows = SIDE, .columns = SIDE};
    struct optimised d;
    static double x[STEPS - EARLY], y[STEPS - EARLY];
    const struct schedule falling = {schedule, rate, 0, 0, STEPS, 0.01, 0};
    const struct optimiser_options options = {
        .kind = OPTIMISER_SGD, .decay_rule = rule, .peak_rate = rate, .weight_decay = decay};
    struct found found = {0, INFINITY, -INFINITY, NAN};

    optimised_init(&d, &options, 1, &square, 1);
    fill_normal(d.weights, 0);
    scale_to(d.weights, pow(rate / (2 * decay), 0.25));
    for (int step = 1; step <= STEPS; step++) {
        double eta = schedule_rate(&falling, step);
        fill_gradient(&d, (uint64_t)step);
        double ratio = log(dot(d.gradient, d.gradient, COUNT) / dot(d.weights, d.weights, COUNT)) / 2;
        optimiser_step(&d.optimiser, d.weights, d.gradient, 1, step, eta);
        if (step <= EARLY)
            continue;
        found.mean += ratio / (STEPS - EARLY);
        found.least = fmin(found.least, ratio);
        found.most = fmax(found.most, ratio);
        x[step - EARLY - 1] = log(decay / eta);
        y[step - EARLY - 1] = ratio;
    }
    if (schedule != SCHEDULE_CONSTANT)
        found.slope = slope_of(x, y, STEPS - EARLY);
    optimised_release(&d);
    return found;
}

static const double grid[][2] = {
    {0.1, 0.01}, {0.1, 0.1}, {0.3, 0.03}, {1, 0.003}, {1, 0.03}}; /* eta, lambda */
enum { GRID = sizeof(grid) / sizeof(*grid) };

/* Over rates and decays: log(|g| / |theta|) = (log 2 + log(lambda / eta)) / 2, within 3 %. */
static void check_balance(enum schedule_kind schedule, enum decay_rule rule)
{
    double x[GRID], y[GRID];

    for (int i = 0; i < GRID; i++) {
        struct found found = descend(schedule, rule, grid[i][0], grid[i][1]);
        double expected = log(2 * grid[i][1] / grid[i][0]) / 2;

        if (!(fabs(found.least - expected) <= 0.03 && fabs(found.most - expected) <= 0.03))
            test_fail(__FILE__, __LINE__, "eta %g, lambda %g: log |g|/|theta| is %g to %g, expected %g",
                grid[i][0], grid[i][1], found.least, found.most, expected);
        x[i] = log(grid[i][1] / grid[i][0]);
        y[i] = found.mean;
    }
    CHECK(fabs(slope_of(x, y, GRID) - 0.5) <= 0.005);
}

TEST(gradient_beside_weights_in_balance)
{
    check_balance(SCHEDULE_CONSTANT, DECAY_SCALED);
}

TEST(corrected_decay_keeps_the_balance_while_the_rate_falls)
{
    check_balance(SCHEDULE_COSINE, DECAY_CORRECTED);
}

/* The balance of a rate takes 1 / (eta_t lambda) steps to reach, ever more as eta_t falls: within a run of 60
 * and of 6 of the first such times the slope is well below 1/2. */
TEST(scaled_decay_lags_behind_a_falling_rate)
{
    struct found longer = descend(SCHEDULE_COSINE, DECAY_SCALED, 0.3, 0.1);
    struct found shorter = descend(SCHEDULE_COSINE, DECAY_SCALED, 0.1, 0.03);

    CHECK(longer.slope > 0.2 && longer.slope < 0.4);
    CHECK(shorter.slope > 0.05 && shorter.slope < 0.2);
}
