#ifndef NORMSWEEP_MODEL_OPTIMISERS_OPTIMISERS_H
#define NORMSWEEP_MODEL_OPTIMISERS_OPTIMISERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"
#include "model/network/network.h"

/* ---- schedule ---- */

enum schedule_kind {
    SCHEDULE_CONSTANT,
    SCHEDULE_LINEAR,
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_COSINE,
    SCHEDULE_WSD /* warm-up, stable, decay: Hu et al. 2024 */
};

/* The learning rate over the steps t = 1 .. t_end. */
struct schedule {
    enum schedule_kind kind;
    double learning_rate; /* the peak */
    int64_t start; /* t0: linear, inverse_sqrt and cosine fall from there on */
    int64_t warmup_steps; /* 0: none */
    int64_t last_step; /* t_end */
    double end; /* the last rate of linear, cosine and wsd, over the peak */
    double decay; /* wsd: the share of the steps over which it falls */
};

/* The learning rate of step t = 1 .. t_end. */
double schedule_rate(const struct schedule *schedule, int64_t step);

/* The first steps, as many as have the rate that they would have in a longer run; last_step if all have. */
int64_t schedule_lasting(const struct schedule *schedule);

/* ---- equilibrium ---- */

/*
 * What momentum and decay do by themselves, when gradients are white noise. Updates u of neighbouring steps
 * are alike then, because both hold gradients of the same steps, and weights hold past updates: theta points
 * along -u by chance. Decay d = eta lambda, d << 1, and the random walk of the updates come to a balance
 * after some 1 / (2 d) steps (Kosson, Messmer, Jaggi 2024).
 *
 * The memory S of an optimiser is the sum over j >= 1 of (1 - d)^(j-1) times the correlation of updates that
 * are j steps apart; after few steps, over as many j. From it follow
 *   E[-theta.u] = S eta |u|^2,
 *   E[|theta|^2] = (eta |u|)^2 (1 + 2 (1 - d) S) / (2 d - d^2) in the balance.
 */

/* S of a running mean of gradients, m = beta m + .. g: adam's, sgd's. steps: taken so far, or INFINITY. */
double memory_of_mean(double beta, double decayed, double steps);

/* S of lion's update, sign(beta1 m + (1 - beta1) g) with m the running mean by beta2 of the steps before: the
 * signs of normal numbers of correlation r have 2 / pi asin(r). */
double memory_of_sign(double beta1, double beta2, double decayed, double steps);

/* A tensor in balance. */
struct equilibrium {
    double rotation; /* angle between theta of successive steps, in radians */
    double rms; /* root mean square of an element of theta */
};

/* Of an optimiser with memory S whose updates have the root mean square `update`, at this rate. Without
 * decay, or with d >= 2, which makes weights swing ever further, there is none. */
struct equilibrium equilibrium_of_walk(double memory, double decayed, double update, double rate);

/* In place of a balance that is not known, or does not exist. */
struct equilibrium equilibrium_unknown(void);

/* ---- optimiser ---- */

/* How weights are kept between steps; moments and gradients are always scalars. A weight in bfloat16 is a
 * scalar whose value is a float with lower 16 bits of 0. */
enum weights_kept {
    WEIGHTS_FLOAT, /* as scalars */
    WEIGHTS_BFLOAT16, /* rounded to the nearest, ties to even */
    WEIGHTS_BFLOAT16_STOCHASTIC, /* rounded up or down by chance, so that their mean is right */
};

/*
 * What a step theta' = theta - D - eta u adds to |theta|^2 of a tensor, D = d theta its decay:
 *   decay      -2 theta.D + |D|^2, so -(2 d - d^2) |theta|^2 where all weights decay
 *   injection  eta^2 |u|^2
 *   chance     2 (1 - d) eta times the mean of -theta.u if gradients are white noise: the work of momentum
 *   pull       -2 eta (theta - D).u less chance
 * They sum to |theta'|^2 - |theta|^2, but for what rounding does to theta'.
 */
#define FORCES(X)                                                                                            \
    X(DECAY, decay)                                                                                          \
    X(INJECTION, injection)                                                                                  \
    X(CHANCE, chance)                                                                                        \
    X(PULL, pull)

enum force {
#define X(FORCE, word) FORCE_##FORCE,
    FORCES(X)
#undef X
        FORCE_COUNT,
};

/* What the keys of a run mean to an optimiser. */
enum optimiser_trait {
    HAS_MOMENTUM = 1, /* uses `momentum` */
    HAS_BETAS = 2, /* uses `beta1` and `beta2` */
    HAS_SECOND_MOMENT = 4, /* divides by the root of a running mean of g^2 by `beta2`; uses `epsilon` */
    HAS_ROUNDED_DECAY = 8, /* uses `decay` */
    HAS_MUP_RATES = 16, /* elements of its update keep their size at any width */
};

