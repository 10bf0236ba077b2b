#ifndef NORMSWEEP_MODEL_INSTRUMENTS_INSTRUMENTS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_INSTRUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/corpora/corpora.h"
#include "model/network/network.h"
#include "model/optimisers/optimisers.h"

/* ---- instruments ---- */

/*
 * Measurements on a model: norms and directions of theta_t, and the step delta_t = theta_{t+1} - theta_t.
 * Unless said otherwise, theta holds the tensors of the layers, without embeddings,
 * output and a final LayerNorm. All sums are double.
 */
struct instruments {
    /* What measure_state, measure_gradient and measure_step say of each block; the encoder's come first. */
    double *layer_norm, *layer_direction_cosine; /* [blocks] */
    double *tensor_norm; /* [blocks][LAYER_TENSOR_COUNT], NaN for absent tensors */
    double *layer_gradient_alignment, *layer_step_size, *layer_alignment; /* [blocks] */
    /* [blocks][LAYER_TENSOR_COUNT], NaN where there is none. measure_equilibrium sets the last two. */
    double *tensor_rms, *rotation, *rotation_equilibrium, *rms_equilibrium;
    /* [blocks][LAYER_TENSOR_COUNT] what moved |theta|^2 of each tensor, NaN for absent ones: in the last
     * step, over |theta_t|^2; and summed over the steps since the last measure_state. NULL: not counted. */
    double (*tensor_force)[FORCE_COUNT], (*force_sum)[FORCE_COUNT];

    const struct weight_layout *layout; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, stacks;
    int64_t end[STACKS_MOST]; /* the block behind each stack's last one */
    scalar *kept; /* [layers_end - layers_begin] theta at the last measured step */
    double kept_square; /* |kept|^2; NaN before the first measured step */
    double *layer_square; /* [blocks] of kept */
};

/* `forces`: measure_forces is going to be called. */
void instruments_layout(struct instruments *instruments, const struct weight_layout *layout,
    const struct architecture *architecture, bool forces, struct arena *arena);

/* Of theta_t, and of each stack's part of it. The cosines are NaN at the first measured step. */
struct state_measures {
    double param_norm, embedding_norm, output_norm, total_norm;
    double direction_cosine;
    double stack_norm[STACKS_MOST], stack_direction_cosine[STACKS_MOST];
    /* How far force_sum is from the change of |theta|^2, relative to the larger square: a check of the
     * arithmetic. NaN without forces, and where they are not known. */
    double force_error;
};

/* Measures theta_t and keeps it for measure_step and for the next call. force_sum is that of the steps up to
 * here; the next measure_forces begins it anew. */
void measure_state(struct instruments *instruments, const scalar *weights, struct state_measures *measures);

/* |theta_t| alone; keeps nothing. */
double measure_norm(const struct instruments *instruments, const scalar *weights);

/* Of the step from theta_t. */
struct step_measures {
    double grad_norm, gradient_alignment;
    double update_norm, update_alignment, update_alignment_null;
    double step_size, alignment, balance_error;
};

/* Before step number `step`: measures the gradient of its batch, and the update u. Call it after
 * measure_state of the same theta_t. */
void measure_gradient(struct instruments *instruments, const struct optimiser *optimiser,
    const scalar *weights, const scalar *gradient, double clip, int64_t step, double rate,
    struct step_measures *measures);

/*
 * How far the step reaches: sum |theta_T| |u_T| over the tensors T, over what it is in full steps (struct
 * stride in optimisers.h). An update adds at most 2 eta sum |theta_T| |u_T| to |theta|^2, to first order in
 * eta. 0: it stands still; NaN if theta is 0. Call it after measure_state of the same theta_t.
 */
double measure_reach(const struct instruments *instruments, const struct optimiser *optimiser,
    const scalar *weights, const scalar *gradient, double clip, int64_t step, double rate);

/* The balance of each tensor at this rate. */
void measure_equilibrium(struct instruments *instruments, const struct optimiser *optimiser, double rate);

/* After a step: measures delta_t from the theta_t that measure_state kept. */
void measure_step(struct instruments *instruments, const scalar *weights, struct step_measures *measures);

/* After each step, number `step` at this rate: adds its forces to force_sum and, if theta_t was measured
 * before it, sets tensor_force and `force`, that of all tensors over |theta_t|^2, unless it is NULL. */
void measure_forces(struct instruments *instruments, const struct optimiser *optimiser, int64_t step,
    double rate, double force[FORCE_COUNT]);

