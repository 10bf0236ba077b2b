#ifndef NORMSWEEP_DRIVER_SEARCH_SEARCH_INSIDE_H
#define NORMSWEEP_DRIVER_SEARCH_SEARCH_INSIDE_H

#include "driver/search/crossing.h"
#include "driver/search/search.h"

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