/*
 * One row for each optimiser: X(KIND, its word in a sweep file, its row of functions in the room, traits).
 * All else that names optimisers follows: messages, the dataset, most tests. muon moves the matrices of the
 * layers; the other tensors take adamw's steps.
 */
#define OPTIMISERS(X)                                                                                        \
    X(ADAMW, adamw, adam_row, HAS_BETAS | HAS_SECOND_MOMENT | HAS_ROUNDED_DECAY | HAS_MUP_RATES)             \
    X(ADAM, adam, adam_row, HAS_BETAS | HAS_SECOND_MOMENT | HAS_MUP_RATES)                                   \
    X(SGD, sgd, sgd_row, HAS_MOMENTUM)                                                                       \
    X(NORMALIZED_SGD, normalized_sgd, normalized_row, 0)                                                     \
    X(ADAFACTOR, adafactor, adafactor_row, 0)                                                                \
    X(LION, lion, lion_row, HAS_BETAS | HAS_MUP_RATES)                                                       \
    X(MUON, muon, muon_row, HAS_BETAS | HAS_SECOND_MOMENT)

enum optimiser_kind {
#define X(KIND, word, row, traits) OPTIMISER_##KIND,
    OPTIMISERS(X)
#undef X
        OPTIMISER_COUNT,
};

bool optimiser_has(enum optimiser_kind kind, enum optimiser_trait trait);

/* The words of the optimisers with a trait, as "adamw, adam and lion": `last` is "and" or "or". */
struct optimiser_list {
    char text[200];
};
struct optimiser_list optimiser_list(enum optimiser_trait trait, const char *last);

enum decay { DECAY_FUSED, DECAY_FACTOR };

/* Which tensors decay, a bit for each word: all; matrices and embeddings; those of the layers; or kinds, of
 * which every tensor has one: matrices of attention, of feed-forward layers, gains of norms, biases, those of
 * norms too, embeddings, matrices of the output. */
enum decay_on {
    DECAY_ON_ALL = 1,
    DECAY_ON_MATRICES = 2,
    DECAY_ON_HIDDEN = 4,
    DECAY_ON_ATTENTION = 8,
    DECAY_ON_FEEDFORWARD = 16,
    DECAY_ON_GAINS = 32,
    DECAY_ON_BIASES = 64,
    DECAY_ON_EMBEDDINGS = 128,
    DECAY_ON_OUTPUT = 256,
};

/* How fast: eta_t lambda; lambda eta_t / eta, not scaled by the peak eta; lambda eta_t^2 / eta (Defazio
 * 2025); or eta_t lambda where the update also shrinks the weight, u theta >= 0 (Chen et al. 2025). eta_t and
 * eta are the tensor's own: hidden_rate is in both. */
enum decay_rule { DECAY_SCALED, DECAY_INDEPENDENT, DECAY_CORRECTED, DECAY_CAUTIOUS };

/*
 * What becomes of the norm of each matrix W of the layers in a step to W':
 *   free       nothing is done
 *   fixed      W' is scaled to R, the norm that W had at the start times norm_target
 *   hyperball  W' is W - eta R u / |u|, scaled to R; without decay (arXiv 2606.16899, 2026)
 *   brake      W' is scaled to |W| + r, where r is (W' - W).W / |W|, times `brake` if it is above 0
 */
enum norm_rule { NORM_FREE, NORM_FIXED, NORM_HYPERBALL, NORM_BRAKE };

struct optimiser_options {
    enum optimiser_kind kind;
    enum decay decay; /* adamw: how the decay is rounded */
    unsigned decay_on; /* of enum decay_on; 0: all */
    enum decay_rule decay_rule;
    double peak_rate; /* eta; for the rules that need it */
    double weight_decay, beta1, beta2, epsilon, momentum;
    double gradient_clip; /* largest norm of the gradient; 0: no clipping */
    double hidden_rate; /* times the learning rate of the matrices of the layers; 0: 1 */
    enum norm_rule norm_rule;
    double norm_target; /* fixed, hyperball: what is held, times the initial norm; 0: 1 */
    double brake; /* brake: what is left of a step outwards */
    enum weights_kept weights;
    uint64_t seed; /* of what is rounded by chance */
};

struct optimiser_row;

/* A part of the plane that one kind of step moves in one way: a tensor, or neighbours together. */
struct portion {
    const struct optimiser_row *row;
    struct tensor tensor;
    bool decays;
    double rate; /* times the learning rate */
};

