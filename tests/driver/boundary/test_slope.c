/* Slopes of boundaries and their intervals. */
#include "driver/boundary/slope.h"
#include "model/core/random.h"
#include "tests/test.h"

#include <math.h>

enum { PLACES = 5, SEEDS = 6 };

/* Boundaries whose brackets have a width of `width`, at places 1 apart. */
struct made {
    int64_t seeds;
    double x[PLACES], y[PLACES * SEEDS], low[PLACES * SEEDS], high[PLACES * SEEDS];
};

/* `below`: the part of each bracket below the boundary. */
static struct slope fit(struct made *made, double width, double below)
{
    struct slope slope = {0};
    const struct slope_data data = {PLACES, made->seeds, made->x, made->y, made->low, made->high};

    for (int i = 0; i < PLACES; i++)
        made->x[i] = i;
    for (int64_t i = 0; i < PLACES * made->seeds; i++) {
        made->low[i] = made->y[i] - below * width;
        made->high[i] = made->low[i] + width;
    }
    CHECK(slope_fit(&data, &slope) == 0);
    return slope;
}

/* One function for the fit and for what is told of it. */
TEST(slope_spread_needs_two_seeds_at_two_places)
{
    const int64_t known[] = {2, 1, 0, 3};

    CHECK(slope_has_spread(known, 4));
    CHECK(!slope_has_spread(known, 3));
    CHECK(!slope_has_spread(known + 1, 2));
    CHECK(!slope_has_spread(known, 0));
}

TEST(slope_student_has_its_closed_forms)
{
    CHECK_CLOSE(slope_student(1), tan(M_PI * 0.475), 1e-9);
    CHECK_CLOSE(slope_student(2), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-9);
    CHECK_CLOSE(slope_student(3), 3.182446305284263, 1e-9);
    CHECK_CLOSE(slope_student(10), 2.228138851964939, 1e-9);
    CHECK_CLOSE(slope_student(1000000), 1.959966, 1e-6);
}

/* Nothing but the slope itself is left of a power law with exact brackets. */
TEST(slope_of_a_power_law_is_its_exponent)
{
    for (int64_t seeds = 1; seeds <= SEEDS; seeds++) {
        struct made made = {.seeds = seeds};
        for (int i = 0; i < PLACES; i++)
            for (int64_t j = 0; j < seeds; j++)
                made.y[i * seeds + j] = -0.7 * i + 3;
        struct slope slope = fit(&made, 0, 0);
        CHECK_CLOSE(slope.slope, -0.7, 1e-14);
        CHECK_CLOSE(slope.low, -0.7, 1e-13);
        CHECK_CLOSE(slope.high, -0.7, 1e-13);
    }
}

TEST(slope_needs_two_places_and_its_interval_seeds_or_three)
{
    struct made made = {.seeds = 1, .y = {2, NAN, NAN, NAN, NAN}};

    CHECK(isnan(fit(&made, 0.1, 0.5).slope));
    made.y[2] = 4;
    struct slope slope = fit(&made, 0.1, 0.5);
    CHECK_CLOSE(slope.slope, 1, 1e-15);
    CHECK(isnan(slope.low) && isnan(slope.high));
    made.y[4] = 5.5;
    slope = fit(&made, 0.1, 0.5);
    CHECK(slope.low < slope.slope && slope.slope < slope.high);
    struct made two = {.seeds = 2, .y = {2, 2.1, NAN, NAN, 4, 4.2, NAN, NAN, NAN, NAN}};
    slope = fit(&two, 0, 0);
    CHECK_CLOSE(slope.slope, 1.025, 1e-14);
    CHECK(slope.low < 1.025 && 1.025 < slope.high);
    struct made apart = {.seeds = 2, .y = {2, NAN, NAN, 3, NAN, NAN, NAN, NAN, NAN, NAN}};
    slope = fit(&apart, 0.1, 0.5);
    CHECK_CLOSE(slope.slope, 1, 1e-15);
    CHECK(isnan(slope.low));
}

/* Two seeds with slopes 1 and 2: resamples have 1, 1.5 twice, 2, and are widened about 1.5 by Student's
 * factor of one degree of freedom, over the normal one, times sqrt(2). */
