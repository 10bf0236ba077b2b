#ifndef NORMSWEEP_DRIVER_SEARCH_CROSSING_H
#define NORMSWEEP_DRIVER_SEARCH_CROSSING_H

#include <stdint.h>

/*
 * A search along one line of a grid for the neighbours between which its variable crosses a value. It trains
 * one run after the other; which one comes next follows from the results so far alone.
 *
 * A run that diverged is on a side of its own. Where the search finds that divergence begins or ends, it goes
 * on from there, up to the last run of the line.
 */

/* Where a run ended. */
enum side {
    SIDE_OPEN, /* it has not ended */
    SIDE_NONE, /* it failed, has no value, or is left out */
    SIDE_ABOVE, /* its variable is above the value that it may cross */
    SIDE_BELOW, /* at or below */
    SIDE_DIVERGED,
};

enum crossing_end {
    CROSSING_SEARCHES,
    CROSSING_FOUND, /* runs `low` and `high` are on different sides, and neighbours, or only runs that
                     * diverged are between them; one of the two has diverged if nothing else was found */
    CROSSING_SAME, /* the first and the last run are on the same side */
    CROSSING_LACKS, /* a run that it needs has no side */
};

struct crossing {
    int64_t length; /* runs, numbered from the smallest value of the axis */
    const signed char *side; /* [length] enum side. Borrowed */
    int64_t wanted; /* the run to train next; -1: the search has ended */
    enum crossing_end end;
    int64_t low; /* the last run known to be on the side from which the search goes */
    int64_t before; /* the one known before it; -1: none */
    int64_t high; /* the first run known not to be; `length`: none is known */
    int64_t divergence; /* divergence begins or ends behind this run, as was found last; -1: nowhere */
    int64_t stride; /* of the next step outward, while no `high` is known */
    int64_t lacking; /* CROSSING_LACKS: that run */
    int slow; /* choices in a row that have not halved the range between low and high */
};

/*
 * The place of the crossing on a line, as a real number between places of runs, guessed from the run `a` and,
 * unless it is -1, from `b`. NaN: no guess.
 */
typedef double crossing_guess(void *context, int64_t a, int64_t b);

/* `side` is SIDE_OPEN for all runs. */
void crossing_begin(struct crossing *crossing, int64_t length, const signed char *side);

/* The wanted run has ended, on the side that `side` now says; chooses the next one. */
void crossing_take(struct crossing *crossing, crossing_guess *guess, void *context);

/* Roughly how many runs a search along such a line takes. */
double crossing_expected(int64_t length);

#endif
