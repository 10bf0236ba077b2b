#ifndef NORMSWEEP_MODEL_INSTRUMENTS_HESSIAN_H
#define NORMSWEEP_MODEL_INSTRUMENTS_HESSIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/instruments/lanczos.h"
#include "model/network/weights.h"

/*
 * The spectrum of the Hessian of the loss, by stochastic Lanczos quadrature: from each of several random
 * start vectors some steps of the Lanczos process, whose Ritz values and weights are the spectral density as
 * that vector sees it. The matrix is the Hessian of all parameters; with `by_layer` also each block on its
 * diagonal that belongs to a layer; and, for optimisers with a preconditioner P, P^-1 H, of which only the
 * largest eigenvalue is kept. The caller computes the products, one for each batch over which the loss is
 * averaged:
 *     hessian_begin
 *     while hessian_next:
 *         while hessian_direction is not NULL:
 *             for each batch: hessian_add the Hessian's product with it
 *             hessian_step
 *         hessian_close
 */

/* Of one matrix, of `size` rows. */
struct spectrum {
    double *ritz, *weight; /* [probes][steps] */
    double largest, smallest; /* Ritz values of all probes */
    double trace, trace_error; /* mean over the probes (Hutchinson), its standard error; NaN for one probe */
    int64_t size;
};

struct hessian {
    int64_t probes, steps, layers;
    struct spectrum whole;
    struct spectrum *layer; /* [layers]; NULL unless by_layer */
    double preconditioned; /* largest eigenvalue of P^-1 H, NaN without P */

    const struct weight_layout *layout; /* borrowed */
    struct lanczos lanczos;
    scalar
        *root; /* plane: P^-1/2; NULL if the optimiser has no P; the caller fills it before hessian_begin */
    bool has_root; /* for this measurement */
    scalar *direction; /* plane of a direction that is not the Lanczos vector itself */
    double *ritz, *weight; /* [steps] of P^-1 H */
    int64_t process, added; /* under way; products added since the last step */
    uint64_t seed;
};

void hessian_layout(struct hessian *hessian, const struct weight_layout *layout, int64_t layers,
    int64_t probes, int64_t steps, bool by_layer, bool preconditioned, struct arena *arena);

/* Forgets what was measured. has_root: `root` is filled, and P^-1 H is wanted. */
void hessian_begin(struct hessian *hessian, uint64_t seed, bool has_root);

/* Begins the next process; false: all are done. */
bool hessian_next(struct hessian *hessian);

/* The plane to multiply next, valid until the next call; NULL: this process has ended. */
const scalar *hessian_direction(struct hessian *hessian);

/* Adds a batch's Hessian times the direction, a plane. */
void hessian_add(struct hessian *hessian, const scalar *product);

/* Takes a step with the mean of what was added. */
void hessian_step(struct hessian *hessian);

/* Ends the process under way. */
void hessian_close(struct hessian *hessian);

/* The number of products that a measurement takes at most, for one batch. */
int64_t hessian_products(int64_t layers, int64_t probes, int64_t steps, bool by_layer, bool preconditioned);

/*
 * The largest distance (Wasserstein-1) of the mean quadrature from the spectral density of a matrix of `size`
 * rows, except with a risk of HESSIAN_RISK_PERCENT: Chen, Trogdon and Ubaru, "Analysis of stochastic Lanczos
 * quadrature for spectrum approximation" (ICML 2021). With the width W of the spectrum it is t W once there
 * are 12/t + 1/2 steps and 4 ln(2 size / risk) / ((size + 2) t^2) probes. The theorem is on start vectors
 * that are uniform on the sphere; ours have elements of 1 or -1, for which it is not proved.
 */
enum { HESSIAN_RISK_PERCENT = 5 };
double hessian_bound(int64_t size, int64_t probes, int64_t steps, double width);

#endif