TEST(slope_of_two_seeds_has_the_interval_of_four_resamples)
{
    struct made made = {.seeds = 2};
    double widening = slope_student(1) / 1.959963984540054 * sqrt(2);

    for (int i = 0; i < PLACES; i++) {
        made.y[2 * i] = i;
        made.y[2 * i + 1] = 2 * i + 7;
    }
    struct slope slope = fit(&made, 0, 0);
    CHECK_CLOSE(slope.slope, 1.5, 1e-14);
    CHECK_CLOSE(slope.low, 1.5 - 0.5 * widening, 1e-12);
    CHECK_CLOSE(slope.high, 1.5 + 0.5 * widening, 1e-12);
}

/* Many seeds are drawn; two that agree, of six, give a discrete distribution with known quantiles: the number
 * of draws of a seed with another slope is binomial. */
TEST(slope_of_many_seeds_has_the_interval_of_random_resamples)
{
    struct made made = {.seeds = 6};
    double widening = slope_student(5) / 1.959963984540054 * sqrt(6.0 / 5);

    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < 6; j++)
            made.y[6 * i + j] = j < 3 ? 0 : i;
    struct slope slope = fit(&made, 0, 0);
    CHECK_CLOSE(slope.slope, 0.5, 1e-14);
    /* of 6 draws at a probability of 1/2: at most 0 in 1.6 %, at most 1 in 10.9 % */
    CHECK_CLOSE(slope.low, 0.5 - widening / 3, 1e-12);
    CHECK_CLOSE(slope.high, 0.5 + widening / 3, 1e-12);
}

/* Seeds that agree leave the brackets. A slope from two places, with draws that are uniform and the same for
 * all seeds of a place, has a triangular distribution. */
TEST(slope_in_wide_brackets_has_their_interval_however_many_seeds)
{
    double end = 0.3 / 4 * (1 - sqrt(2 * 0.025));

    for (int64_t seeds = 2; seeds <= SEEDS; seeds++) {
        struct made made = {.seeds = seeds};
        for (int64_t i = seeds; i < 4 * seeds; i++)
            made.y[i] = NAN;
        struct slope slope = fit(&made, 0.3, 0.5);
        CHECK_CLOSE(slope.low, -end, 0.03 * end);
        CHECK_CLOSE(slope.high, end, 0.03 * end);
    }
}

/* The interval reaches the slope even if interpolation always uses the same adverse ends. */
TEST(slope_is_within_its_interval)
{
    struct made made = {.seeds = 2};
    const struct slope_data data = {PLACES, 2, made.x, made.y, made.low, made.high};
    struct slope slope;

    fit(&made, 1, 0);
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < 2; j++) {
            made.low[2 * i + j] = i < 2 ? 0 : -1;
            made.high[2 * i + j] = i < 2 ? 1 : 0;
        }
    CHECK(slope_fit(&data, &slope) == 0);
    CHECK(slope.slope == 0 && slope.low <= 0 && slope.high >= 0);
    CHECK(slope.low < -0.2 && slope.high == 0);
    for (int i = 0; i < PLACES * 2; i++) {
        made.low[i] = i < 4 ? -1 : 0;
        made.high[i] = i < 4 ? 0 : 1;
    }
    CHECK(slope_fit(&data, &slope) == 0);
    CHECK(slope.low == 0 && slope.high > 0.2);
}

enum { CASES = 400 };

/* The part of intervals that hold the true slope, of boundaries with normal noise on a fine grid. */
static double coverage(int64_t seeds)
{
    struct made made = {.seeds = seeds};
    int covered = 0;

    for (int i = 0; i < CASES; i++) {
        for (int64_t j = 0; j < PLACES * seeds; j++)
            made.y[j] =
                0.4 * (double)(j / seeds) + 0.1 * random_normal(7, RANDOM_TEST, (uint64_t)(i << 8 | j));
        struct slope slope = fit(&made, 0.01, 0.5);
        covered += slope.low <= 0.4 && slope.high >= 0.4;
    }
    return (double)covered / CASES;
}

/* A standard error of the share is 1.1 %. */
THOROUGH(slope_interval_covers_the_true_slope, "simulates thousands of boundaries")
{
    for (int64_t seeds = 1; seeds <= SEEDS; seeds++) {
        double share = coverage(seeds);
        CHECK_CLOSE(share, 0.95, 0.035);
    }
}
