/* Where lines of runs cross, in closed form. */
#include "driver/boundary/line.h"
#include "tests/test.h"

#include <math.h>

static const struct line_rule of_growth = {.at = 1, .ratio = true, .log_axis = true, .falls = true};

static struct line_bracket cross(
    const struct line_rule *rule, int64_t count, const double *axis, const double *value)
{
    struct line_point point[16];

    for (int64_t i = 0; i < count; i++)
        point[i] = (struct line_point){axis[i], value[i]};
    return line_cross(rule, point, count);
}

/* growth = (decay / 0.02)^-1/2 is a straight line in the logarithms. The axis may descend. */
TEST(line_crosses_where_a_power_law_is_one)
{
    const double decay[] = {10, 1, 0.1, 0.01, 0.001};
    double growth[5];

    for (int i = 0; i < 5; i++)
        growth[i] = pow(decay[i] / 0.02, -0.5);
    struct line_bracket found = cross(&of_growth, 5, decay, growth);
    CHECK_CLOSE(found.boundary, 0.02, 1e-15);
    CHECK(found.low == 0.01 && found.high == 0.1);
    const struct line_rule at_two = {.at = 2, .ratio = true, .log_axis = true, .falls = true};
    found = cross(&at_two, 5, decay, growth);
    CHECK_CLOSE(found.boundary, 0.005, 1e-15);
    CHECK(found.low == 0.001 && found.high == 0.01);
}

TEST(line_of_runs_on_one_side_crosses_nothing)
{
    const double decay[] = {0.1, 1, 10}, grows[] = {3, 2, 1.5}, shrinks[] = {1, 0.5, 0.2};
    const double rises[] = {0.5, 0.9, 2}, none[] = {NAN, NAN, NAN};
    const double *const values[] = {grows, shrinks, rises, none};

    for (int i = 0; i < 4; i++) {
        struct line_bracket found = cross(&of_growth, 3, decay, values[i]);
        CHECK(isnan(found.boundary) && isnan(found.low) && isnan(found.high));
    }
    CHECK(isnan(cross(&of_growth, 0, decay, none).boundary));
}

/* A run that diverged or was not trained has no value; the runs beside it are neighbours. */
TEST(line_passes_over_runs_without_a_value)
{
    const double decay[] = {0.1, 1, 10, 100}, growth[] = {4, NAN, 0.25, NAN};
    struct line_bracket found = cross(&of_growth, 4, decay, growth);

    CHECK_CLOSE(found.boundary, 1, 1e-15);
    CHECK(found.low == 0.1 && found.high == 10);
}

TEST(line_that_crosses_twice_has_its_boundary_at_the_last_fall)
{
    const double decay[] = {0.1, 1, 10, 100, 1000}, growth[] = {2, 0.5, 2, 0.5, 2};
    const struct line_rule both = {.at = 1, .ratio = true, .log_axis = true};

    CHECK(cross(&of_growth, 5, decay, growth).low == 10);
    CHECK(cross(&both, 5, decay, growth).low == 100);
}

/* Between a decay of 0 and the next there is a bracket, but no boundary in logarithms. */
TEST(line_beside_a_decay_of_zero_has_a_bracket_alone)
{
    const double decay[] = {0.1, 0, 1}, growth[] = {0.9, 1.1, 0.5};
    struct line_bracket found = cross(&of_growth, 3, decay, growth);

    CHECK(isnan(found.boundary) && found.low == 0 && found.high == 0.1);
}

TEST(line_of_another_variable_is_straight_in_it)
{
    const double place[] = {0, 0.5, 1}, value[] = {-3, -1, 3};
    const struct line_rule rule = {.at = 0};
    struct line_bracket found = cross(&rule, 3, place, value);

    CHECK_CLOSE(found.boundary, 0.625, 1e-15);
    const double positive[] = {1, 10, 100};
    const struct line_rule logs = {.at = 0, .log_axis = true};
    CHECK_CLOSE(cross(&logs, 3, positive, value).boundary, pow(10, 1.25), 1e-13);
    const double back[] = {5, -1, -3};
    CHECK_CLOSE(cross(&rule, 3, place, back).boundary, 0.5 * 5 / 6, 1e-15);
}

TEST(line_takes_norms_of_zero_and_infinity_for_sides)
{
    const double decay[] = {1, 10}, growth[] = {INFINITY, 0};

    CHECK_CLOSE(cross(&of_growth, 2, decay, growth).boundary, sqrt(10), 1e-14);
}
