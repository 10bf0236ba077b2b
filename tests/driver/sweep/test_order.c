/* The order of values along the axes of a sweep. */
#include "tests/test.h"

#include "driver/sweep/grid.h"
#include "driver/sweep/sweep.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define BASE "corpus: markov\nsteps: 10\n"

/* Reads a sweep that must be valid; otherwise fails the test and returns false. */
static bool parse(struct sweep *sweep, const char *text)
{
    struct error error;

    if (sweep_parse(sweep, "sweep.yaml", "folder", text, strlen(text), NULL, 0, &error) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

/* Compares an axis of reals with values that end with NaN. */
static void check_reals(const struct axis *axis, const double *expected)
{
    int64_t count = 0;

    while (!isnan(expected[count]))
        count++;
    CHECK(axis->length == count);
    for (int64_t i = 0; i < count && i < axis->length; i++)
        CHECK_CLOSE(axis->value[i].real, expected[i], 0);
}

static void check_integers(const struct axis *axis, int64_t count, const int64_t *expected)
{
    CHECK(axis->length == count);
    for (int64_t i = 0; i < count && i < axis->length; i++)
        CHECK(axis->value[i].integer == expected[i]);
}

/* Numbers and truth values ascend, or descend where the list or its rule does; words stay. */
TEST(sweep_orders_numbers)
{
    struct sweep sweep;

    if (!parse(&sweep, BASE "learning_rate: [3, 1, 2]\nweight_decay: [3, 2, 0.5]\n"
                            "epsilon: {log: [1e-3, 1e-5], points: 3, plus: [1e-2, 3e-4, 1e-9]}\n"
                            "momentum: {range: [0.1, 0.3], points: 3, plus: [0.25, 0]}\n"
                            "seed: {range: [7, 7], plus: [9, 8]}\nlayers: {range: [3, 2], plus: [1]}\n"
                            "bias: [true, false]\ntied: [false, true]\nnorm_placement: [pre, out, post]\n"))
        return;
    check_reals(&sweep.axis[0], (double[]){1, 2, 3, NAN});
    check_reals(&sweep.axis[1], (double[]){3, 2, 0.5, NAN});
    check_reals(&sweep.axis[2], (double[]){1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-9, NAN});
    check_reals(&sweep.axis[3], (double[]){0, 0.1, 0.2, 0.25, 0.3, NAN});
    check_integers(&sweep.axis[4], 3, (int64_t[]){7, 8, 9});
    check_integers(&sweep.axis[5], 3, (int64_t[]){3, 2, 1});
    check_integers(&sweep.axis[6], 2, (int64_t[]){1, 0});
    check_integers(&sweep.axis[7], 2, (int64_t[]){0, 1});
    check_integers(&sweep.axis[8], 3, (int64_t[]){NORM_PRE, NORM_OUT, NORM_POST});
    sweep_release(&sweep);
}

/* The place of a value in the file moves with it. */
TEST(sweep_orders_places)
{
    static const char text[] = BASE "width: 12\nheads: [3, 8, 5, 2]\n";
    struct sweep sweep;
    struct error error;

    CHECK(sweep_parse(&sweep, "a.yaml", "", text, strlen(text), NULL, 0, &error) < 0);
    CHECK_TEXT(error.text, "a.yaml:4:15: heads: 5 does not divide width 12");
}
