/* The choice of colour scales. */
#include "driver/tables/tables.h"
#include "driver/terminal/terminal.h"
#include "tests/test.h"

#define CHOOSE(scale, numbers, ...)                                                                          \
    do {                                                                                                     \
        const double value[] = {__VA_ARGS__};                                                                \
        colour_scale_choose(scale, value, sizeof(value) / sizeof(*value), numbers);                          \
    } while (0)

TEST(colour_scale_is_logarithmic_over_a_wide_range)
{
    struct colour_scale scale;

    CHOOSE(&scale, NUMBERS_ANY, 1, 1000, 10, 0.1);
    CHECK(scale.logarithmic && scale.low == 0.1 && scale.high == 1000 && !scale.below && !scale.above);
    CHECK(fabs(colour_scale_place(&scale, 10) - 0.5) < 1e-15);
    CHECK(fabs(colour_scale_value(&scale, 0.5) - 10) < 1e-13);
    CHOOSE(&scale, NUMBERS_LINEAR, 1, 1000, 10, 0.1);
    CHECK(!scale.logarithmic);
    CHOOSE(&scale, NUMBERS_ANY, 1, 30, 10, 5); /* no more than a factor of 30 */
    CHECK(!scale.logarithmic && scale.low == 1 && scale.high == 30);
    CHOOSE(&scale, NUMBERS_ANY, 0, 1000, 10, 0.1);
    CHECK(!scale.logarithmic);
    CHOOSE(&scale, NUMBERS_ANY, 1, 2, 4, 8, 16, 32, 1e30); /* an outlier among logarithms, too */
    CHECK(scale.logarithmic && scale.low == 1 && scale.high == 32 && scale.above && !scale.below);
}

TEST(colour_scale_leaves_out_what_lies_far_out)
{
    struct colour_scale scale;

    CHOOSE(&scale, NUMBERS_LINEAR, 2, 2.5, NAN, 3, 2.2, 2.7, 2.9, 125, INFINITY);
    CHECK(!scale.logarithmic && scale.low == 2 && scale.high == 3 && scale.above && !scale.below);
    CHECK(colour_scale_place(&scale, 2.5) == 0.5 && colour_scale_place(&scale, 125) == 1);
    CHECK(colour_scale_place(&scale, INFINITY) == 1 && colour_scale_place(&scale, -INFINITY) == 0);
    CHOOSE(&scale, NUMBERS_ANY, -1e9, -4, -3, -2.5, -2, -1);
    CHECK(scale.low == -4 && scale.high == -1 && scale.below && !scale.above);
    CHECK(colour_scale_place(&scale, -1e9) == 0);
    CHOOSE(&scale, NUMBERS_ANY, 2, 2.5, 3, 2.2, 2.7, 2.9, 4); /* not three times as far */
    CHECK(scale.high == 4 && !scale.above);
}

TEST(colour_scale_of_factors_shows_weak_growth_beside_an_extreme)
{
    struct colour_scale scale;
    double growth[36];

    for (int i = 0; i < 36; i++)
        growth[i] = i % 2 ? 1.01 : 3;
    growth[7] = 1e6;
    colour_scale_choose(&scale, growth, 36, NUMBERS_FACTORS);
    CHECK(scale.diverging && scale.above && !scale.below && scale.high < 1e5);
    CHECK(fabs(scale.low * scale.high - 1) < 1e-12 && fabs(colour_scale_place(&scale, 1) - 0.5) < 1e-12);
    double weak = colour_scale_place(&scale, 1.01), strong = colour_scale_place(&scale, 3);
    CHECK(weak > 0.5 && strong - weak > 0.2 && colour_scale_place(&scale, 1e6) == 1);
    CHECK(fabs(colour_scale_place(&scale, 1 / 3.0) + strong - 1) < 1e-12);
    for (int i = 0; i < 10; i++) {
        double place = 0.05 + 0.1 * i;
        CHECK(fabs(colour_scale_place(&scale, colour_scale_value(&scale, place)) - place) < 1e-12);
    }
    CHOOSE(&scale, NUMBERS_FACTORS, 1.001, 0.999, 1.02, 1); /* weak growth alone: linear in the logarithm */
    CHECK(isinf(scale.knee) && fabs(colour_scale_place(&scale, 1) - 0.5) < 1e-9);
    CHOOSE(&scale, NUMBERS_FACTORS, 0, 2, 1);
    CHECK(scale.low >= 0 && colour_scale_place(&scale, 0) == 0);
    CHOOSE(&scale, NUMBERS_FACTORS, 1, 1, 1);
    CHECK(scale.low < 1 && scale.high > 1);
}

TEST(colour_scale_of_both_signs)
{
    struct colour_scale scale;

    CHOOSE(&scale, NUMBERS_ANY, -1, 0, 2, 1.5);
    CHECK(scale.diverging && !scale.logarithmic && isinf(scale.knee) && scale.low == -scale.high);
    CHECK(colour_scale_place(&scale, 0) == 0.5);
    CHOOSE(&scale, NUMBERS_ANY, -1, 1, 2, -2, 1e5, 1e6); /* logarithmic beyond the usual size */
    CHECK(scale.diverging && isfinite(scale.knee) && colour_scale_place(&scale, 1) > 0.51);
    CHOOSE(&scale, NUMBERS_ANY, 0, 0, -1, 0, 0, 0, 0, 0, 1);
    CHECK(scale.high > 0 && colour_scale_place(&scale, 0) == 0.5);
}

TEST(colour_scale_of_few_values)
{
    struct colour_scale scale;

    CHOOSE(&scale, NUMBERS_ANY, NAN, INFINITY);
    CHECK(scale.low > scale.high);
    CHOOSE(&scale, NUMBERS_ANY, 5, 5, 5);
    CHECK(scale.low == 5 && scale.high == 5 && !scale.above && colour_scale_place(&scale, 5) == 0);
    CHOOSE(&scale, NUMBERS_ANY, 1, 2, 3, 1e6);
    CHECK(scale.high == 1e6 && !scale.above);
    CHOOSE(&scale, NUMBERS_ANY, 1, 1e6);
    CHECK(scale.low == 1 && scale.high == 1e6 && !scale.above);
}

TEST(natures_of_variables)
{
    CHECK(nature_of("ratio") == &nature_table[NATURE_RATIO] && nature_of("ratio")->geometric);
    CHECK(nature_of("share") == &nature_table[NATURE_SHARE] && nature_of("share")->linear);
    CHECK(nature_of(NULL) == &nature_table[NATURE_RECORD] && nature_of("apples") == nature_of(NULL));
}
