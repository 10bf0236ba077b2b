/*
 * The order of runs: the smallest value; the guess from it; the guess from the two runs nearest to the
 * crossing, again and again, each rounded to the nearest run inside the known range. Without a known upper
 * end, steps outward are at least 1, 1, 2, 4, ... runs long, so that guesses that are too low take few runs.
 * The middle is taken after two choices in a row that have not halved the range, and where the guess is far
 * outside of it, as where runs diverge before growth ends. So with a useless guess a search takes up to
 * log2(length) runs outward, and three for each halving afterwards.
 *
 * Where it finds neighbours, one of which diverged, the search goes on from the higher one in the same
 * way. If runs beyond it are known to be on different sides, it takes up their last change of side, so that
 * the crossing that is found is the last one between runs that were trained.
 */
#include "driver/search/inside.h"
#include "model/core/check.h"

#include <math.h>
#include <stdbool.h>

enum { SLOW_MOST = 2 };

void crossing_begin(struct crossing *crossing, int64_t length, const signed char *side)
{
    INVARIANT(length > 0, "a line of %lld runs", (long long)length);
    *crossing = (struct crossing){
        .length = length, .side = side, .before = -1, .high = length, .divergence = -1, .stride = 1};
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

/* The wanted run is the new end of the range, on its side. */
static void narrow(struct crossing *crossing)
{
    int64_t run = crossing->wanted, range = crossing->high - crossing->low;

    if (run > 0 && crossing->side[run] == crossing->side[crossing->low]) {
        crossing->before = crossing->low;
        crossing->low = run;
    } else if (run > 0) {
        if (crossing->high == crossing->length)
            range = 2 * (run - crossing->low); /* the first end of the range: not slow */
        crossing->high = run;
    }
    if (crossing->high < crossing->length)
        crossing->slow = 2 * (crossing->high - crossing->low) > range ? crossing->slow + 1 : 0;
}

static bool is_found(const struct crossing *crossing)
{
    return crossing->high - crossing->low == 1 && crossing->high < crossing->length;
}

static bool is_diverged(const struct crossing *crossing, int64_t run)
{
    return crossing->side[run] == SIDE_DIVERGED;
}

/* Begins a new search at `high`, where the runs that are known from there on last change their side. */
static void go_on(struct crossing *crossing)
{
    int64_t known = crossing->high, divergence = crossing->low, length = crossing->length;

    crossing_begin(crossing, length, crossing->side);
    crossing->low = known;
    crossing->divergence = divergence;
    for (int64_t i = known + 1; i < length; i++) {
        if (crossing->side[i] == SIDE_OPEN)
            continue;
        if (crossing->side[i] != crossing->side[known]) {
            crossing->low = known;
            crossing->high = i;
        } else if (crossing->high == length) {
            crossing->low = i;
        }
        known = i;
    }
}

/* There is no crossing between neighbours: what was found is where divergence begins or ends, and with it a
 * crossing between the runs beside those that diverged. */
static void take_divergence(struct crossing *crossing)
{
    int64_t before = crossing->divergence;

    crossing->low = crossing->divergence;
    crossing->high = crossing->low + 1;
    while (before >= 0 && (is_diverged(crossing, before) || crossing->side[before] == SIDE_OPEN))
        before--;
    if (before >= 0 && !is_diverged(crossing, crossing->high) &&
        crossing->side[before] != crossing->side[crossing->high])
        crossing->low = before;
}

void crossing_take(struct crossing *crossing, crossing_guess *guess, void *context)
{
    enum side side = (enum side)crossing->side[crossing->wanted];

    INVARIANT(
        crossing->end == CROSSING_SEARCHES && side != SIDE_OPEN, "side %d, end %d", side, crossing->end);
    if (side == SIDE_NONE) {
        crossing->lacking = crossing->wanted;
        crossing->wanted = -1;
        crossing->end = CROSSING_LACKS;
        return;
    }
    narrow(crossing);
    while (
        is_found(crossing) && (is_diverged(crossing, crossing->low) || is_diverged(crossing, crossing->high)))
        go_on(crossing);
    bool at_end = crossing->low == crossing->length - 1;
    if (is_found(crossing) || at_end) {
        crossing->end = at_end && crossing->divergence < 0 ? CROSSING_SAME : CROSSING_FOUND;
        crossing->wanted = -1;
        if (at_end && crossing->divergence >= 0)
            take_divergence(crossing);
    } else if (crossing->high == crossing->length) {
        crossing->wanted = choose_outward(crossing, guess(context, crossing->low, crossing->before));
    } else {
        crossing->wanted = choose_inside(crossing, guess(context, crossing->low, crossing->high));
    }
}

double crossing_expected(int64_t length)
{
    double runs = 4.1 + 0.75 * log2((double)length / 64);

    return fmin((double)length, fmax(runs, 2));
}
