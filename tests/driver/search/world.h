#ifndef NORMSWEEP_TESTS_DRIVER_SEARCH_WORLD_H
#define NORMSWEEP_TESTS_DRIVER_SEARCH_WORLD_H

#include "driver/search/search.h"

/* Sweeps whose results are made up, for tests of searches. */

#define BASE "corpus: markov\nsteps: 10\n"
#define DECAYS20                                                                                             \
    "weight_decay: [0.01, 0.0126, 0.0158, 0.02, 0.0251, 0.0316, 0.0398, 0.0501, 0.0631, 0.0794, 0.1, "       \
    "0.126, 0.158, 0.2, 0.251, 0.316, 0.398, 0.501, 0.631, 0.794]\n"

enum { LINE_MOST = 64, REASON_MOST = 256 };

/* What a run gives. The boundary in weight_decay is `boundary` / learning_rate; none: NAN. */
struct world {
    struct sweep sweep;
    double boundary;
    double diverges; /* learning_rate * weight_decay above which a run diverges */
    double calms; /* the same, below which a run diverges */
    int64_t fails; /* a cell; -1: none */
    bool timeless; /* no norms are known */
    int courses; /* that were asked for */
    int *chosen, *left; /* [cells] how often */
    bool *ended; /* [cells] */
    char (*reason)[REASON_MOST]; /* [cells] */
    enum side *implied; /* [cells] of those that are left out */
    int64_t *waiting; /* [cells] chosen, without a result */
    int64_t waits, trained;
    uint64_t seed, draws;
};

/* Reads the sweep; false, and the test fails, if it is refused. */
bool world_begin(struct world *world, const char *text);
void world_end(struct world *world);

/* Forgets what has become of the runs. */
void world_clear(struct world *world);

/* A search that reads this world. NULL: no memory. */
struct search *world_search(struct world *world);

/* Plays a sweep to its end; results come in an order drawn from the seed. Every cell is chosen or left, once.
 */
void world_play(struct world *world, uint64_t seed);

enum outcome world_outcome(const struct world *world, int64_t cell);

/* 1: above, 2: below, 3: diverged, 0: failed. */
int world_side(struct world *world, int64_t cell);

/* Fills the line of a cell along the first refined axis, without skipped cells: [count][2], value and cell,
 * in ascending order. Returns count. */
int64_t world_line(const struct world *world, int64_t cell, double (*line)[2]);

#endif
