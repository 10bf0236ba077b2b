/* Predicted boundaries, of norms that are known in closed form. */
#include "driver/search/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

enum { STEPS = 7, SEEDS = 200 };

static const double times[STEPS] = {0, 0.03, 0.1, 0.4, 0.7, 0.7, 0.9}; /* once no time passes */

/* The norms of a run at a decay. The source of an interval h is 2 square sinh(boundary h) where rho is
 * `square`, so that rho stays there at `boundary`; it falls by `pull` h for each unit of rho, and rises by
 * `rise` h for each unit of decay. */
struct source {
    double boundary, square, pull, rise;
};

struct run_norms {
    struct norm_curve curve;
    double square[STEPS], time[STEPS];
};

static double gain(const struct source *source, double h, double decay, double square)
{
    return 2 * source->square * sinh(source->boundary * h) - source->pull * h * (square - source->square) +
           source->rise * h * (decay - source->boundary);
}

static void train_norms(struct run_norms *norms, const struct source *source, double decay)
{
    double square = source->square;

    norms->curve =
        (struct norm_curve){.count = STEPS, .decay = decay, .square = norms->square, .time = norms->time};
    for (int k = 0; k < STEPS; k++) {
        double h = k > 0 ? times[k] - times[k - 1] : 0;
        if (k > 0)
            square = exp(-2 * decay * h) * square + exp(-decay * h) * gain(source, h, decay, square);
        norms->square[k] = square;
        norms->time[k] = times[k];
    }
}

static double boundary_of_one(const struct source *source, double decay)
{
    struct run_norms one;

    train_norms(&one, source, decay);
    return prediction_boundary(&one.curve, NULL, 1);
}

static double boundary_of_two(const struct source *source, double first, double second)
{
    struct run_norms one, two;

    train_norms(&one, source, first);
    train_norms(&two, source, second);
    return prediction_boundary(&one.curve, &two.curve, 1);
}

static double drawn(int seed, int number)
{
    return random_uniform((uint64_t)seed, RANDOM_TEST, (uint64_t)number);
}

/* Norms that follow no law. */
static void draw_norms(struct run_norms *norms, int seed, double decay)
{
    train_norms(norms, &(struct source){.boundary = 1, .square = 4}, decay);
    for (int k = 1; k < STEPS; k++)
        norms->square[k] = 1 + 8 * drawn(seed, k);
}

static double own_growth(const struct run_norms *norms)
{
    return norms->square[STEPS - 1] / norms->square[0];
}

/* ---- closed forms ---- */

TEST(prediction_of_a_constant_source_needs_one_run_at_any_decay)
{
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 8; j++) {
            double boundary = 0.01 * pow(3, i), decay = j > 0 ? 1e-3 * pow(4, j - 1) : 0;
            const struct source source = {.boundary = boundary, .square = 49};
            if (decay < boundary)
                CHECK_CLOSE(boundary_of_one(&source, decay) / boundary, 1, 1e-10);
        }
}

TEST(prediction_from_two_runs_sees_a_source_that_is_linear_in_the_square)
{
    const struct source source = {.boundary = 0.5, .square = 49, .pull = 1.2};
    static const double decay[] = {0, 0.1, 0.3, 0.49, 0.6, 0.8, 3};

    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            if (i != j && (decay[i] < 0.5 || decay[j] < 0.5))
                CHECK_CLOSE(boundary_of_two(&source, decay[i], decay[j]), 0.5, 5e-11);
    CHECK(boundary_of_one(&source, 0.1) < 0.45);
}

/* Where the squares coincide, as in the first interval, the source is linear in the decay. */
TEST(prediction_of_one_interval_is_linear_in_the_decay)
{
    const struct source source = {.boundary = 0.5, .square = 49, .rise = 30};
    struct run_norms one, two, three;

    train_norms(&one, &source, 0.1);
    train_norms(&two, &source, 0.2);
    train_norms(&three, &source, 0.45);
    one.curve.count = two.curve.count = three.curve.count = 2;
    double growth = three.square[1] / three.square[0];
    CHECK_CLOSE(prediction_growth(&one.curve, &two.curve, 0.45), growth, 1e-14);
    CHECK_CLOSE(prediction_boundary(&one.curve, &two.curve, 1), 0.5, 5e-11);
    CHECK_CLOSE(prediction_boundary(&one.curve, &two.curve, growth), 0.45, 1e-10);
    CHECK(fabs(prediction_boundary(&one.curve, NULL, 1) - 0.5) > 0.01);
}

/* Squares that differ by a rounding error count as one: nothing follows from how the source differs there. */
TEST(prediction_takes_squares_that_nearly_coincide_for_one)
{
    const struct source source = {.boundary = 0.5, .square = 49, .rise = 30};
    struct run_norms one, two;

    train_norms(&one, &source, 0.1);
    train_norms(&two, &source, 0.2);
    one.curve.count = two.curve.count = 2;
    two.square[0] *= 1 + 1e-12;
    CHECK_CLOSE(prediction_boundary(&one.curve, &two.curve, 1), 0.5, 1e-9);
}

/* In one interval rho' / rho = x^2 + x s, where x = e^(-lambda h). */
TEST(prediction_of_any_growth)
{
    const struct source source = {.boundary = 0.5, .square = 49};
    struct run_norms one;

    train_norms(&one, &source, 0);
    one.curve.count = 2;
    double h = times[1], s = 2 * sinh(0.5 * h), most = one.square[1] / one.square[0];
    for (int i = 0; i < 40; i++) {
        double growth = 0.1 * pow(most / 0.1, i / 40.0), x = (sqrt(s * s + 4 * growth) - s) / 2;
        CHECK_CLOSE(prediction_boundary(&one.curve, NULL, growth) / (-log(x) / h), 1, 1e-10);
    }
    CHECK(isnan(prediction_boundary(&one.curve, NULL, most)));
}