/* ---- norms ---- */

/* What lies outside the blocks. */
struct outside {
    double embedding, output, final; /* sums of squares of the tensors of these parts, in double */
};

/*
 * The norms of a network that is there part by part, in double, defined as those of measure_state:
 *     norms_add for each part, in any order; norms_end
 */
struct norms {
    double param_norm, embedding_norm, output_norm, total_norm;
    double stack_norm[STACKS_MOST];
    double *layer_norm; /* [blocks] */
    double *tensor_norm; /* [blocks][LAYER_TENSOR_COUNT], NaN for absent tensors */

    const struct weight_layout *layout; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, stacks;
    int64_t end[STACKS_MOST]; /* the block behind each stack's last one */
    struct outside outside;
};

void norms_layout(struct norms *norms, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena);

/* Adds block `layer`, or with layer -1 what lies outside the blocks, of a plane of weights. Returns the first
 * tensor with a weight that is not finite, or NULL. */
const struct tensor *norms_add(struct norms *norms, const scalar *weights, int64_t layer);

void norms_end(struct norms *norms);

/* Sums what lies outside the blocks. Returns the first tensor with a weight that is not finite, or NULL. */
const struct tensor *outside_measure(struct outside *outside, const struct weight_layout *layout,
    const struct kernels *kernels, const scalar *weights);

/* ---- gradients ---- */

/*
 * The gradient of the loss over several minibatches at one theta, for each kind of tensor of each layer: the
 * norm of its mean, "expected gradient" in Xiong and others, "On Layer Normalization in the Transformer
 * Architecture" (ICML 2020), and how that norm changes from layer to layer:
 *     gradients_begin, gradients_add for each minibatch, gradients_end
 */
struct gradients {
    /* [blocks][LAYER_TENSOR_COUNT] the norm of the mean gradient, and the mean of the norms of the
     * minibatches' own gradients; NaN for absent tensors. */
    double *mean_norm, *batch_norm;
    /*
     * [stacks][LAYER_TENSOR_COUNT] slope of ln mean_norm over the layers of a stack, per layer from its input
     * on, and its standard error. NaN for fewer than STRAIGHT_POINTS layers, or if a norm is 0 or not finite.
     */
    double *slope, *slope_error;

    const struct weight_layout *layout; /* borrowed */
    const struct architecture *architecture; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, count; /* minibatches added */
    scalar *sum; /* [layers_end - layers_begin] of their gradients */
    double *depth, *logarithm; /* [blocks] of the fits */
};

void gradients_layout(struct gradients *gradients, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena);

/* Forgets all minibatches. */
void gradients_begin(struct gradients *gradients);

/* Adds the gradient of a minibatch, a plane. */
void gradients_add(struct gradients *gradients, const scalar *gradient);

/* Turns sums into means and fits the slopes; at least one minibatch was added. */
void gradients_end(struct gradients *gradients);

/*
 * The slope that Xiong and others derive for a fresh model in their setting: xavier, queries and keys 0,
 * layernorm, relu without a gate, a feed-forward layer as wide as the model, both scales 1, and one stack.
 * After the sum, each layernorm behind a feed-forward layer divides the gradient on its way to the input by
 * sqrt(3/2); before it, all layers have alike ones. Theirs are the matrices w2; NaN elsewhere.
 */
double gradients_theory(const struct architecture *architecture, enum tensor_kind kind);

/* ---- residual ---- */

/*
 * How the residual stream x_0 .. x_L of one stack on one batch, and gradients with respect to it, change
 * through its blocks; what cross-attention reads does not change. The first position of a sequence is left
 * out of means over tokens: it sees nothing but itself, and often has a norm unlike all others. In this
 * order: residual_states, residual_gradients, residual_angle
 */
struct residual {
    int64_t stack, first, layers; /* the stack, its first block, their number L */
    double *norm; /* [L + 1] mean over tokens of |x_l| */
    double *cosine; /* [L + 1] mean over tokens of cos(x_(l-1), x_l); NaN at 0 */
    /* slope over l of the mean over tokens of ln|x_l|, its standard error; NaN if L + 1 < STRAIGHT_POINTS */
    double growth, growth_error;
    double gradient_growth; /* 1/L ln(|dLoss/dx_0| / |dLoss/dx_L|) */
    /*
     * The two exponents of Cowsik, Nebabu, Qi and Ganguli, "Geometric Dynamics of Signal Propagation Predict
     * Trainability of Transformers" (2024). gradient: 1/L ln |d(x_L . R)/dx_0|^2 for a random R of norm 1.
     * angle: 1/L ln((1 - p_L/q_L) / (1 - p_0/q_0)) in the limit p_0/q_0 -> 1, see residual_angle.
     */
    double gradient_exponent, angle_exponent;

