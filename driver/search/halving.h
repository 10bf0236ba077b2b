#ifndef NORMSWEEP_DRIVER_SEARCH_HALVING_H
#define NORMSWEEP_DRIVER_SEARCH_HALVING_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/search/crossing.h"

/*
 * A search in a rectangle of runs for all neighbours on different sides. A coarse pass trains every N-th run
 * of both axes, and the last ones. A square of the coarse pass in which two runs differ is then trained at
 * half the step, and so on, down to neighbours. A run on an edge belongs to the squares on both sides of it,
 * so the search follows a boundary from square to square. It does not find a finer structure inside a square
 * whose runs all agree. Which runs it trains follows from the results alone, in whatever order they come.
 */
struct halving {
    int64_t length[2]; /* runs along the two axes; 1: there is no second axis */
    int64_t coarse; /* runs between those of the coarse pass; a power of 2 */
    signed char *side; /* [length[0]][length[1]] enum side. Borrowed */
    bool *wanted; /* [length[0]][length[1]] trained, or to be. Borrowed */
};

/* Called for each run that is newly wanted, by its place in the arrays. */
typedef void halving_want(void *context, int64_t place);

/* Wants the coarse pass. `side` has SIDE_NONE where there is no run, else SIDE_OPEN; `wanted` is false. */
void halving_begin(const struct halving *halving, halving_want *want, void *context);

/* The side of the run at `place` is now known; wants what follows from it. */
void halving_take(const struct halving *halving, int64_t place, halving_want *want, void *context);

/* Roughly how many runs such a search takes. */
double halving_expected(const int64_t length[2], int64_t coarse);

/* Once the search has ended: the side of a run that was not wanted, by the corners of the smallest square
 * around it; SIDE_NONE where they have none, or do not agree. */
enum side halving_implied(const struct halving *halving, int64_t place);

#endif
