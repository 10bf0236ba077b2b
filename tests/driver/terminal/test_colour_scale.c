/* The choice of colour scales. */
#include "driver/tables/nature.h"
#include "driver/terminal/colour_scale.h"
#include "tests/test.h"

#include <math.h>

#define CHOOSE(scale, linear, ...)                                                                           \
    do {                                                                                                     \
        const double value[] = {__VA_ARGS__};                                                                \
        CHECK(colour_scale_choose(scale, value, sizeof(value) / sizeof(*value), linear));                    \
    } while (0)

TEST(colour_scale_is_logarithmic_where_most_are_small)
{
    struct colour_scale scale;

    CHOOSE(&scale, false, 1, 1000, 10, 0.1);
    CHECK(scale.logarithmic && scale.low == 0.1 && scale.high == 1000 && !scale.below && !scale.above);
    CHECK(fabs(colour_scale_place(&scale, 10) - 0.5) < 1e-15);
    CHECK(fabs(colour_scale_value(&scale, 0.5) - 10) < 1e-13);
    CHOOSE(&scale, true, 1, 1000, 10, 0.1); /* linear was requested */
    CHECK(!scale.logarithmic);
    CHOOSE(&scale, false, 1, 100, 10, 5); /* no more than a factor of 100 */
    CHECK(!scale.logarithmic && scale.low == 1 && scale.high == 100);
    CHOOSE(&scale, false, 1, 200, 150, 120); /* most are large */
    CHECK(!scale.logarithmic);
    CHOOSE(&scale, false, 0, 1000, 10, 0.1);
    CHECK(!scale.logarithmic);
}

TEST(colour_scale_leaves_out_what_lies_far_out)
{
    struct colour_scale scale;

    CHOOSE(&scale, false, 2, 2.5, NAN, 3, 2.2, 2.7, 2.9, 125, INFINITY);
    CHECK(!scale.logarithmic && scale.low == 2 && scale.high == 3 && scale.above && !scale.below);
    CHECK(colour_scale_place(&scale, 2.5) == 0.5 && colour_scale_place(&scale, 125) == 1);
    CHECK(colour_scale_place(&scale, INFINITY) == 1 && colour_scale_place(&scale, -INFINITY) == 0);
    CHOOSE(&scale, false, 2, 2.5, 3, 2.2, 2.7, 2.9, 1e30); /* also an outlier on a logarithmic scale */
    CHECK(!scale.logarithmic && scale.high == 3 && scale.above);
    CHOOSE(&scale, false, -1e9, -0.5, 0, 0.5, 1, 2);
    CHECK(scale.low == -0.5 && scale.high == 2 && scale.below && !scale.above);
    CHECK(colour_scale_place(&scale, -1e9) == 0);
    CHOOSE(&scale, false, 2, 2.5, 3, 2.2, 2.7, 2.9, 10); /* not ten times as far */
    CHECK(scale.high == 10 && !scale.above);
}

TEST(colour_scale_of_few_values)
{
    struct colour_scale scale;

    CHOOSE(&scale, false, NAN, INFINITY);
    CHECK(scale.low > scale.high);
    CHOOSE(&scale, false, 5, 5, 5);
    CHECK(scale.low == 5 && scale.high == 5 && !scale.above && colour_scale_place(&scale, 5) == 0);
    CHOOSE(&scale, false, 1, 2, 3, -1e6);
    CHECK(scale.low == -1e6 && !scale.below);
    CHOOSE(&scale, false, 1, 1e6);
    CHECK(scale.low == 1 && scale.high == 1e6 && !scale.above);
}

TEST(natures_of_variables)
{
    const struct nature_row *row = nature_table;

    CHECK(nature_of("norm_growth", NULL) == &row[NATURE_RATIO] && row[NATURE_RATIO].geometric);
    CHECK(nature_of("fit_sqrt_r2", NULL)->linear && nature_of("direction_cosine", NULL)->linear);
    CHECK(nature_of("train_loss", NULL) == &row[NATURE_MAGNITUDE] && row[NATURE_MAGNITUDE].trained);
    CHECK(!nature_of("unigram_loss", NULL)->trained && nature_of("seconds", NULL) == &row[NATURE_RECORD]);
    CHECK(nature_of("a later metric", "share") == &row[NATURE_SHARE]);
    CHECK(nature_of("norm_growth", "a later nature") == &row[NATURE_RATIO]);
}