    double scale; /* root of the mean over tokens of |x_0|^2 / C */
    double *depth, *logarithm; /* [L + 1] of the fit */
    double *square; /* [rows] |x_l|^2 */
    scalar *state, *tangent; /* [rows, C] */
};

/* For a stack and batches of up to `rows` rows. */
void residual_layout(struct residual *residual, const struct architecture *architecture, int64_t stack,
    int64_t rows, struct arena *arena);

/* A forward pass: norms, growth and cosines. */
void residual_states(
    struct residual *residual, struct transformer *model, const scalar *weights, const struct batch *batch);

/* After residual_states of the same arguments, two passes back: the gradients of the loss and of x_L . R. */
void residual_gradients(struct residual *residual, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed);

/*
 * After residual_states. With q and p the means of the diagonal and of the rest of X X^T over the tokens of a
 * sequence, 1 - p/q measures how much its tokens differ. The exponent is a property of tokens that hardly do:
 * the input state is the sum of one random vector u, the same for all tokens, and a perturbation e d_i of
 * each. For e -> 0, (1 - p/q) / e^2 tends to the variance of the tokens' tangents over |u|^2, where the
 * variance is that of a sample, sum |d_i - mean d|^2 / (T - 1): all that is linear in e, and the second order
 * of the states, cancels in q - p. So the limit is computed, without an e: a forward pass of T equal tokens
 * and the tangents of d. u has the root mean square of the embedded tokens.
 *
 * A block maps tangents that are the same for all tokens to such tangents: it treats equal tokens alike, and
 * their weights in attention sum to 1. So the mean of the tangents has no effect on their variance, and is
 * taken away after each block, else it would grow above the differences until these are rounding errors. Then
 * the variance is made 1, and the logarithms of what it was are summed.
 *
 * `model` has tangents and takes sequences of `context` rows, one of which is used. Cross-attention reads the
 * source of the first sequence of `batch`, which is used for nothing else. NaN for one token, and if the
 * tangents become the same for all.
 */
void residual_angle(struct residual *residual, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed);

/* ---- homogeneity ---- */

/*
 * How close a network is to a homogeneous one, f(x; c theta) = c^k f(x; theta), before training: a fresh
 * model of an architecture, but with few words and positions, runs on a few random sequences with every
 * parameter multiplied by c = 1 .. 10. f is the input of the output layer, flattened over all rows.
 */
enum {
    HOMOGENEITY_VOCABULARY = 10,
    HOMOGENEITY_CONTEXT = 10,
    HOMOGENEITY_SEQUENCES = 10,
    HOMOGENEITY_SCALES = 20,
    HOMOGENEITY_LIMIT = 1000, /* the scale that stands for the limit of large c */
};

struct homogeneity {
    double cosine[HOMOGENEITY_SCALES]; /* of f at each scale with f at HOMOGENEITY_LIMIT; 0 if either is 0 */
    /* k of f and of the logits: the slope of ln|f| over ln c, and the R^2 of the fit. */
    double degree, degree_r2;
    double output_degree, output_degree_r2;
};

struct homogeneity_model {
    struct transformer model;
    struct batch batch;
    scalar *weights, *scaled; /* planes: theta and c theta */
    scalar *limit; /* [rows, C] f at HOMOGENEITY_LIMIT */
    scalar *logits; /* [rows, V] */
};

/* The scales c: evenly spaced from 1 to 10, i = 0 .. HOMOGENEITY_SCALES - 1. */
double homogeneity_scale(int64_t i);

/* Lays out a model of the architecture except for vocabulary and context. */
void homogeneity_layout(
    struct homogeneity_model *h, const struct architecture *architecture, struct arena *arena);

/* Draws weights and sequences, both functions of the seed, and measures. */
void homogeneity_measure(struct homogeneity_model *h, int64_t seed, struct homogeneity *result);

/* ---- saturation ---- */

/*
 * Compares a model f(x; theta) with its saturated network, the limit of f(x; c theta) as c grows: every
 * parameter times SATURATION_SCALE, including embeddings, biases and output; LayerNorm's epsilon is
 * unchanged. Measured over batches; all rows (tokens) have the same weight:
 *     saturation_begin, saturation_add for each batch, saturation_end
 * Both networks pass side by side, block by block, so that neither all states nor all weights need be there.
 */
