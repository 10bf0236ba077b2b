#ifndef NORMSWEEP_MODEL_OPTIMISERS_INSIDE_H
#define NORMSWEEP_MODEL_OPTIMISERS_INSIDE_H

#include "model/kernels/kernels.h"
#include "model/optimisers/optimisers.h"

/* One step of a portion of the weights. */
struct step {
    int64_t number; /* from 1 */
    double rate;
    double scale; /* the clipping factor */
    double decay; /* lambda in delta = -rate (lambda theta + u); 0: the portion does not decay */
    bool cautious; /* only elements with u theta >= 0 decay */
    scalar *scratch; /* the thread's own, as large as the row's own_scratch says */
    struct moved *moved; /* what the step is to fill in; or NULL */
};

/* How a kind of optimiser moves a portion. `tensor` is a whole tensor, or for kinds without `whole` any range
 * of the plane; `weights` and `gradient` begin at it, the optimiser's planes at its offset. */
struct optimiser_row {
    bool first, second; /* the state planes that the kind needs */
    bool whole; /* it takes whole tensors, one by one */
    int scratch; /* scratch planes as large as the largest tensor */
    /* Not NULL: threads share the whole tensors out. The scalars of scratch that each thread needs, and how
     * long a tensor takes, in units of any kind. */
    int64_t (*own_scratch)(const struct weight_layout *layout);
    int64_t (*work)(const struct tensor *tensor);
    int64_t (*second_size)(const struct tensor *tensor); /* of `second`; NULL: the tensor's size */
    void (*step)(struct optimiser *o, const struct tensor *tensor, const struct step *step, scalar *weights,
        const scalar *gradient);
    /* |u|^2 and theta.u of the step's update, without decay; changes no state. */
    struct sums (*sums)(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
        const scalar *weights, const scalar *gradient);
    /* |u| of a full step of a tensor of this norm, of a theta of the norm `whole`; see optimiser_stride().
     * NULL: each element of u is 1 then. */
    double (*full)(
        const struct optimiser_options *options, const struct tensor *tensor, double norm, double whole);
    /* The memory (see optimisers.h) of the step's update after `steps` steps, NaN if it is not known; NULL:
     * updates have no momentum. */
    double (*memory)(const struct optimiser_options *options, const struct step *step, double steps);
    /* The balance of a decaying tensor at the step's rate and decay; NULL: none is known. */
    struct equilibrium (*balance)(
        const struct optimiser_options *options, const struct tensor *tensor, const struct step *step);
    /* edge_bound() of optimisers.h; NULL: none is known. */
    double (*edge)(const struct optimiser_options *options);
    bool preconditioned; /* with adam's P; see edge_root() */
};

/* theta -= rate (decay theta + scale update), for kinds that compute their update first. */
static inline void optimiser_descend(const struct optimiser *optimiser, const struct step *step,
    scalar *weights, const scalar *update, int64_t count, double scale)
{
    const struct descent descent = {
        .rate = step->rate, .weight_decay = step->decay, .scale = scale, .cautious = step->cautious};

    optimiser->team.kernels->descend(&descent, weights, update, count, step->moved);
}

/* Those of adafactor and muon are in files of their own, the others in elementwise.c. */
#define X(KIND, word, row, traits) extern const struct optimiser_row row;
OPTIMISERS(X)
#undef X

#endif
