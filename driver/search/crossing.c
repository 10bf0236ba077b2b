/*
 * The order of runs: the smallest value; the guess from it; the guess from the two runs nearest to the
 * crossing, again and again, each rounded to the nearest run inside the known range. Without a known upper
 * end, steps outward are at least 1, 1, 2, 4, ... runs long, so that guesses that are too low take few runs.
 * The middle is taken after two choices in a row that have not halved the range, and where the guess is far
 * outside of it, as where runs diverge before growth ends. So with a useless guess a search takes up to
 * log2(length) runs outward, and three for each halving afterwards.
 */
#include "driver/search/crossing.h"

#include <math.h>
#include <stdbool.h>

#include "model/core/check.h"

enum { SLOW_MOST = 2 };

void crossing_begin(struct crossing *crossing, int64_t length)
{
    INVARIANT(length > 0, "a line of %lld runs", (long long)length);
    *crossing = (struct crossing){.length = length, .before = -1, .high = length, .stride = 1};
}

static void crossing_finish(struct crossing *crossing, enum crossing_end end)
{
    crossing->end = end;
    crossing->wanted = -1;
}

static int64_t within(double place, int64_t least, int64_t most)
{
    return !(place > (double)least) ? least : place < (double)most ? (int64_t)lround(place) : most;
}

/* No run on another side is known: the guess, but at least a step that doubles each time. */
static int64_t choose_outward(struct crossing *crossing, double guess)
{
    int64_t last = crossing->length - 1;

    if (isnan(guess))
        return last;
    int64_t least = crossing->low + crossing->stride < last ? crossing->low + crossing->stride : last;
    if (crossing->before >= 0) /* the first guess may well be right to the nearest run */
        crossing->stride *= 2;
    return within(guess, least, last);
}

static int64_t choose_inside(struct crossing *crossing, double guess)
{
    bool likely = guess > (double)(crossing->low - 1) && guess < (double)(crossing->high + 1);

    if (likely && crossing->slow < SLOW_MOST)
        return within(guess, crossing->low + 1, crossing->high - 1);
    crossing->slow = 0;
    return crossing->low + (crossing->high - crossing->low) / 2;
}

static void note_side(struct crossing *crossing, int64_t run, enum side side)
{
    int64_t range = crossing->high - crossing->low;

    if (run == 0) {
        crossing->first = side;
    } else if (side == crossing->first) {
        crossing->before = crossing->low;
        crossing->low = run;
    } else {
        if (crossing->high == crossing->length)
            range = 2 * (run - crossing->low); /* the first end of the range: not slow */
        crossing->high = run;
    }
    if (crossing->high < crossing->length)
        crossing->slow = 2 * (crossing->high - crossing->low) > range ? crossing->slow + 1 : 0;
}

void crossing_take(struct crossing *crossing, enum side side, crossing_guess *guess, void *context)
{
    INVARIANT(
        crossing->end == CROSSING_SEARCHES && side != SIDE_OPEN, "side %d, end %d", side, crossing->end);
    if (side == SIDE_NONE) {
        crossing->lacking = crossing->wanted;
        crossing_finish(crossing, CROSSING_LACKS);
        return;
    }
    note_side(crossing, crossing->wanted, side);
    if (crossing->low == crossing->length - 1)
        crossing_finish(crossing, CROSSING_SAME);
    else if (crossing->high - crossing->low == 1 && crossing->high < crossing->length)
        crossing_finish(crossing, CROSSING_FOUND);
    else if (crossing->high == crossing->length)
        crossing->wanted = choose_outward(crossing, guess(context, crossing->low, crossing->before));
    else
        crossing->wanted = choose_inside(crossing, guess(context, crossing->low, crossing->high));
}

double crossing_expected(int64_t length)
{
    double runs = 4.1 + 0.75 * log2((double)length / 64);

    return fmin((double)length, fmax(runs, 2));
}