enum { SATURATION_SCALE = 1000 };

/* The weights and the same times SATURATION_SCALE. With a source, the planes have the shared layout, and the
 * source fills them; without one, they hold both networks. */
struct weight_planes {
    scalar *weights, *scaled;
    const struct weight_source *source; /* or NULL */
};

/* The networks whose states are followed. */
enum compared { COMPARED_THETA, COMPARED_SOFT, COMPARED_HARD, COMPARED_COUNT };

/* Called with a state of theta, [rows, C]: after `depth` blocks of a stack; depth -1: its output. */
typedef void state_function(
    void *context, int64_t stack, int64_t depth, const scalar *state, const struct packed *side);

struct saturation {
    int64_t blocks, stacks, heads, bins;
    bool soft_wanted, heads_wanted; /* measure the cosines; measure what the heads attend to */

    /*
     * [blocks + stacks] mean over the rows of the cosine between the states of theta and of the saturated
     * network, 0 if either is 0: after each block and, behind these, of the output of each stack. hard:
     * against the saturated network with hard attention, as a check of `soft`.
     */
    double *soft, *hard;

    /*
     * [blocks][heads] of the self-attention of the saturated network, means over the rows: the positions that
     * a row attends to, the same divided by its visible positions (in a decoder t + 1: it may exceed 1, as
     * the multiplicative mask lets a row see more), and the share of rows that attend to more than one. NaN
     * for a head with NaN among its weights.
     */
    double *attended, *fraction, *above_one;
    /* [blocks][heads][bins] share of the rows. Bin 0: rows that attend to one position or none; bin k > 0: to
     * 2^(k-1) + 1 .. 2^k positions. */
    double *histogram;
    /* [bins] number of heads, of all layers, by their rounded mean: a head that attends to one position
     * except for a few ties is in bin 0. */
    double *heads_histogram;

    state_function *visit; /* NULL; the caller may set it after the layout */
    void *visitor;

    const struct kernels *kernels;
    struct transformer model; /* blockwise */
    int64_t rows[STACKS_MOST]; /* added, of each stack */
    scalar *state[COMPARED_COUNT][STACKS_MOST]; /* [rows, C] the last batch's, at its end the outputs */
    int32_t *count; /* [heads][rows] */
};

/* Bins of a histogram of 1 .. context positions: 1 + ceil(log2(context)). */
int64_t saturation_bins(int64_t context);

/* Takes all memory from the arena. rows: of the largest batch. states: measure the cosines; heads: measure
 * the positions of the heads. What is not measured stays NaN. shared: the planes have a source. */
void saturation_layout(struct saturation *saturation, const struct architecture *architecture, int64_t rows,
    int64_t threads, bool states, bool heads, bool shared, struct arena *arena);

/* Forgets all batches. Loads what lies outside the blocks, if the planes have a source. */
void saturation_begin(struct saturation *saturation, const struct weight_planes *planes);

/* Adds a batch, in three forward passes for the cosines, one for the heads alone. If it measures the cosines,
 * state[COMPARED_THETA] then holds the outputs of theta. */
void saturation_add(
    struct saturation *saturation, const struct weight_planes *planes, const struct batch *batch);

/* Turns sums into means; NaN if nothing was added. */
void saturation_end(struct saturation *saturation);

/* ---- attending ---- */

/*
 * What the heads of self-attention attend to, and how large states are, on the tokens of some batches:
 *     attending_begin; after a forward pass of each batch, attending_add; attending_end
 * Weights are those with which the heads mix values, so under the multiplicative mask also of later keys. The
 * first row of a sequence is left out of means over rows: in a decoder it sees nothing but itself.
 */
struct attending {
    int64_t blocks, stacks, heads;

    /*
     * [blocks][heads] The largest scaled score, with the bias of relative positions, of a row and a key that
     * no mask hides; means over the rows of the entropy of their weights, in nats, and of the weight of the
     * first key. NaN for a head with NaN among its weights.
     */
    double *max_logit, *entropy, *first;
    double sink_share[STACKS_MOST]; /* of a stack's heads: with `first` above ATTENDING_SINK; NaN if one is */
    /*
     * [blocks + stacks] of each stack's residual stream x_0 .. x_L: the root mean square of its elements; and
     * the largest |x| of a sequence's elements over their median, mean over the sequences; NaN if one is 0.
     */
    double *rms, *largest;

