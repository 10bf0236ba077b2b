/* The weights of one query from its scores, at every vector level. */
#include "tests/test.h"

#include "model/core/random.h"
#include "tests/model/kernels/each_level.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 1e-6;

enum { COUNT = 2500 };

static scalar scores[COUNT];
static double given[COUNT];

static void draw(int count, double size)
{
    for (int i = 0; i < count; i++) {
        scores[i] = (scalar)(size * random_normal(3, RANDOM_TEST, (uint64_t)i));
        given[i] = (double)scores[i];
    }
}

EACH_LEVEL(attention_weights_softmax)
{
    static const int counts[] = {1, 2, 15, 16, 17, 33, 1023, 1025, COUNT};

    for (int k = 0; k < 9; k++) {
        double most = -INFINITY, sum = 0;
        draw(counts[k], 5);
        for (int i = 0; i < counts[k]; i++)
            most = fmax(most, given[i]);
        for (int i = 0; i < counts[k]; i++)
            sum += exp((double)(scalar)0.3 * (given[i] - most));
        kernels->attention_weights(scores, counts[k], (scalar)0.3, false);
        for (int i = 0; i < counts[k]; i++)
            CHECK_CLOSE((double)scores[i], exp((double)(scalar)0.3 * (given[i] - most)) / sum, rounding);
    }
}

/* Scores within a millionth of the largest, of either sign, tie with it. */
EACH_LEVEL(attention_weights_hard)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const double most = 1000 * sign;
        draw(COUNT, 1);
        for (int i = 0; i < COUNT; i++)
            scores[i] = (scalar)(most - 1 - fabs(given[i]));
        scores[7] = scores[2000] = (scalar)most;
        scores[40] = (scalar)(most - 0.9e-3);
        scores[41] = (scalar)(most - 1.1e-3);
        kernels->attention_weights(scores, COUNT, 1, true);
        for (int i = 0; i < COUNT; i++)
            CHECK_CLOSE((double)scores[i], i == 7 || i == 40 || i == 2000 ? 1 / 3.0 : 0, 1e-7);
    }
}

EACH_LEVEL(attention_weights_of_nan_and_infinity)
{
    for (int hard = 0; hard < 2; hard++) {
        draw(40, 1);
        scores[20] = NAN;
        kernels->attention_weights(scores, 40, 1, hard);
        for (int i = 0; i < 40; i++)
            CHECK(isnan((double)scores[i]));
        draw(40, 1);
        scores[20] = -(scalar)INFINITY;
        kernels->attention_weights(scores, 40, 1, hard);
        for (int i = 0; i < 40; i++)
            CHECK((double)scores[i] >= 0 && (double)scores[i] <= 1);
        CHECK((double)scores[20] == 0);
    }
}
