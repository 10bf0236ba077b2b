#ifndef NORMSWEEP_MODEL_INSTRUMENTS_OUTLOOK_H
#define NORMSWEEP_MODEL_INSTRUMENTS_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/optimisers/schedule.h"

/*
 * Which phase will a run have at its end? In units of |theta_0|^2, the square of the norm follows
 *     N(t_{k+1}) = D_k N(t_k) + a_k W_k,   D_k = prod (1 - eta_s lambda)^2,
 * over the steps s from one measured step to the next; W_k is the sum of their rates, each shrunk by the
 * decay of the steps behind it. a_k, the gain, is what updates add to the square for each unit of rate. The
 * rest of the run has a D and a W, too, which are known beforehand; only its gain is not. It is supposed to
 * be at most OUTLOOK_LARGER times the gains so far, with m the most that updates added (0: never), l the
 * most that they took away: shrinking:  D N(t) + OUTLOOK_LARGER * max(m, l) * W < 1 growing:    D N(t) -
 * max(OUTLOOK_LARGER * l, OUTLOOK_LOSS * m) * W > 1
 *
 * Nothing proves the supposition. A gain is at most 2 sum |theta_T| |u_T| / |theta_0|^2 to first order, and a
 * bound from full steps (struct stride) is a hundred times what updates do: it is met only in the last few
 * steps. What is known to break the supposition is a plateau: steps far below full ones, which grow tens to
 * thousands of times when it ends. So there is a forecast only if steps reach (measure_reach) OUTLOOK_REACH,
 * now and on average so far. docs/sweeping.md says on what all this was tried.
 */
struct outlook {
    int64_t count; /* of measured steps, 0 and the last among them; 0: there is never a forecast */
    int64_t *step; /* [count] ascending from 0 */
    double *kept, *weight; /* [count] D and W of the interval that ends at each measured step */
    double *kept_rest, *weight_rest; /* [count] of the rest of the run */
    int64_t first; /* no forecast before this step */
};

#define OUTLOOK_LARGER 6.0
#define OUTLOOK_LOSS 0.25
#define OUTLOOK_REACH 0.1
#define OUTLOOK_PART 0.2 /* of the run that must be behind it */
enum { OUTLOOK_INTERVALS = 5 }; /* that must have been measured */

/* A decay of a larger share in one step does not follow the recursion well. */
#define OUTLOOK_DECAY_MOST 0.5

enum outlook_phase { OUTLOOK_OPEN, OUTLOOK_GROWING, OUTLOOK_SHRINKING };

/* Room for `most` measured steps. */
void outlook_layout(struct outlook *outlook, int64_t most, struct arena *arena);

/* Sets out the measured steps [count] of a run with this schedule and the decay lambda of run_decay(). Takes
 * one pass over the steps of the run. */
void outlook_begin(struct outlook *outlook, const struct schedule *schedule, double decay,
    const int64_t *step, int64_t count);

/* The phase as forecast at the measured step number count - 1, from the norms [count] up to it and the reach
 * [count - 1] of the steps from those before. */
enum outlook_phase outlook_of(
    const struct outlook *outlook, const double *norm, const double *reach, int64_t count);

#endif
