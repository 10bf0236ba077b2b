#ifndef NORMSWEEP_DRIVER_SEARCH_INSIDE_H
#define NORMSWEEP_DRIVER_SEARCH_INSIDE_H

#include "driver/search/search.h"

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum crossing_end {
    CROSSING_SEARCHES,
    CROSSING_FOUND, /* runs `low` and `high` are on different sides, and neighbours, or only runs that
                     * diverged are between them; one of the two has diverged if nothing else was found */
    CROSSING_SAME, /* the first and the last run are on the same side */
    CROSSING_LACKS, /* a run that it needs has no side */
};

struct crossing {
    int64_t length; /* runs, numbered from the smallest value of the axis */
    int64_t at_once; /* runs of a round, at most */
    const signed char *side; /* [length] enum side. Borrowed */
    void (*want)(void *context, int64_t run); /* called for each run of the next round */
    void *context; /* of want, and of guesses */
    enum crossing_end end;
    int64_t low; /* the last run known to be on the side from which the search goes */
    int64_t before; /* the one known before it; -1: none */
    int64_t high; /* the first run known not to be; `length`: none is known */
    int64_t divergence; /* divergence begins or ends behind this run, as was found last; -1: nowhere */
    int64_t stride; /* of the next step outward, while no `high` is known */
    int64_t lacking; /* CROSSING_LACKS: that run */
    int slow; /* rounds in a row that have not halved the range between low and high */
};

/*
 * The place of the crossing on a line, as a real number between places of runs, guessed from the run `a` and,
 * unless it is -1, from `b`. NaN: no guess.
 */
typedef double crossing_guess(void *context, int64_t a, int64_t b);

/* Wants the first round of the fields above `end`, which are set; `side` is SIDE_OPEN for all runs. */
void crossing_begin(struct crossing *crossing);

/* All runs of a round have ended, on the sides that `side` now says; wants the next round, or sets `end`. */
void crossing_take(struct crossing *crossing, crossing_guess *guess);

/* Once the search has ended: the side of a run that was not wanted, which is that of the known runs on both
 * sides of it, or behind the last one that of this; SIDE_NONE: they do not agree. */
enum side crossing_implied(const struct crossing *crossing, int64_t run);

/* The side of a finished run; SIDE_NONE if what is searched for has no value there. */
enum side crossing_side(const struct search_reader *reader, const struct refine *refine, int64_t cell);

/* Roughly how many runs a search along such a line takes. */
double crossing_expected(int64_t length, int64_t at_once);

/* A search in a rectangle of runs for all neighbours on different sides. It does not find a finer structure
 * inside a square of its coarse pass whose runs all agree. */
struct halving {
    int64_t length[2]; /* runs along the two axes; 1: there is no second axis */
    int64_t coarse; /* runs between those of the coarse pass; a power of 2 */
    const signed char *side; /* [length[0]][length[1]] enum side. Borrowed */
    void (*want)(void *context, int64_t place); /* called for each run to train; makes its side SIDE_WANTED */
    void *context;
};

/* Wants the coarse pass. `side` has SIDE_NONE where there is no run, else SIDE_OPEN. */
void halving_begin(const struct halving *halving);

/* The side of the run at `place` is now known; wants what follows from it. */
void halving_take(const struct halving *halving, int64_t place);

/* Roughly how many runs such a search takes. */
double halving_expected(const int64_t length[2], int64_t coarse);

/* Once the search has ended: the side of a run that was not wanted, by the corners of the smallest square
 * around it; SIDE_NONE where they have none, or do not agree. */
enum side halving_implied(const struct halving *halving, int64_t place);

/*
 * rho at the last step of a run at `decay`, over rho at its first. `second` NULL: from one run; else two runs
 * with the same measured steps and different decays. NaN where a curve has a value that is not finite.
 */
double prediction_growth(const struct norm_curve *first, const struct norm_curve *second, double decay);

/*
 * The decay at which prediction_growth is `growth`, 1 for the boundary of norm growth: between those of the
 * two runs if one grows more and the other does not, else above the larger one. NaN where the run of the
 * smaller decay does not grow more, a curve has a value that is not finite, errors would grow too
 * much, or none is found.
 */
double prediction_boundary(const struct norm_curve *first, const struct norm_curve *second, double growth);

/* ---- seeds.c ---- */

/* A grid cut into parts: the cells of a part differ along some axes alone. */
struct parts {
    int64_t size, count; /* cells of a part; parts */
    int64_t *cell; /* [count][size] by place, along the last axis of these first */
    int64_t *at; /* [cells] where a cell is in `cell` */
};

/* Along the first `sorted` of the axes, places are in ascending order of values, of timescales of decays;
 * along the others in that of the sweep file. */
void parts_make(
    struct parts *parts, const struct sweep *sweep, const int64_t *axis, int64_t count, int64_t sorted);
void parts_release(struct parts *parts);

/* Does decay fall along the axis as its value grows? */
bool axis_is_timescale(const struct axis *axis);

/* t such that Student's distribution is within it of 0 with a probability of 95 %. */
double seeds_student(int64_t freedom);

/* The whole width of the 95 % interval of the mean of this sample; infinite for fewer than two values. */
double seeds_width(const double *value, int64_t count);

/* The seeds of a sweep whose `refine` has `seeds`: opaque. */
struct seeds;

/* Calls `choose` for each cell that it asks for or leaves out; begins all groups if there is no search for a
 * boundary. All pointers are borrowed. */
struct seeds *seeds_new(const struct sweep *sweep, const struct search_reader *reader,
    void (*choose)(void *context, enum choice_kind kind, int64_t cell), void *context);
void seeds_free(struct seeds *seeds); /* takes NULL */

/* Does the cell have one of the first seeds, with which boundaries are searched for? */
bool seeds_is_first(const struct seeds *seeds, int64_t cell);

/* The cell that differs from this one in its seed alone, with the first seed of this number; -1: no more. */
int64_t seeds_peer(const struct seeds *seeds, int64_t cell, int64_t number);

/* A search has chosen the cell. */
void seeds_chosen(struct seeds *seeds, int64_t cell);

/* The search in the region of a cell, which has one of the first seeds, has ended. After the last one of a
 * group, this begins, or ends at once if no search has come there. */
void seeds_searched(struct seeds *seeds, int64_t cell);

/* A cell has ended. Asks for what follows; ignores one that was not asked for. */
void seeds_take(struct seeds *seeds, int64_t cell, enum outcome outcome);

/* Runs that the groups that have begun will probably still ask for. */
double seeds_left(const struct seeds *seeds);

/* The side on which all trained runs of a cell and of its other seeds are; SIDE_NONE: there is none;
 * SIDE_OPEN: no search came there. */
enum side seeds_implied(const struct seeds *seeds, int64_t cell);

/* Why a cell is left out; false: because its search did not need it. */
bool seeds_reason(const struct seeds *seeds, int64_t cell, struct string *why);

#endif
