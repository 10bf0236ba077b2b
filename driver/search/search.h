#ifndef NORMSWEEP_DRIVER_SEARCH_SEARCH_H
#define NORMSWEEP_DRIVER_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "worker/train/train.h"

/* Where a run ended. One that diverged is on a side of its own. */
enum side {
    SIDE_OPEN, /* it was not asked for */
    SIDE_WANTED, /* it has not ended */
    SIDE_NONE, /* it failed, has no value, or is left out */
    SIDE_ABOVE, /* its variable is above the value that it may cross */
    SIDE_BELOW, /* at or below */
    SIDE_DIVERGED,
};

/* The norm of one run over its measured steps. */
struct norm_curve {
    int64_t count; /* measured steps, the first of them 0 */
    bool early; /* the run ended early: from there on, this is what it would probably have done */
    double decay; /* lambda: a step of time h without an update leaves 1 - h lambda of theta */
    double *square; /* [count] |theta|^2 */
    double *time; /* [count] sum over the steps before of run_decay_time: of the learning rates, as a rule */
};

/*
 * Chooses which cells of a sweep with `refine` are trained. Results go in, choices come out; like the
 * coordinator it uses no clock, no files and no MPI. What it chooses on a line of the grid, or in one of its
 * rectangles, follows from the results there alone: not from their order, from workers, or from starts.
 */
struct search;

/* How a search reads a run that is done. */
struct search_reader {
    void *context;
    /* A metric of the whole run; NaN where there is none. */
    double (*value)(void *context, int64_t cell, enum metric metric);
    /* The norms of the run over its steps; false if they are not known, or decay does not act on them by
     * itself. search_new has room for them. */
    bool (*norm_curve)(void *context, int64_t cell, struct norm_curve *curve);
};

/* The sweep, which refines, is borrowed; `steps`: measured steps of a run, at most. */
struct search *search_new(const struct sweep *sweep, const struct search_reader *reader, int64_t steps);
void search_free(struct search *search); /* takes NULL */

/* A cell that was chosen has ended, done, diverged or failed. Take the choices that follow. Other cells are
 * ignored. */
void search_take(struct search *search, int64_t cell, enum outcome outcome);

enum choice_kind {
    CHOICE_TRAIN, /* the result of `cell` is needed; if it has ended already, pass it to search_take */
    CHOICE_LEAVE, /* no result of `cell` will ever be needed; search_reason says why */
};

struct choice {
    enum choice_kind kind;
    int64_t cell;
    enum side implied; /* CHOICE_LEAVE: by the runs around it; SIDE_OPEN or SIDE_NONE: they do not tell */
};

/* Takes the next choice; false if there is none until more cells have ended. The first follow from
 * search_new. */
bool search_next(struct search *search, struct choice *choice);

/* Runs that the search will probably still choose; how many the search of a whole sweep probably takes. */
double search_left(const struct search *search);
double search_expected(const struct sweep *sweep);

/* Why a cell is left out: "not needed: norm_growth crosses 1 between weight_decay 0.01 and
 * 0.012". Returns text. */
char *search_reason(const struct search *search, int64_t cell, char *text, size_t size);

#endif
