#ifndef NORMSWEEP_DRIVER_SEARCH_INSIDE_H
#define NORMSWEEP_DRIVER_SEARCH_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/search/search.h"

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

/*
 * rho at the last step of a run at `decay`, over rho at its first. `second` NULL: from one run; else two runs
 * with the same measured steps and different decays. NaN where a course has a value that is not finite.
 */
double prediction_growth(const struct course *first, const struct course *second, double decay);

/*
 * The decay at which prediction_growth is `growth`, 1 for the boundary of norm growth: between those of the
 * two runs if one grows more and the other does not, else above the larger one. NaN where the run of the
 * smaller decay does not grow more, a course has a value that is not finite, errors would grow too
 * much, or none is found.
 */
double prediction_boundary(const struct course *first, const struct course *second, double growth);

/* The state of a search, for the files that implement it. */
struct region {
    int64_t length; /* cells that are not skipped; of a rectangle, all cells */
    int64_t chosen, open; /* runs that were chosen, and those among them that have not ended */
    struct crossing crossing; /* REFINE_LINES */
};

struct search {
    const struct sweep *sweep;
    const struct refine *refine;
    struct search_reader reader;
    struct course course[2]; /* room for the runs that a guess is made from */
    int64_t size; /* cells of a region */
    int64_t regions;
    struct region *region; /* [regions] */
    int64_t *cell; /* [regions][size] by place; the first region.length of each are used */
    signed char *side; /* [regions][size] enum side */
    bool *wanted; /* [regions][size] */
    int64_t *rank[REFINE_AXES]; /* [length of the axis] place of an index in the order of values */
    int64_t *queue; /* [regions * size] cells to train, a ring */
    int64_t queue_first, queue_used;
    int64_t *ended; /* [regions] regions whose other cells are left out, in the order of their ends */
    int64_t ended_count, leaving, leaving_place; /* index in `ended` and place of the next one to leave out */
    int64_t asked; /* region of the guess under way */
    double left;
};

/* The region of a cell, and its place in it if no cell is skipped. */
int64_t region_of(const struct search *s, int64_t cell, int64_t *place);

#endif