TEST(prediction_at_a_runs_own_decay_is_its_own_curve)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        double a = 5 * drawn(seed, 100), b = 5 * drawn(seed, 101);
        struct run_norms one, two;
        draw_norms(&one, 2 * seed, a);
        draw_norms(&two, 2 * seed + 1, b);
        two.square[0] = one.square[0];
        CHECK_CLOSE(prediction_growth(&one.curve, NULL, a), own_growth(&one), 1e-12);
        CHECK_CLOSE(prediction_growth(&one.curve, &two.curve, a), own_growth(&one), 1e-12);
        /* the more the squares agree, the more an error in the square moves along the line */
        CHECK_CLOSE(prediction_growth(&one.curve, &two.curve, b), own_growth(&two), 1e-10);
        CHECK_CLOSE(prediction_growth(&two.curve, &one.curve, b), own_growth(&two), 1e-12);
    }
}

/* Also of norms that follow no law: a boundary that is found leads to this growth. */
TEST(prediction_of_a_boundary_leads_to_this_growth)
{
    int found = 0;

    for (int seed = 0; seed < SEEDS; seed++) {
        struct run_norms one, two;
        double growth = 0.5 + drawn(seed, 102);
        draw_norms(&one, 2 * seed, 0.5);
        draw_norms(&two, 2 * seed + 1, 1.5);
        two.square[0] = one.square[0];
        double alone = prediction_boundary(&one.curve, NULL, growth);
        CHECK(isnan(alone) == !(own_growth(&one) > growth));
        if (isnan(alone))
            continue;
        CHECK(alone > 0.5);
        CHECK_CLOSE(prediction_growth(&one.curve, NULL, alone), growth, 1e-10);
        double both = prediction_boundary(&one.curve, &two.curve, growth);
        CHECK_CLOSE(prediction_boundary(&two.curve, &one.curve, growth), both, 1e-6 * both);
        if (own_growth(&two) <= growth)
            CHECK(both >= 0.5 && both <= 1.5);
        found++;
    }
    CHECK(found > SEEDS / 2);
}

/* ---- no boundary ---- */

TEST(prediction_of_a_run_that_does_not_grow_is_not_a_number)
{
    const struct source source = {.boundary = 0.5, .square = 49};

    CHECK(isnan(boundary_of_one(&source, 0.5001)) && isnan(boundary_of_one(&source, 20)));
    CHECK(isnan(boundary_of_two(&source, 0.6, 0.7)) && isnan(boundary_of_two(&source, 0.7, 0.6)));
}

/* At any step of either run. */
TEST(prediction_from_a_value_that_is_not_finite_is_not_a_number)
{
    static const double harm[] = {NAN, INFINITY, -INFINITY};
    const struct source source = {.boundary = 0.5, .square = 49, .pull = 1.2};
    static const double above[] = {0.3, 0.8};

    for (int k = 0; k < STEPS; k++)
        for (int i = 0; i < 12; i++) {
            struct run_norms one, two;
            train_norms(&one, &source, 0.1);
            train_norms(&two, &source, above[i / 6]);
            CHECK_CLOSE(prediction_boundary(&one.curve, &two.curve, 1), 0.5, 5e-11);
            double was = one.square[k];
            (i % 2 ? &one : &two)->square[k] = harm[i % 6 / 2];
            CHECK(isnan(prediction_boundary(&one.curve, &two.curve, 1)));
            CHECK(isnan(prediction_boundary(&two.curve, &one.curve, 1)));
            CHECK(isnan(prediction_boundary(&one.curve, NULL, 1)) == (i % 2 == 1));
            one.square[k] = was;
        }
}

TEST(prediction_without_time_or_with_one_step_is_not_a_number)
{
    const struct source source = {.boundary = 0.5, .square = 49};
    struct run_norms one;

    train_norms(&one, &source, 0.1);
    one.curve.count = 1;
    CHECK(isnan(prediction_boundary(&one.curve, NULL, 1)));
    CHECK_CLOSE(prediction_growth(&one.curve, NULL, 3), 1, 0);
    one.curve.count = STEPS;
    for (int k = 0; k < STEPS; k++)
        one.time[k] = 0;
    CHECK(isnan(prediction_boundary(&one.curve, NULL, 1)));
    CHECK(isnan(prediction_boundary(&one.curve, NULL, NAN)));
}

/* A source that rises with the square: errors grow as the norm does. */
TEST(prediction_in_which_errors_grow_is_not_a_number)
{
    struct source source = {.boundary = 0.5, .square = 49, .pull = -10};

    CHECK_CLOSE(boundary_of_two(&source, 0.1, 0.8), 0.5, 1e-8);
    source.pull = -1000;
    CHECK(isnan(boundary_of_two(&source, 0.1, 0.8)) && isnan(boundary_of_two(&source, 0.2, 0.1)));
}

/* A source that grows faster with the decay than the decay takes away has no boundary, and the search for one
 * ends. */
TEST(prediction_of_a_source_that_outgrows_decay_is_not_a_number)
{
    struct run_norms one, two;

    train_norms(&one, &(struct source){.boundary = 0.5, .square = 49}, 0.1);
    train_norms(&two, &(struct source){.boundary = 0.5, .square = 49}, 0.2);
    for (int k = 1; k < STEPS; k++)
        two.square[k] *= 1 + 1e3 * times[k];
    double found = prediction_boundary(&one.curve, &two.curve, 1);
    CHECK(isnan(found) || (found > 0.2 && prediction_growth(&one.curve, &two.curve, found) < 1 + 1e-6));
}
