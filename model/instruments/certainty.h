#ifndef NORMSWEEP_MODEL_INSTRUMENTS_CERTAINTY_H
#define NORMSWEEP_MODEL_INSTRUMENTS_CERTAINTY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/optimisers/schedule.h"

/*
 * Is the phase of a run certain before its end? In units of |theta_0|^2, the square of the norm follows
 *     N(t_{k+1}) = D_k N(t_k) + a_k W_k,   D_k = prod (1 - eta_s lambda)^2,
 * over the steps s from one measured step to the next; W_k is the sum of their rates, each shrunk by the
 * decay of the steps behind it. a_k, the gain, is what updates add to the square for each unit of rate. The
 * rest of the run has a D and a W, too, which are known beforehand; only its gain is not. The gains so far
 * are said to bound it, with m the most that updates added (0: never), l the most that they took away:
 *     certainly shrinking:  D N(t) + CERTAINTY_LARGER * max(m, l) * W < 1
 *     certainly growing:    D N(t) - max(CERTAINTY_LARGER * l, CERTAINTY_LOSS * m) * W > 1
 *
 * This is not a proof: no bound on the updates is. A step of adamw moves an element by at most 7.3 eta (with
 * its usual betas), a hundred times what it does along theta, and a bound from that is met only in the last
 * few steps. docs/sweeping.md has the grids on which the rule was tried.
 */
struct certainty {
    int64_t count; /* of measured steps, 0 and the last among them; 0: nothing is ever certain */
    int64_t *step; /* [count] ascending from 0 */
    double *kept, *weight; /* [count] D and W of the interval that ends at each measured step */
    double *kept_rest, *weight_rest; /* [count] of the rest of the run */
    int64_t first; /* nothing is certain before this step */
};

#define CERTAINTY_LARGER 6.0
#define CERTAINTY_LOSS 0.25
#define CERTAINTY_PART 0.2 /* of the run that must be behind it */
enum { CERTAINTY_INTERVALS = 5 }; /* that must have been measured */

/* A decay of a larger share in one step does not follow the recursion well. */
#define CERTAINTY_DECAY_MOST 0.5

enum certain { CERTAIN_NOTHING, CERTAIN_GROWING, CERTAIN_SHRINKING };

/* Room for `most` measured steps. */
void certainty_layout(struct certainty *certainty, int64_t most, struct arena *arena);

/* Sets out the measured steps [count] of a run with this schedule and the decay lambda of run_decay(). Takes
 * one pass over the steps of the run. */
void certainty_begin(struct certainty *certainty, const struct schedule *schedule, double decay,
    const int64_t *step, int64_t count);

/* What is certain at the measured step number count - 1, from the norms [count] up to it? */
enum certain certainty_of(const struct certainty *certainty, const double *norm, int64_t count);

#endif