    int64_t rows[STACKS_MOST], sequences; /* added */
    struct attended of; /* [heads][rows] */
};

#define ATTENDING_SINK 0.3

/* rows: of the largest batch. */
void attending_layout(
    struct attending *attending, const struct architecture *architecture, int64_t rows, struct arena *arena);

void attending_begin(struct attending *attending);

/* Adds the batch of the last forward pass of `model`, which keeps all states (transformer_layout). */
void attending_add(struct attending *attending, struct transformer *model, const struct batch *batch);

void attending_end(struct attending *attending, const struct architecture *architecture);

/* ---- sharpness ---- */

/*
 * The critical sharpness 2 / c of a batch: c is a rate at which theta - c u, with the optimiser's update u,
 * has a higher loss than theta, while a slightly smaller one has not. On a quadratic loss it is u.Hu / u.g.
 */
struct sharpness {
    int64_t size;
    struct optimiser twin; /* without decay, with weights that are not rounded, and moments of its own */
    scalar *update, *moved; /* planes: -u TWIN_RATE; weights to try */
    const scalar *weights; /* theta, borrowed */
    double loss, rate; /* at theta; to begin with */
    double low, high; /* exponents of 2, times `rate`, that do not raise the loss, and that do */
    double at, reach; /* the exponent under way; how much further the next one goes */
    int passes;
};

enum { SHARPNESS_PASSES = 9 }; /* the most */
#define SHARPNESS_WIDTH 0.0625 /* of [low, high] that is good enough: 4.4 % */

void sharpness_layout(struct sharpness *sharpness, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, struct arena *arena);

/*
 * At theta, before step `number`, whose clipped gradient is clip times `gradient`, and whose batch has this
 * loss. The search begins at 2 / before, the result of an earlier measurement, or at `rate` if that is NaN.
 */
void sharpness_begin(struct sharpness *sharpness, const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double clip, int64_t number, double loss, double rate, double before);

/* The plane of weights whose loss is wanted; NULL: the search has ended. */
const scalar *sharpness_next(struct sharpness *sharpness);

/* Takes that loss; NaN counts as higher. */
void sharpness_take(struct sharpness *sharpness, double loss);

/* NaN if all rates within 2^20 raise the loss, or none does. */
double sharpness_end(const struct sharpness *sharpness);

/* ---- lanczos ---- */

/*
 * The Lanczos process for a symmetric matrix A that is known by its products, with full re-orthogonalisation
 * in two passes, and the quadrature of its spectral density as the start vector sees it. The caller computes
 * the products:
 *     lanczos_begin; while lanczos_vector is not NULL: compute A times it into `product`, lanczos_step
 *     lanczos_end
 * The basis is kept in scalars, and the caller's passes are of scalars: in float, products, orthogonality and
 * with them Ritz values are right to about 1e-6 of the largest eigenvalue. Sums over vectors are double.
 */
struct lanczos {
    int64_t most_size, most_steps; /* room */
    int64_t size, steps, taken; /* of the process under way; steps <= size */
    bool ended; /* an invariant space is exhausted, or a product is not finite */
    scalar *basis; /* [most_steps][most_size] orthonormal */
    double *product; /* [most_size] where the caller puts A times lanczos_vector; overwritten by a step */
    double *diagonal, *beside; /* [most_steps] of the tridiagonal matrix */
    double *part; /* [most_steps] of a re-orthogonalisation */
    double first; /* v.Av of the start vector, of norm 1 */
};

void lanczos_layout(struct lanczos *lanczos, int64_t size, int64_t steps, struct arena *arena);

/* Starts at a Rademacher vector (every element 1 or -1, over sqrt(size)), a function of seed and probe. */
void lanczos_begin(struct lanczos *lanczos, int64_t size, uint64_t seed, uint64_t probe);

/* The vector [size] whose product comes next; NULL: the process has ended. */
const scalar *lanczos_vector(const struct lanczos *lanczos);

/* Takes the product. */
void lanczos_step(struct lanczos *lanczos);

/*
 * ritz, weight [most_steps]: the eigenvalues of the tridiagonal matrix, ascending, and the squared first
 * components of its eigenvectors; NaN beyond the steps that were taken, and everywhere if a product was not
 * finite.
 */
void lanczos_end(struct lanczos *lanczos, double *ritz, double *weight);

