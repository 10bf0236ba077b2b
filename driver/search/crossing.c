/*
 * The order of runs: the smallest value; the guess from it; the guess from the two runs nearest to the
 * crossing, again and again, each rounded to the nearest run inside the known range. Without a known upper
 * end, steps outward are at least 1, 1, 2, 4, ... runs long, so that guesses that are too low take few runs.
 * The middle is taken after two choices in a row that have not halved the range, and where the guess is far
 * outside of it, as where runs diverge before growth ends. So with a useless guess a search takes up to
 * log2(length) runs outward, and three for each halving afterwards.
 *
 * With at_once, a round is several runs, and what was found is looked at when all of them have ended. The
 * first round has the smallest value and others at equal distances; one that has a guess has the runs on both
 * sides of it, and others further and further away, at distances that grow by the same factor up to the ends
 * of the range; one that takes the middle divides the range evenly.
 *
 * Where it finds neighbours, one of which diverged, the search goes on from the higher one in the same
 * way. If runs beyond it are known to be on different sides, it takes up their last change of side, so that
 * the crossing that is found is the last one between runs that were trained.
 */
#include "driver/search/inside.h"
#include "model/core/check.h"

#include <math.h>

enum { SLOW_MOST = 2 };

static void forget(struct crossing *crossing)
{
    crossing->before = crossing->divergence = -1;
    crossing->low = 0;
    crossing->high = crossing->length;
    crossing->stride = 1;
    crossing->slow = 0;
}

/* Wants up to `most` runs, which divide the range between two others evenly. */
static void want_evenly(const struct crossing *crossing, int64_t low, int64_t high, int64_t most)
{
    int64_t count = at_most(most, high - low - 1);

    for (int64_t i = 1; i <= count; i++)
        crossing->want(crossing->context, low + i * (high - low) / (count + 1));
}

void crossing_begin(struct crossing *crossing)
{
    int64_t length = crossing->length;

    INVARIANT(length > 0 && crossing->at_once > 0, "a line of %lld runs, %lld", (long long)length,
        (long long)crossing->at_once);
    crossing->end = CROSSING_SEARCHES;
    forget(crossing);
    crossing->want(crossing->context, 0);
    want_evenly(crossing, 0, length, crossing->at_once - 1);
}

/* Wants `count` runs `step` times 0 and more away from `from`, at distances up to `most` by equal factors. */
static void want_away(
    const struct crossing *crossing, int64_t from, int64_t step, int64_t most, int64_t count)
{
    int64_t next = 0;

    for (int64_t i = 0; i < count && next <= most; i++, next++) {
        int64_t far = i > 0 ? (int64_t)lround(pow((double)most + 1, (double)i / (double)count)) - 1 : 0;
        next = far > next && far <= most ? far : next;
        crossing->want(crossing->context, from + step * next);
    }
}

/* Wants runs from `least` to `most` around the guess: alone, the nearest one, but none below `outward`. */
static void want_around(
    const struct crossing *crossing, double guess, int64_t least, int64_t most, int64_t outward)
{
    int64_t nearest = lround(fmin(fmax(guess, (double)outward), (double)most)), count = crossing->at_once;
    int64_t above = guess > (double)nearest && nearest < most ? nearest + 1 : nearest;
    int64_t below = above - least, room = most - above + 1; /* runs on both sides */
    int64_t down = at_most(count - at_most((count + 1) / 2, room), below);

    if (count == 1) {
        crossing->want(crossing->context, nearest);
        return;
    }
    want_away(crossing, above, 1, most - above, at_most(count - down, room));
    want_away(crossing, above - 1, -1, below - 1, down);
}

