/*
 * The search in a plane. A coarse pass trains every N-th run of both axes, and the last ones. Each run that
 * ends then halves the squares around it whose corners have ended and that hold runs on different sides, down
 * to neighbours. A run on an edge belongs to the squares on both sides of it, so the search follows a
 * boundary from square to square. Which runs are wanted in the end does not depend on the order of results.
 */
#include "driver/search/inside.h"
#include "model/core/check.h"

#include <math.h>

/* The runs [low, high] of a square along both axes. */
struct square {
    int64_t low[2], high[2];
};

/* The next run of a pass after `from`: every step-th, and the last of the square. */
static int64_t next_of_pass(int64_t from, int64_t step, int64_t high)
{
    return from == high ? high + 1 : at_most((from / step + 1) * step, high);
}

/* Wants the runs of a pass of this step in a square. */
static void want_pass(const struct halving *h, const struct square *square, int64_t step)
{
    for (int64_t i = square->low[0]; i <= square->high[0]; i = next_of_pass(i, step, square->high[0]))
        for (int64_t j = square->low[1]; j <= square->high[1]; j = next_of_pass(j, step, square->high[1])) {
            int64_t place = i * h->length[1] + j;
            if (h->side[place] == SIDE_OPEN)
                h->want(h->context, place);
        }
}

/* The side that the corners of a square share, apart from those without one: SIDE_OPEN if a corner has not
 * ended, SIDE_NONE if the others do not agree or there are none. */
static enum side side_of_corners(const struct halving *h, const struct square *square)
{
    enum side found = SIDE_NONE;
    bool agree = true;

    for (int corner = 0; corner < 4; corner++) {
        int64_t row = corner & 1 ? square->high[0] : square->low[0];
        int64_t column = corner & 2 ? square->high[1] : square->low[1];
        enum side side = (enum side)h->side[row * h->length[1] + column];
        if (side <= SIDE_WANTED)
            return SIDE_OPEN;
        agree = agree && (side == SIDE_NONE || found == SIDE_NONE || side == found);
        found = side == SIDE_NONE ? found : side;
    }
    return agree ? found : SIDE_NONE;
}

/* Are two runs that have ended on different sides? */
static bool is_mixed(const struct halving *h, const struct square *square)
{
    enum side found = SIDE_NONE;

    for (int64_t i = square->low[0]; i <= square->high[0]; i++)
        for (int64_t j = square->low[1]; j <= square->high[1]; j++) {
            enum side side = (enum side)h->side[i * h->length[1] + j];
            if (side <= SIDE_NONE || side == found)
                continue;
            if (found != SIDE_NONE)
                return true;
            found = side;
        }
    return false;
}

/* The first and last square of this step, along an axis, that hold run `at`. */
static void squares_around(int64_t at, int64_t step, int64_t length, int64_t *first, int64_t *last)
{
    int64_t count = length > 1 ? (length - 2) / step + 1 : 1;

    *last = at_most(at / step, count - 1);
    *first = at % step == 0 && at > 0 && at / step < count ? at / step - 1 : *last;
}

static struct square square_at(const struct halving *h, int64_t i, int64_t j, int64_t step)
{
    return (struct square){{i * step, j * step},
        {at_most((i + 1) * step, h->length[0] - 1), at_most((j + 1) * step, h->length[1] - 1)}};
}

void halving_begin(const struct halving *h)
{
    const struct square all = {{0, 0}, {h->length[0] - 1, h->length[1] - 1}};

    INVARIANT(h->length[0] > 0 && h->length[1] > 0 && h->coarse > 0, "%lld x %lld / %lld",
        (long long)h->length[0], (long long)h->length[1], (long long)h->coarse);
    want_pass(h, &all, h->coarse);
}

/* Halves the squares of each pass around the run. */
void halving_take(const struct halving *h, int64_t place)
{
    int64_t first[2], last[2];

    for (int64_t step = h->coarse; step > 1; step /= 2) {
        squares_around(place / h->length[1], step, h->length[0], &first[0], &last[0]);
        squares_around(place % h->length[1], step, h->length[1], &first[1], &last[1]);
        for (int64_t i = first[0]; i <= last[0]; i++)
            for (int64_t j = first[1]; j <= last[1]; j++) {
                const struct square square = square_at(h, i, j, step);
                if (side_of_corners(h, &square) != SIDE_OPEN && is_mixed(h, &square))
                    want_pass(h, &square, step / 2);
            }
    }
}

/* If two runs of the smallest square with known corners differed, it would have been halved. */
enum side halving_implied(const struct halving *h, int64_t place)
{
    int64_t row = place / h->length[1], column = place % h->length[1], first[2], last[2];

    for (int64_t step = 2; step <= h->coarse; step *= 2) {
        squares_around(row, step, h->length[0], &first[0], &last[0]);
        squares_around(column, step, h->length[1], &first[1], &last[1]);
        const struct square square = square_at(h, last[0], last[1], step);
        enum side side = side_of_corners(h, &square);
        if (side != SIDE_OPEN)
            return side;
    }
    return SIDE_NONE;
}

/* The coarse pass; and for a boundary across the rectangle about three runs more in each pass for every step
 * by which it advances. */
double halving_expected(const int64_t length[2], int64_t coarse)
{
    double across = (double)(length[0] + length[1]) / 2, runs = 1;

    for (int i = 0; i < 2; i++)
        runs *= length[i] > 1 ? ceil((double)(length[i] - 1) / (double)coarse) + 1 : 1;
    if (length[0] == 1 || length[1] == 1)
        runs += log2((double)coarse);
    else
        runs += 3 * across * (1 - 1 / (double)coarse);
    return fmin(runs, (double)length[0] * (double)length[1]);
}