/*
 * The eigenvalues of a symmetric tridiagonal matrix and the squares of the first components of its
 * eigenvectors, which are the nodes and weights of a Gauss quadrature (Golub and Welsch 1969). diagonal
 * [count] becomes the eigenvalues, ascending; weight [count] receives the squares, which sum to 1. beside
 * [count], whose first count - 1 elements lie beside the diagonal, is overwritten. diagonal and weight become
 * NaN if the matrix has something that is not finite, or if an eigenvalue does not converge.
 */
void tridiagonal_solve(double *diagonal, double *beside, double *weight, int64_t count);

/* ---- hessian ---- */

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
    scalar *root; /* plane: P^-1/2, filled by the caller before hessian_begin; NULL if there is no P */
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

/* ---- spectra ---- */

/*
 * Singular values of the matrices of the blocks, and what they say of each head of self-attention. From Gram
 * matrices, in double: the largest has a relative error of some 1e-15; those below 1e-8 of it are lost, and
 * count as about so much, or as 0. Biases, gains of qk_norm and rotations by positions are left out. On one
 * thread.
 */
struct spectra {
    /* [blocks][LAYER_TENSOR_COUNT], NaN for vectors, absent tensors, and what is not finite */
    double *top; /* the largest singular value */
    double *stable_rank; /* |W|^2 / top^2; NaN if W is 0, as the next two */
    double *over_noise; /* top over rms(W) (sqrt(rows) + sqrt(columns)), about that of white noise */
    double *entropy; /* exp of the entropy of the squares over their sum: as many equal ones have it */
    double *dead; /* 1, or 0; NaN: not known, until spectra_judge */
    double *values; /* [blocks][LAYER_TENSOR_COUNT][length] all, descending, then NaN; NULL unless wanted */
    /* [blocks][heads], with A = W_Q and B = W_K of a head; with A = W_V and B = W_O */
    double *qk_rank, *ov_rank; /* singular values of W_Q^T W_K, W_O W_V above a share of the largest */
    double *qk_imbalance, *ov_imbalance; /* |A A^T - B B^T| / (|A|^2 + |B|^2), for W_O of B^T B */

    const struct architecture *architecture; /* borrowed */
    const struct weight_layout *layout; /* borrowed */
    int64_t blocks, length;
    double *chunk, *work, *eigenvalue, *gram; /* scratch */
    double *first, *second, *half; /* [D][D] */
};

/* Singular values above this share of the largest count for a rank; a matrix whose rms is below this share of
 * that in equilibrium is dead. */
enum { SPECTRA_RANK_PERCENT = 1, SPECTRA_ALIVE_PERCENT = 25 };

/* Has the linked BLAS the routine of LAPACK, dsyev, that all else here needs? */
bool spectra_available(void);

/* The most singular values that a matrix of a block has. */
int64_t spectra_length(const struct architecture *architecture);

void spectra_layout(struct spectra *spectra, const struct weight_layout *layout,
    const struct architecture *architecture, bool values, struct arena *arena);

/* Measures the matrices and heads of one block. */
void spectra_measure(struct spectra *spectra, const scalar *weights, int64_t block);

/* Says which matrices are dead, from what measure_state and measure_equilibrium have left. */
void spectra_judge(struct spectra *spectra, const struct instruments *instruments);

/* ---- lyapunov ---- */

/*
 * Lyapunov exponents of the residual stream through depth. A tangent is one of the whole state of a sequence,
 * T x C numbers, since attention couples its tokens. Orthonormal tangents V pass through the blocks one after
 * the other: W = J_l V, W = Q R, and Q is the V of the next block; exponent i is 1/L sum over the blocks of
 * ln R_ii. The sum of the first k of them is the growth of k-dimensional volumes per block; that of all T C
 * is ln|det J| / L, J being the Jacobian of all blocks together.
 *
 * A random V needs more blocks than a network has to turn into the directions that grow most. Each sweep
 * turns it once before the measurement, by a pass forward through the Jacobians and one back through their
 * transposes: the more sweeps, the nearer are the exponents to ln(singular value of J) / L, the largest
 * first.
 *
 * The angular exponents are those of the directions x/|x| of the tokens, which is all that a norm sees of
 * them: each token's part of a tangent is orthogonal to the token, and is divided by the token's norm before
 * and after the block. A norm of the whole state would take away one direction of T C only. There are
 * T (C - 1) of them. If the state of a token is exactly 0 at some depth, it has no direction, and all are
 * NaN.
 *
 * Where J_l is singular, as under post, the tangents behind its rank depend on those before them. Rounding
 * nearly always leaves something of them: ln R_ii is then about ln of the rounding, and the exponent a number
 * below -10 (float) or -30 (double) in place of minus infinity. Only a tangent that is exactly 0 gives NaN.
 */