/* An optimiser over one weight layout, with its state planes. */
struct optimiser {
    struct optimiser_options options;
    const struct weight_layout *layout; /* borrowed */
    struct team team;
    int64_t portions;
    struct portion *portion; /* [portions] */
    double *norm; /* [portions] norm_rule fixed and hyperball: what is held, of matrices of the layers */
    scalar *aside; /* [layout->size] norm_rule hyperball and brake: the weights before the step */
    struct sums *sums; /* [portions] of the update, where threads share whole tensors out; else NULL */
    struct moved *moved; /* [portions] by the last step; NULL: not counted */
    struct moved *range_moved; /* [ranges of the largest tensor] on the way to it */
    scalar *first; /* [layout->size] first moment or momentum; NULL for kinds without one */
    scalar *second; /* [layout->size] second moment, or adafactor's factors; NULL for kinds without one */
    scalar *scratch; /* of kinds that move whole tensors: layout->largest times what they need; else NULL */
};

/* With `counts`, each step counts what moves |theta|^2, for optimiser_forces. */
void optimiser_layout(struct optimiser *optimiser, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, bool counts, struct arena *arena);

/* Scales the initial weights as options.norm_target says, rounds them as options.weights says, and keeps what
 * it needs of them. Call it before the first step, also of a run that is resumed. */
void optimiser_begin(struct optimiser *optimiser, scalar *initial);

/* The number of scalars that plane `second` holds of a tensor, from the tensor's offset on. */
int64_t optimiser_second_size(const struct optimiser *optimiser, const struct tensor *tensor);

/* Does plane `second` hold another number of scalars of some tensors than they have elements? */
bool optimiser_has_factors(const struct optimiser *optimiser);

/* The factor by which clipping multiplies a whole gradient: min(1, clip / (|g| + 1e-6)), 1 without clipping.
 */
double optimiser_clip(const struct optimiser *optimiser, const scalar *gradient);

/* Takes one step theta += delta: step number t (from 1), learning rate eta_t, clipping factor `scale`; and
 * rounds theta as options.weights says. */
void optimiser_step(struct optimiser *optimiser, scalar *weights, const scalar *gradient, double scale,
    int64_t number, double rate);

/* Of the update u: the step that optimiser_step would take from the same state without weight decay and
 * without rounding, divided by -eta. */
struct update {
    double square, product; /* |u|^2, theta.u */
    double by_chance; /* what -theta.u is on average if gradients are white noise; NaN: not known */
};

/* Of the tensors in [begin, end) of the plane. Changes no state. weights, gradient: whole planes. */
struct update optimiser_update(const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double scale, int64_t number, double rate, int64_t begin, int64_t end);

/*
 * The forces of the last step, number `number` at this rate, of each tensor of the layers. Where chance is
 * not known (muon's matrices; momentum with cautious decay) it is NaN, and pull holds both. All are NaN where
 * the step is not of that form: adam with decay, a norm that is kept, weights that are rounded. For an
 * optimiser that counts.
 */
void optimiser_forces(
    const struct optimiser *optimiser, int64_t number, double rate, double (*force)[FORCE_COUNT]);

/*
 * |u| of one tensor beside that of a full step, which the optimiser takes while gradients keep their
 * direction and epsilon is small beside them: each element is 1 (adamw, lion), the tensor (normalized_sgd) or
 * each of its singular values (muon, but for its factor), or the tensor moves by its own norm (adafactor).
 * sgd's bound is that of clipping, INFINITY without it, and its |u| that of the clipped gradient alone: its
 * momentum holds past decay, too. Changes no state. norm: the tensor's; whole: that of all tensors that are
 * asked about.
 */
struct stride {
    double taken, full;
};

struct stride optimiser_stride(const struct optimiser *optimiser, const struct tensor *tensor, double norm,
    double whole, const scalar *weights, const scalar *gradient, double scale, int64_t number, double rate);

/* The balance in which a tensor stays at this rate if gradients are white noise; NaN where it does not decay,
 * or where the formula is not known. */
struct equilibrium optimiser_equilibrium(
    const struct optimiser *optimiser, const struct tensor *tensor, double rate);

/*
 * The edge of stability: an optimiser with the preconditioner P, P = 1 for sgd, is stable on a quadratic loss
 * with the Hessian H as long as the largest eigenvalue of P^-1 H is below a bound over the learning rate.
 * Cohen, Ghorbani and others, "Adaptive gradient methods at the edge of stability" (2022).
 */

/* The bound times the learning rate: (2 + 2 beta1) / (1 - beta1) for adam and adamw, 2 + 2 momentum for sgd;
 * NaN for optimisers that have none. Weight decay is left out, also adam's, which is a part of its gradient
 * and so of its P; and so is a gradient_clip. */
double edge_bound(const struct optimiser_options *options);

/* Does the optimiser have a P other than 1? */
bool edge_has_preconditioner(const struct optimiser_options *options);

/*
 * root, a plane, = P^-1/2 after `steps` > 0 steps: P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon),
 * over hidden_rate for the matrices of the layers.
 * 0 where v is 0: a parameter that has had no gradient so far is left out.
 */
void edge_root(const struct optimiser *optimiser, int64_t steps, scalar *root);

#endif