/* The new range is where the runs of the round, which are inside of the old one, last change their side. */
static void narrow(struct crossing *crossing)
{
    int64_t range = crossing->high - crossing->low, high = crossing->high;
    bool open = high == crossing->length;

    for (int64_t run = crossing->low + 1; run < high; run++) {
        if (crossing->side[run] == SIDE_OPEN)
            continue;
        if (crossing->side[run] == crossing->side[crossing->low]) {
            crossing->before = crossing->low;
            crossing->low = run;
            crossing->high = high;
        } else if (crossing->high == high) {
            crossing->high = run;
        }
    }
    /* The first end of the range is not slow. */
    bool halved = 2 * (crossing->high - crossing->low) <= range;
    crossing->slow = open || halved ? 0 : crossing->slow + 1;
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
    int64_t first = crossing->high, known = first, divergence = crossing->low, length = crossing->length;

    forget(crossing);
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
    /* If several runs at once have crossed and come back, the line goes on behind the last of them. */
    bool back = crossing->side[known] == crossing->side[first] && !is_diverged(crossing, first);
    if (crossing->at_once > 1 && back && known < length - 1) {
        crossing->low = known;
        crossing->high = length;
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

void crossing_take(struct crossing *crossing, crossing_guess *guess)
{
    INVARIANT(crossing->end == CROSSING_SEARCHES && crossing->side[0] != SIDE_OPEN, "side %d, end %d",
        crossing->side[0], crossing->end);
    for (int64_t run = 0; run < crossing->length; run++)
        if (crossing->side[run] == SIDE_NONE) {
            crossing->lacking = run;
            crossing->end = CROSSING_LACKS;
            return;
        }
    narrow(crossing);
    while (
        is_found(crossing) && (is_diverged(crossing, crossing->low) || is_diverged(crossing, crossing->high)))
        go_on(crossing);
    int64_t low = crossing->low, high = crossing->high, last = crossing->length - 1;
    bool open = high > last, at_end = low == last; /* open: no run on another side is known */
    if (is_found(crossing) || at_end) {
        crossing->end = at_end && crossing->divergence < 0 ? CROSSING_SAME : CROSSING_FOUND;
        if (at_end && crossing->divergence >= 0)
            take_divergence(crossing);
        return;
    }
    double place = guess(crossing->context, low, open ? crossing->before : high);
    if (open && isnan(place)) {
        want_evenly(crossing, low, last, crossing->at_once - 1);
        crossing->want(crossing->context, last);
    } else if (open) { /* the guess, but at least a step that doubles each time */
        int64_t outward = at_most(low + crossing->stride, last);
        if (crossing->before >= 0) /* the first guess may well be right to the nearest run */
            crossing->stride *= 2;
        want_around(crossing, place, low + 1, last, outward);
    } else if (place > (double)(low - 1) && place < (double)(high + 1) && crossing->slow < SLOW_MOST) {
        want_around(crossing, place, low + 1, high - 1, low + 1);
    } else {
        crossing->slow = 0;
        want_evenly(crossing, low, high, crossing->at_once);
    }
}

enum side crossing_implied(const struct crossing *crossing, int64_t run)
{
    int64_t before = run, after = run;

    while (before >= 0 && crossing->side[before] <= SIDE_NONE)
        before--;
    while (after < crossing->length && crossing->side[after] <= SIDE_NONE)
        after++;
    bool agree =
        before >= 0 && (after == crossing->length || crossing->side[before] == crossing->side[after]);
    return agree ? (enum side)crossing->side[before] : SIDE_NONE;
}

double crossing_expected(int64_t length, int64_t at_once)
{
    double more = 3.1 + 0.75 * log2((double)length / 64); /* rounds of one run after the first */
    double rounds = 1 + fmax(more, 1) / (1 + log2((double)at_once));

    return fmin((double)length, rounds * (double)at_once);
}

enum side crossing_side(const struct search_reader *reader, const struct refine *refine, int64_t cell)
{
    double value = reader->value(reader->context, cell, refine->variable);

    return isnan(value) ? SIDE_NONE : value > refine->at ? SIDE_ABOVE : SIDE_BELOW;
}