struct lyapunov {
    double *exponent, *angular; /* [stacks][wanted], NaN for those beyond the dimension of the state */

    int64_t wanted, sweeps;
    int64_t stack, first, layers; /* under way: the stack, its first block, their number */
    struct transformer *model; /* borrowed, like weights */
    const scalar *weights;
    struct batch batch; /* one sequence */
    uint64_t seed;
    int64_t rows, size; /* of a state, its elements */
    int64_t at, end; /* rounds: done, in total */
    int64_t next; /* tangent of the round under way */
    double *tangent; /* [wanted][rows C] */
    double *sum; /* [wanted] of ln R_ii */
    scalar *state; /* [rows, C] */
};

/* For so many exponents of one sequence of at most `rows` tokens. */
void lyapunov_layout(struct lyapunov *lyapunov, const struct architecture *architecture, int64_t exponents,
    int64_t sweeps, int64_t rows, struct arena *arena);

/*
 * Begins the measurement of one stack on the first sequence of the batch; what cross-attention reads does not
 * change. The model, which has tangents, must keep its pass until the end; model, weights and batch are
 * borrowed until then. The start is a function of the seed.
 */
void lyapunov_begin(struct lyapunov *lyapunov, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t stack, int64_t seed);

/* Draws one tangent or takes one through one block, which costs that pass and 8 operations for each element
 * of each tangent before it. False: that was the last time, and the exponents are there. */
bool lyapunov_advance(struct lyapunov *lyapunov);

/* ---- collapse ---- */

/* Tells from the words that a model predicts over a validation whether it still uses its input. A collapsed
 * model predicts a single word for every input, and its loss is at least that of a constant prediction. */
struct collapse {
    int64_t vocabulary;
    int32_t *predicted; /* [rows] of the next batch; transformer_evaluate fills it */
    double *times; /* [vocabulary] how often each word was predicted */
    double *share; /* [vocabulary] weight of each word as a target in the loss, summed over the sequences */
    double right; /* predictions that equal their target */
};

struct collapse_measures {
    double predicted_entropy; /* nats, of the distribution of the predicted words; 0: always one word */
    double accuracy; /* share of the targets that are the predicted word */
};

/* For batches of up to `rows` rows. */
void collapse_layout(struct collapse *collapse, int64_t vocabulary, int64_t rows, struct arena *arena);

/* Forgets every batch. */
void collapse_begin(struct collapse *collapse);

/* Adds a batch whose predictions are in `predicted`; rows without a target do not count. Results do not
 * depend on how sequences are packed. */
void collapse_add(struct collapse *collapse, const struct batch *batch);

/* The measures of all added batches, NaN without any. */
void collapse_end(const struct collapse *collapse, struct collapse_measures *measures);

/*
 * The loss in nats, on the added targets, of predicting each word as often as it is a target in training: the
 * best that a model can do without its input. A word that is never a target in training counts as one target.
 * Both sides weight targets as the loss does: the mean over sequences of the mean within each. Where targets
 * are drawn, training has the draws of a validation, so that the loss is the same in all runs. A mapped file
 * of more than UNIGRAM_MOST tokens is counted in sequences of so many tokens, evenly spaced: each run would
 * read the whole file. NaN if no batch was added. Overwrites `times`, and `scratch`, which has room for any
 * one sequence.
 */
double collapse_unigram_loss(struct collapse *collapse, const struct text *training,
    const struct reading *reading, struct batch *scratch);

enum { UNIGRAM_MOST = 1 << 24 };

/* The unigram loss of a reading of a corpus, kept from one run to the next: runs of milliseconds would spend
 * a tenth of their time on counting the same texts again. {0}: none. */
struct unigram {
    bool known;
    struct digest corpus;
    struct reading reading;
    int64_t tokens; /* of the validation */
    double loss;
};

/* Is it that of this reading, on the first `tokens` tokens of the validation text? The seed has no effect. */
bool unigram_is_of(const struct unigram *unigram, const struct corpus *corpus, const struct reading *reading,
    int64_t tokens);

/* ---- dynamics ---- */

/* The direction of the updates, inferred from the norms of a run alone. Recursions of the norm n over the
 * steps, with the learning rate eta of each step and the decay lambda, are fitted to the measured norms. */
enum dynamics {
    DYNAMICS_NONE, /* undecided: the best R^2 is below DYNAMICS_R2_LEAST, or another recursion fits as well */
    DYNAMICS_ALIGNED, /* along theta: n' = (1 - eta lambda + k eta) n */
    DYNAMICS_MISALIGNED, /* across theta, length ~ n: n'^2 = ((1 - eta lambda)^2 + k^2 eta^2) n^2 */
    DYNAMICS_RELATIVE, /* one of the two above: at a constant rate they are the same curve */
    DYNAMICS_ADAM_LIKE, /* across theta, constant length: n'^2 = (1 - eta lambda)^2 n^2 + a eta^2 */
    DYNAMICS_COUNT
};

/* The least share of the norms' variance that a recursion must explain to be chosen. */
#define DYNAMICS_R2_LEAST 0.5

/* One fit. NaN with fewer than 4 measured steps, or if a norm is not finite or the first norm is 0. */
struct recursion_fit {
    double parameter; /* k of any sign, k >= 0, a >= 0: least squares in n over the measured steps */
    double *norm; /* [count] n at the measured steps with that parameter; the caller's, or NULL */
    double r2; /* against the mean of n; NaN if n is constant */
    double aic; /* lower is better; comparable among the fits of one run */
};

struct dynamics_fit {
    struct recursion_fit aligned, misaligned, adam_like;
    enum dynamics best; /* the fit with the lowest aic; others fit as well if theirs is less than 2 above */
};

/*
 * Fits all recursions. step, norm [count]: the measured steps, ascending from 0, and their norms. decay:
 * lambda of the recursions; 0 for a decay that is part of an update which is then normalised. Takes some
 * dozen passes over the steps of the run. The caller sets the three `norm` of *fit first.
 */
void dynamics_fit(const struct schedule *schedule, double decay, const int64_t *step, const double *norm,
    int64_t count, struct dynamics_fit *fit);

/* ---- outlook ---- */

/*
 * Which phase will a run have at its end? In units of |theta_0|^2, the square of the norm follows
 *     N(t_{k+1}) = D_k N(t_k) + a_k W_k,   D_k = prod (1 - eta_s lambda)^2,
 * over the steps s from one measured step to the next; W_k is the sum of their rates, each shrunk by the
 * decay of the steps behind it. a_k, the gain, is what updates add to the square for each unit of rate. The
 * rest of the run has a D and a W, too, which are known beforehand; only its gain is not. It is supposed to
 * be at most OUTLOOK_LARGER times the gains so far, with m the most that updates added (0: never), l the
 * most that they took away:
 *     shrinking   D N(t) + OUTLOOK_LARGER * max(m, l) * W < 1
 *     growing     D N(t) - max(OUTLOOK_LARGER * l, OUTLOOK_LOSS * m) * W > 1
 *
 * Nothing proves the supposition. A gain is at most 2 sum |theta_T| |u_T| / |theta_0|^2 to first order, and a
 * bound from full steps (struct stride) is a hundred times what updates do: it is met only in the last few
 * steps. What is known to break the supposition is a plateau: steps far below full ones, which grow tens to
 * thousands of times when it ends. So there is a forecast only if steps reach (measure_reach) OUTLOOK_REACH,
 * now and on average so far. docs/searching.md says on what all this was tried.
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

/* ---- fits ---- */

/* The least squares of y = a + b x: b, the standard error of b from the residuals, and R^2. */
struct straight {
    double slope, slope_error, r2;
};

/* Fits of fewer points than this are NaN. */
enum { STRAIGHT_POINTS = 4 };

struct straight straight_fit(const double *x, const double *y, int64_t count);

/*
 * The growth law of one run, from its norms [count] at the measured steps [count], ascending from 0: the
 * exponent p of |theta_t|^2 - |theta_0|^2 ~ t^(2p) over the steps where the difference is positive, and R^2
 * of the straight fits of |theta_t| against sqrt(t), t, t^(1/4) and exp(-t/t_end). A fit of fewer than
 * STRAIGHT_POINTS points is NaN.
 */
struct growth {
    double exponent, exponent_error, exponent_r2;
    double sqrt_r2, linear_r2, fourth_root_r2, exponential_r2;
};

/* scratch: [2 * count]. */
void growth_fit(
    const int64_t *step, const double *norm, int64_t count, double *scratch, struct growth *growth);

#endif
