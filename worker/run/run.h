#ifndef NORMSWEEP_WORKER_RUN_RUN_H
#define NORMSWEEP_WORKER_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/core/error.h"
#include "model/corpora/corpora.h"
#include "model/optimisers/optimisers.h"

struct run;

/* PARAM_WEIGHTS: a file of weights, by what names their values (start_read), not by its path. */
enum param_kind { PARAM_INTEGER, PARAM_REAL, PARAM_BOOLEAN, PARAM_WORD, PARAM_WORDS, PARAM_WEIGHTS };

/* A value of any parameter: integer also holds booleans (0, 1), the index of a word, of several words a bit
 * for each, and the name of weights (0: none; never negative). */
union param_value {
    int64_t integer;
    double real;
};

struct param {
    const char *name; /* the YAML key, axis and netCDF variable */
    size_t offset; /* in struct run */
    enum param_kind kind;
    bool cost; /* does a step's time or memory depend on it? */
    bool axis; /* may it be an axis? */
    bool min_open; /* the value must be above min */
    bool max_open; /* the value must be below max */
    double min, max; /* -INFINITY, INFINITY: no bound */
    const char *const *words; /* in the order of its enum, NULL at the end; NULL: it has none */
    union param_value initial;
    const char *unit; /* "1" if none */
    const char *long_name; /* for axes and legends */
    const char *help; /* one sentence, in lower case, without a full stop */
};

/* The table: param_count rows in the order of struct run's fields. */
extern const struct param param_table[];
extern const size_t param_count;

/* The row of a key, or NULL. */
const struct param *param_find(const char *name);

union param_value param_get(const struct param *param, const struct run *run);
void param_set(const struct param *param, struct run *run, union param_value value);

/* As many bytes as the text of any value takes. */
enum { PARAM_TEXT = 96 };

/* Writes a value as in a sweep file ("0.001", "true", "pre", "gains+biases"), in the shortest form that reads
 * back the same. Returns text. */
char *param_format(const struct param *param, union param_value value, char *text, size_t size);

/* The value of a word, of several words joined by "+", or of the name of weights. False: there is none. */
bool param_find_word(const struct param *param, const char *text, int64_t *value);

/* Checks a value against the bounds of its row: 0, or -1 with "weight_decay: -0.1 is below 0" in error. */
int param_check(const struct param *param, union param_value value, struct error *error);

/* How rates and scales depend on width: not at all, or by Table 8 of Yang et al. 2022, for adam. */
enum parametrization { PARAMETRIZATION_STANDARD, PARAMETRIZATION_MUP };

/*
 * The parameters of one run, except for texts and measuring. Every field has 8 bytes: an int64_t (integers,
 * booleans and words) or a double. Each has one row in the parameter table of param.c, the single source of
 * its YAML key, bounds, words, unit, default and help. A new parameter is one field and one row.
 */
struct run {
    /* model */
    int64_t network, layers, decoder_layers; /* decoder_layers 0: as many as layers; see run_architecture */
    int64_t width, heads, kv_heads, feedforward; /* kv_heads 0: as many as heads */
    int64_t norm_placement, norm, qk_norm, positions, score_scale, activation, gated, bias, output_bias, tied,
        init;
    double init_deviation;
    int64_t attention_mask, zero_query_key, precision;
    double init_scale, residual_scale;
    int64_t parametrization, base_width; /* base_width 0: not given */
    int64_t initial_weights; /* 0: by init; else what names them */
    /* data */
    int64_t corpus, objective, sequences, min_count, vocabulary, corpus_tokens;
    double train_share;
    int64_t corpus_seed, context, batch;
    /* training */
    int64_t epochs, steps; /* exactly one of them is not 0; both may be with initial_weights */
    int64_t optimiser;
    double learning_rate, weight_decay;
    double timescale; /* 0: weight_decay is given; see run_derive */
    int64_t decay, decay_on, decay_rule, norm_rule, weights;
    double norm_target, brake, beta1, beta2, epsilon, momentum;
    int64_t schedule, schedule_start;
    double schedule_end, schedule_decay;
    int64_t warmup_steps;
    double gradient_clip;
    int64_t stop_when;
    double output_scale, z_loss;
    int64_t seed, threads, save_weights;
};

/*
 * Weights from which runs start. The name is made of the network and its weights: files of the same ones have
 * the same name, whenever and by whom they were written.
 */
struct start_weights {
    int64_t name; /* above 0 */
    char *path; /* owned */
    struct architecture architecture;
    bool has_output;
};

struct starts {
    int64_t count;
    struct start_weights *file; /* [count], owned */
};

/* When a run ends: at its last step, or as soon as its phase is forecast (struct outlook in
 * model/instruments/instruments.h). */
enum stop_when { STOP_NEVER, STOP_PHASE };

/* What is kept of a run that is done: nothing, its final weights, or also what a longer run carries on from.
 */
enum save_weights { SAVE_NOTHING, SAVE_WEIGHTS, SAVE_STATE };

/* Every parameter at its default. */
void run_init(struct run *run);

/* Sets weight_decay of a run that has a timescale, by its rate and steps. */
void run_derive(struct run *run);

/* The parameters that it follows from; NULL at the end. */
extern const char *const run_decay_sources[];

/*
 * Checks what involves several parameters: heads and what they share; whether network, objective and corpus
 * go together; what mup is defined for; exactly one of epochs and steps; the size of the model and of a
 * batch. 0, or -1 with the line in error and the row at fault in *at.
 */
int run_check(const struct run *run, const struct param **at, struct error *error);

/* The structs of model/ that a run describes. `vocabulary` is that of the corpus; the architecture's also has
 * the words that the objective adds. */
struct architecture run_architecture(const struct run *run, int64_t vocabulary);
struct optimiser_options run_optimiser(const struct run *run);

/*
 * lambda where every weight of the layers decays alike: a step at rate eta_t without an update leaves
 * 1 - run_decay_time(run, eta_t) lambda of theta. A momentum repeats each step's decay, 1 / (1 - momentum)
 * times in total. The decay of adam passes through the second moment, which a recursion of the norm alone
 * cannot follow: it counts as part of the update, and lambda is 0. So does a decay of some weights alone
 * (decay_on: matrices, cautious), or, with mup at another width than its base, one that is slower for
 * matrices than for vectors; so does any decay where norm_rule acts, or rounding to the nearest
 * bfloat16 loses it.
 */
double run_even_decay(const struct run *run);

/* run_even_decay over weight_decay, also where that is 0; 0: weights do not decay alike. */
double run_even_decay_factor(const struct run *run);

/* What multiplies lambda in a step: its rate, or what decay_rule: corrected makes of it. */
double run_decay_time(const struct run *run, double rate);

/* lambda of recursions of the norm that know the rates alone: run_even_decay, or 0 where the decay of a step
 * is not in proportion to its rate. */
double run_decay(const struct run *run);

/* Do all weights of the layers lose the share that run_decay says in a step, or nothing? */
bool run_decays_by_share(const struct run *run);

/* Have steps a bound, whatever the gradient is? Without one a run can diverge at any moment, and diverged is
 * a phase, too. */
bool run_has_bounded_steps(const struct run *run);

/* May the run end before its last step, as soon as its phase is forecast? Only with stop_when: phase, and if
 * both of the above hold. */
bool run_may_end_early(const struct run *run);

struct schedule run_schedule(const struct run *run, int64_t last_step);

/*
 * The step whose state a run of last_step steps can leave for others of the same configuration, which do
 * exactly the same up to there whatever their last step: the last one, or the one before the rate begins to
 * fall. 0: there is none, as its rate depends on last_step from the start, or stop_when may end it early.
 */
int64_t run_kept_step(const struct run *run, int64_t last_step);

/* t_end: `steps`, or epochs times floor(sequences of the training text / batch). */
int64_t run_last_step(const struct run *run, const struct corpus *corpus);

/* Adds every parameter, by name and value, to a digest, except for those that the corpus's digest has. */
void run_digest(const struct run *run, struct digest *digest);

struct measure; /* below: it needs the groups */

/*
 * The version of all files that this program writes: datasets, checkpoints, weights files. Raise it with
 * every change of what one of them has, so with every row of the tables of parameters, metrics and tensors; a
 * file of another version is refused. analysis/normsweep/names.py has it, too.
 */
enum { FORMAT_VERSION = 15 };

/*
 * The dimensions of metrics in addition to the axes of the sweep: X(NAME, name, coordinate, long_name,
 * comment). `coordinate` is a static function of metric.c, the number or word at a place. A new dimension is
 * one row here, and a case of length_along in metric.c, which the compiler asks for.
 */
#define METRIC_DIMENSIONS(X)                                                                                 \
    X(STEP, step, INTEGER(place_itself), "step", "optimiser steps taken before the measurement")             \
    X(STACK, stack, WORD(stack_name), "stack",                                                               \
        "of the network; layers, depths and final states are those of one stack; only where some run of "    \
        "the sweep is an encoder_decoder")                                                                   \
    X(LAYER, layer, INTEGER(place_itself), "layer", "from the input on")                                     \
    X(TENSOR, tensor, WORD(layer_tensor_name), "kind of tensor", "")                                         \
    X(HEAD, head, INTEGER(place_itself), "attention head", "of its layer")                                   \
    X(BIN, attended, INTEGER(bin_end), "most positions attended",                                            \
        "of a bin that holds those above the bin before: 1, 2, 3 to 4, 5 to 8, and so on")                   \
    X(SCALE, scale, REAL(homogeneity_scale), "scale of the parameters",                                      \
        "factor on every parameter of a fresh model")                                                        \
    X(PROBE, probe, INTEGER(place_itself), "probe", "random start vector")                                   \
    X(LANCZOS, lanczos, INTEGER(place_itself), "Lanczos step", "of a probe: its Ritz values, ascending")     \
    X(DEPTH, depth, INTEGER(place_itself), "depth", "blocks passed; 0: embedded tokens")                     \
    X(EXPONENT, exponent, INTEGER(place_itself), "exponent", "of a spectrum, from 0")                        \
    X(FORCE, force, WORD(force_name), "force", "what changes the square of a norm")                          \
    X(SINGULAR, singular, INTEGER(place_itself), "singular value", "from 0, the largest")

enum metric_dimension {
#define X(NAME, ...) DIMENSION_##NAME,
    METRIC_DIMENSIONS(X)
#undef X
        DIMENSION_COUNT,
};

struct metric_dimension_row {
    const char *name;
    bool is_real; /* the coordinate is a real number, else an integer or a word */
    double (*number)(int64_t place); /* coordinate; NULL where it is a word. Steps have those of the sweep */
    const char *(*word)(
        int64_t place); /* coordinate, NULL beyond the last; no function where it is a number */
    const char *long_name, *comment;
};

extern const struct metric_dimension_row metric_dimension_table[DIMENSION_COUNT];

/*
 * The dimensions of a metric: X(SHAPE, rank, dimensions...). Without STEP it is measured once per run. A
 * metric of shape STACK_OF_TWO exists only in datasets that have the dimension STACK: elsewhere there is
 * another one of the same value.
 */
#define METRIC_SHAPES(X)                                                                                     \
    X(RUN, 0, 0)                                                                                             \
    X(SCALE, 1, DIMENSION_SCALE)                                                                             \
    X(STEP, 1, DIMENSION_STEP)                                                                               \
    X(STACK, 2, DIMENSION_STEP, DIMENSION_STACK)                                                             \
    X(STACK_OF_TWO, 2, DIMENSION_STEP, DIMENSION_STACK)                                                      \
    X(LAYER, 3, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER)                                            \
    X(TENSOR, 4, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_TENSOR)                         \
    X(HEAD, 4, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_HEAD)                             \
    X(POSITIONS, 2, DIMENSION_STEP, DIMENSION_BIN)                                                           \
    X(KIND, 3, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_TENSOR)                                            \
    X(HEAD_POSITIONS, 5, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_HEAD, DIMENSION_BIN)    \
    X(LANCZOS, 3, DIMENSION_STEP, DIMENSION_PROBE, DIMENSION_LANCZOS)                                        \
    X(LAYER_LANCZOS, 5, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_PROBE,                   \
        DIMENSION_LANCZOS)                                                                                   \
    X(TENSOR_SINGULAR, 5, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_TENSOR,                \
        DIMENSION_SINGULAR)                                                                                  \
    X(DEPTH, 3, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_DEPTH)                                            \
    X(EXPONENT, 3, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_EXPONENT)                                      \
    X(FORCE, 2, DIMENSION_STEP, DIMENSION_FORCE)                                                             \
    X(TENSOR_FORCE, 5, DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_TENSOR, DIMENSION_FORCE)

enum metric_shape {
#define X(SHAPE, ...) METRIC_PER_##SHAPE,
    METRIC_SHAPES(X)
#undef X
        METRIC_SHAPE_COUNT,
};

enum { METRIC_RANK_MOST = 5 };

struct metric_shape_row {
    int rank;
    enum metric_dimension dimension[METRIC_RANK_MOST];
};

extern const struct metric_shape_row metric_shape_table[METRIC_SHAPE_COUNT];

/* The words of `measure: {metrics: [...]}`; the first group is always on. X(GROUP, word, default) */
#define METRIC_GROUPS(X)                                                                                     \
    X(ALWAYS, always, true)                                                                                  \
    X(NORMS, norms, true)                                                                                    \
    X(ALIGNMENT, alignment, true)                                                                            \
    X(SATURATION, saturation, false)                                                                         \
    X(HEADS, heads, false)                                                                                   \
    X(ATTENTION, attention, false)                                                                           \
    X(HOMOGENEITY, homogeneity, false)                                                                       \
    X(GRADIENTS, gradients, false)                                                                           \
    X(HESSIAN, hessian, false)                                                                               \
    X(HESSIAN_LAYERS, hessian_layers, false)                                                                 \
    X(RESIDUAL, residual, false)                                                                             \
    X(LYAPUNOV, lyapunov, false)                                                                             \
    X(EQUILIBRIUM, equilibrium, false)                                                                       \
    X(FORCES, forces, false)                                                                                 \
    X(SHARPNESS, sharpness, false)                                                                           \
    X(SPECTRA, spectra, false)                                                                               \
    X(SPECTRA_VALUES, spectra_values, false)

enum metric_group {
#define X(GROUP, ...) GROUP_##GROUP,
    METRIC_GROUPS(X)
#undef X
        GROUP_COUNT,
};

/*
 * The kind of number that a variable holds, as far as pictures need it; written as the variable's attribute
 * METRIC_NATURE. X(NATURE, word, trained, linear, geometric, meaning). `trained`: has a meaning only if the
 * run did not diverge; `linear`: never on a logarithmic scale; `geometric`: averaged by the geometric mean.
 */
#define METRIC_NATURES(X)                                                                                    \
    X(RECORD, record, false, false, false, "holds for a run or its texts, however the run ended")            \
    X(FRESH, fresh, false, false, false, "measured on a fresh model: cosines, degrees of homogeneity")       \
    X(MAGNITUDE, magnitude, true, false, false, "a norm, a loss, a count, a coefficient: on any scale")      \
    X(RATIO, ratio, true, false, true, "a factor: its mean is the geometric one")                            \
    X(SHARE, share, true, true, false, "a cosine or a share: never on a logarithmic scale")                  \
    X(R_SQUARED, r_squared, true, true, false, "how good a fit is, at most 1")

#define METRIC_NATURE "nature"

enum nature {
#define X(NATURE, ...) NATURE_##NATURE,
    METRIC_NATURES(X)
#undef X
        NATURE_COUNT,
};

struct nature_row {
    const char *word;
    bool trained, linear, geometric;
    const char *meaning;
};

extern const struct nature_row nature_table[NATURE_COUNT];

/*
 * The metric table: X(name, shape, group, nature, unit, long_name, help). The single source of netCDF
 * variables, help, the reference and the wire. A new metric is one row here and the line that computes it.
 */
#define METRICS(X)                                                                                           \
    X(train_loss, STEP, ALWAYS, MAGNITUDE, "1", "training loss (nats)",                                      \
        "loss on the batch of step t + 1, before that step")                                                 \
    X(valid_loss, STEP, ALWAYS, MAGNITUDE, "1", "validation loss (nats)",                                    \
        "loss on the first validate.tokens tokens of the validation text")                                   \
    X(predicted_entropy, STEP, ALWAYS, MAGNITUDE, "1", "entropy of the predicted words (nats)",              \
        "entropy of the distribution of the likeliest words over the validated targets; 0: the model "       \
        "always predicts the same word")                                                                     \
    X(accuracy, STEP, ALWAYS, SHARE, "1", "accuracy",                                                        \
        "share of the validated targets that the model predicts as the likeliest word")                      \
    X(rate_sum, STEP, ALWAYS, RECORD, "1", "sum of learning rates",                                          \
        "sum of the learning rates of the first t steps")                                                    \
    X(param_norm, STEP, NORMS, MAGNITUDE, "1", "parameter norm",                                             \
        "|theta_t| over the tensors of the layers; embeddings, output layer and final norm are left out")    \
    X(embedding_norm, STEP, NORMS, MAGNITUDE, "1", "embedding norm",                                         \
        "norm of all tensors before the blocks, such as the embeddings of tokens and positions")             \
    X(output_norm, STEP, NORMS, MAGNITUDE, "1", "output norm", "norm of the output layer's own tensors")     \
    X(total_norm, STEP, NORMS, MAGNITUDE, "1", "norm of all parameters",                                     \
        "norm of everything that is trained")                                                                \
    X(direction_cosine, STEP, NORMS, SHARE, "1", "direction cosine",                                         \
        "cos(theta_s, theta_t) with s the measured step before t")                                           \
    X(stack_norm, STACK_OF_TWO, NORMS, MAGNITUDE, "1", "parameter norm of a stack",                          \
        "|theta_t| over the tensors of the layers of one stack; only in sweeps with an encoder_decoder")     \
    X(stack_direction_cosine, STACK_OF_TWO, NORMS, SHARE, "1", "direction cosine of a stack",                \
        "cos(theta_s, theta_t) over the layers of one stack, with s the measured step before t; only in "    \
        "sweeps with an encoder_decoder")                                                                    \
    X(layer_norm, LAYER, NORMS, MAGNITUDE, "1", "parameter norm of a layer",                                 \
        "|theta_t| over the tensors of one layer")                                                           \
    X(layer_direction_cosine, LAYER, NORMS, SHARE, "1", "direction cosine of a layer",                       \
        "cos(theta_s, theta_t) over one layer, with s the measured step before t")                           \
    X(tensor_norm, TENSOR, NORMS, MAGNITUDE, "1", "norm of a tensor",                                        \
        "norm of one kind of tensor of one layer")                                                           \
    X(grad_norm, STEP, ALIGNMENT, MAGNITUDE, "1", "gradient norm",                                           \
        "|g_t|, the norm of the gradient of the batch of step t + 1, before clipping and decay")             \
    X(step_size, STEP, ALIGNMENT, MAGNITUDE, "1", "step size",                                               \
        "|delta_t|, where delta_t = theta_(t+1) - theta_t is the optimiser's step with its decay")           \
    X(alignment, STEP, ALIGNMENT, SHARE, "1", "alignment",                                                   \
        "cos(theta_t, delta_t), where delta_t = theta_(t+1) - theta_t is the optimiser's step with its "     \
        "decay")                                                                                             \
    X(gradient_alignment, STEP, ALIGNMENT, SHARE, "1", "gradient alignment",                                 \
        "cos(theta_t, -g_t), where g_t is the gradient; 0: orthogonal to the parameters")                    \
    X(update_norm, STEP, ALIGNMENT, MAGNITUDE, "1", "update norm",                                           \
        "|u_t|, where -learning_rate u_t is the optimiser's step without its decay")                         \
    X(update_alignment, STEP, ALIGNMENT, SHARE, "1", "update alignment",                                     \
        "cos(theta_t, -u_t), where -learning_rate u_t is the optimiser's step without its decay")            \
    X(update_alignment_null, STEP, ALIGNMENT, SHARE, "1", "update alignment by chance",                      \
        "what update_alignment is on average if gradients are white noise, because theta_t holds past "      \
        "updates, which hold the same gradients as u_t: S learning_rate |u_t| / |theta_t|. With adamw, and " \
        "adam without decay, S = b / (1 - b (1 - d)), b = beta1, d = learning_rate weight_decay; with lion " \
        "the same sum over 2 / pi asin of the correlations of its mixtures; with sgd momentum / (1 - "       \
        "momentum), and learning_rate |u_t| / |theta_t| less weight_decay |theta_t| / |u_t|; 0 without "     \
        "momentum; NaN with muon, with adam and decay, with decay_rule cautious, weights bfloat16")          \
    X(balance_error, STEP, ALIGNMENT, MAGNITUDE, "1", "balance error",                                       \
        "error of |theta_(t+1)|^2 - |theta_t|^2 = 2 theta_t.delta_t + |delta_t|^2, where delta_t = "         \
        "theta_(t+1) - theta_t, relative to the larger square: a check of the arithmetic")                   \
    X(layer_step_size, LAYER, ALIGNMENT, MAGNITUDE, "1", "step size of a layer",                             \
        "|theta_(t+1) - theta_t| over the tensors of one layer")                                             \
    X(layer_alignment, LAYER, ALIGNMENT, SHARE, "1", "alignment of a layer",                                 \
        "cos(theta_t, theta_(t+1) - theta_t) over the tensors of one layer")                                 \
    X(layer_gradient_alignment, LAYER, ALIGNMENT, SHARE, "1", "gradient alignment of a layer",               \
        "cos(theta_t, -g_t) over the tensors of one layer, where g_t is the gradient")                       \
    X(saturation, LAYER, SATURATION, SHARE, "1", "saturation of a layer",                                    \
        "cosine between the states after the layer and those of the saturated network, which has every "     \
        "parameter times 1000; mean over the validated tokens")                                              \
    X(saturation_final, STACK, SATURATION, SHARE, "1", "saturation",                                         \
        "cosine between the inputs of the output layer and those of the saturated network, which has "       \
        "every parameter times 1000; mean over the validated tokens")                                        \
    X(hard_saturation, LAYER, SATURATION, SHARE, "1", "saturation of a layer by hard attention",             \
        "cosine between the states after the layer and those of the saturated network, here with each "      \
        "head attending equally to the positions of its largest scores; mean over the validated tokens")     \
    X(hard_saturation_final, STACK, SATURATION, SHARE, "1", "saturation by hard attention",                  \
        "cosine between the inputs of the output layer and those of the saturated network, here with each "  \
        "head attending equally to the positions of its largest scores; mean over the validated tokens")     \
    X(positions_attended, HEAD, HEADS, MAGNITUDE, "1", "positions attended",                                 \
        "number of positions whose attention weight exceeds 1e-5 in the saturated network, averaged over "   \
        "the validated tokens")                                                                              \
    X(fraction_attended, HEAD, HEADS, SHARE, "1", "fraction attended",                                       \
        "number of positions whose attention weight exceeds 1e-5 in the saturated network, over the "        \
        "number that the token sees (with a multiplicative mask: up to the token, so that it may be above "  \
        "1), averaged over the validated tokens")                                                            \
    X(share_above_one, HEAD, HEADS, SHARE, "1", "share of tokens that attend to more than one position",     \
        "share of the validated tokens for which the attention weights of more than one position exceed "    \
        "1e-5 in the saturated network")                                                                     \
    X(attended_histogram, HEAD_POSITIONS, HEADS, SHARE, "1",                                                 \
        "distribution of positions attended over tokens",                                                    \
        "share of the validated tokens in each bin of the number of positions whose attention weight "       \
        "exceeds 1e-5 in the saturated network")                                                             \
    X(heads_histogram, POSITIONS, HEADS, SHARE, "1", "distribution of positions attended over heads",        \
        "number of heads, over all layers, whose positions_attended, rounded, lies in each bin")             \
    X(max_logit, HEAD, ATTENTION, MAGNITUDE, "1", "largest attention score",                                 \
        "largest score of a head of self-attention, as the softmax sees it: scaled, with the bias of "       \
        "relative positions; over the validated tokens and the positions up to them (network encoder "       \
        "and the encoder of encoder_decoder: all positions), whatever attention_mask is")                    \
    X(attention_entropy, HEAD, ATTENTION, MAGNITUDE, "1", "entropy of the attention weights (nats)",         \
        "entropy of a head's weights over all positions that have one (with a multiplicative mask: "         \
        "also later ones); mean over the validated tokens without the first of each sequence; "              \
        "cross-attention is not measured")                                                                   \
    X(first_attention, HEAD, ATTENTION, SHARE, "1", "attention to the first position",                       \
        "weight of the sequence's first position; mean over the tokens of attention_entropy")                \
    X(sink_share, STACK, ATTENTION, SHARE, "1", "share of heads with a sink",                                \
        "share of the heads, over all layers of one stack, whose first_attention is above 0.3")              \
    X(activation_rms, DEPTH, ATTENTION, MAGNITUDE, "1", "root mean square of the residual stream",           \
        "root mean square of the elements of x_l over all validated tokens, where x_l is the residual"       \
        " stream after l blocks")                                                                            \
    X(activation_max, DEPTH, ATTENTION, MAGNITUDE, "1", "largest activation over the median",                \
        "largest |x_l| over the median of |x_l|, both over the elements of all tokens of a sequence; "       \
        "mean over the validated sequences; NaN if the median of one is 0")                                  \
    X(norm_growth, RUN, ALWAYS, RATIO, "1", "norm growth",                                                   \
        "|theta_end| / |theta_0| over the tensors of the layers, as in param_norm; a run grows if it is "    \
        "above 1")                                                                                           \
    X(growth_exponent, RUN, NORMS, MAGNITUDE, "1", "growth exponent p",                                      \
        "half the slope of log(|theta_t|^2 - |theta_0|^2) over log t, over the steps where the norm is "     \
        "above its start: once it is far above, the norm grows like t^p")                                    \
    X(growth_exponent_error, RUN, NORMS, MAGNITUDE, "1", "standard error of the growth exponent",            \
        "standard error of growth_exponent, from the residuals of its fit")                                  \
    X(growth_exponent_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of the growth exponent's fit",                    \
        "R^2 of the fit of growth_exponent; NaN with fewer than 4 measured steps where the norm is above "   \
        "its start")                                                                                         \
    X(fit_sqrt_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of |theta_t| against sqrt(t)",                           \
        "R^2 of a straight line through |theta_t| over sqrt(t), at the measured steps")                      \
    X(fit_linear_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of |theta_t| against t",                               \
        "R^2 of a straight line through |theta_t| over t, at the measured steps")                            \
    X(fit_fourth_root_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of |theta_t| against t^(1/4)",                    \
        "R^2 of a straight line through |theta_t| over t^(1/4), at the measured steps")                      \
    X(fit_exponential_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of |theta_t| against exp(-t/t_end)",              \
        "R^2 of a straight line through |theta_t| over exp(-t/t_end), at the measured steps")                \
    X(fit_aligned_k, RUN, NORMS, MAGNITUDE, "1", "k of aligned growth",                                      \
        "k of the recursion n' = (1 - eta lambda + k eta) n, fitted to |theta_t|; eta is the rate of the "   \
        "step, lambda is weight_decay, with sgd over 1 - momentum, with adam 0")                             \
    X(fit_aligned_norm, STEP, NORMS, MAGNITUDE, "1", "parameter norm of aligned growth",                     \
        "norm that the recursion of fit_aligned_k gives, at the measured steps; known once the run is done") \
    X(fit_aligned_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of aligned growth",                                   \
        "R^2 of the fit of fit_aligned_k to the norms")                                                      \
    X(fit_aligned_aic, RUN, NORMS, MAGNITUDE, "1", "AIC of aligned growth",                                  \
        "AIC of the fit of fit_aligned_k to the norms; of the three recursions, the lowest is the best")     \
    X(fit_misaligned_k, RUN, NORMS, MAGNITUDE, "1", "k of misaligned growth",                                \
        "k of the recursion n'^2 = ((1 - eta lambda)^2 + k^2 eta^2) n^2, fitted to |theta_t|; eta and "      \
        "lambda as in fit_aligned_k")                                                                        \
    X(fit_misaligned_norm, STEP, NORMS, MAGNITUDE, "1", "parameter norm of misaligned growth",               \
        "norm that the recursion of fit_misaligned_k gives, at the measured steps; known once the run is "   \
        "done")                                                                                              \
    X(fit_misaligned_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of misaligned growth",                             \
        "R^2 of the fit of fit_misaligned_k to the norms")                                                   \
    X(fit_misaligned_aic, RUN, NORMS, MAGNITUDE, "1", "AIC of misaligned growth",                            \
        "AIC of the fit of fit_misaligned_k to the norms; of the three recursions, the lowest is the best")  \
    X(fit_adam_like_a, RUN, NORMS, MAGNITUDE, "1", "a of Adam-like growth",                                  \
        "a of the recursion n'^2 = (1 - eta lambda)^2 n^2 + a eta^2, fitted to |theta_t|; eta and lambda "   \
        "as in fit_aligned_k")                                                                               \
    X(fit_adam_like_norm, STEP, NORMS, MAGNITUDE, "1", "parameter norm of Adam-like growth",                 \
        "norm that the recursion of fit_adam_like_a gives, at the measured steps; known once the run is "    \
        "done")                                                                                              \
    X(fit_adam_like_r2, RUN, NORMS, R_SQUARED, "1", "R^2 of Adam-like growth",                               \
        "R^2 of the fit of fit_adam_like_a to the norms")                                                    \
    X(fit_adam_like_aic, RUN, NORMS, MAGNITUDE, "1", "AIC of Adam-like growth",                              \
        "AIC of the fit of fit_adam_like_a to the norms; of the three recursions, the lowest is the best")   \
    X(homogeneity, SCALE, HOMOGENEITY, FRESH, "1", "homogeneity",                                            \
        "cosine of the final states of a fresh model with every parameter times scale and with every "       \
        "parameter times 1000; the model has the run's architecture and seed, but ten words and ten "        \
        "positions")                                                                                         \
    X(homogeneity_degree, RUN, HOMOGENEITY, FRESH, "1", "degree of homogeneity of the final states",         \
        "slope of log |f(scale theta)| over log scale, where f are the final states of the fresh model of "  \
        "homogeneity")                                                                                       \
    X(homogeneity_degree_r2, RUN, HOMOGENEITY, FRESH, "1",                                                   \
        "R^2 of the degree of homogeneity of the final states",                                              \
        "R^2 of the straight line whose slope is homogeneity_degree")                                        \
    X(output_homogeneity_degree, RUN, HOMOGENEITY, FRESH, "1", "degree of homogeneity of the logits",        \
        "slope of log |f(scale theta)| over log scale, where f are the logits of the fresh model of "        \
        "homogeneity")                                                                                       \
    X(output_homogeneity_degree_r2, RUN, HOMOGENEITY, FRESH, "1",                                            \
        "R^2 of the degree of homogeneity of the logits",                                                    \
        "R^2 of the straight line whose slope is output_homogeneity_degree")                                 \
    X(mean_gradient_norm, TENSOR, GRADIENTS, MAGNITUDE, "1", "norm of the mean gradient of a tensor",        \
        "norm, at theta_t, of the loss gradient averaged over the batches of the steps t + 1 to t + "        \
        "gradient_batches, by kind of tensor of each layer")                                                 \
    X(batch_gradient_norm, TENSOR, GRADIENTS, MAGNITUDE, "1", "mean norm of a tensor's batch gradients",     \
        "mean over the batches of mean_gradient_norm of the norm of each one's own gradient")                \
    X(gradient_depth_slope, KIND, GRADIENTS, MAGNITUDE, "1", "slope of the gradient over depth",             \
        "slope of ln mean_gradient_norm over layer, per layer from the input on: above 0, gradients fall "   \
        "towards the input; NaN with fewer than 4 layers or where a norm is 0")                              \
    X(gradient_depth_slope_error, KIND, GRADIENTS, MAGNITUDE, "1",                                           \
        "standard error of the slope of the gradient over depth",                                            \
        "standard error of gradient_depth_slope, from the residuals of its fit")                             \
    X(gradient_depth_slope_theory, KIND, GRADIENTS, MAGNITUDE, "1",                                          \
        "slope of the gradient over depth in theory",                                                        \
        "gradient_depth_slope of w2 at step 0 after Xiong et al. 2020: ln(3/2)/2 with norm_placement post, " \
        "0 with pre; NaN elsewhere, and outside their setting (init xavier, zero_query_key, layernorm, "     \
        "relu, not gated, feedforward = width, init_scale and residual_scale 1)")                            \
    X(hessian_ritz, LANCZOS, HESSIAN, MAGNITUDE, "1", "Ritz values of the Hessian",                          \
        "Hessian of the loss, averaged over hessian.batches batches from that of step t + 1 on, over all "   \
        "parameters: Ritz values of hessian.steps Lanczos steps from each probe; they are the nodes of a "   \
        "quadrature of its spectral density")                                                                \
    X(hessian_weight, LANCZOS, HESSIAN, SHARE, "1", "weights of the Ritz values",                            \
        "weight of each hessian_ritz in the quadrature; the weights of a probe sum to 1")                    \
    X(hessian_largest, STEP, HESSIAN, MAGNITUDE, "1", "largest eigenvalue of the Hessian",                   \
        "largest hessian_ritz of all probes")                                                                \
    X(hessian_smallest, STEP, HESSIAN, MAGNITUDE, "1", "smallest eigenvalue of the Hessian",                 \
        "smallest hessian_ritz of all probes")                                                               \
    X(hessian_trace, STEP, HESSIAN, MAGNITUDE, "1", "trace of the Hessian",                                  \
        "mean over the probes z of z.Hz, with every element of z 1 or -1")                                   \
    X(hessian_trace_error, STEP, HESSIAN, MAGNITUDE, "1", "standard error of the Hessian's trace",           \
        "standard error of hessian_trace over the probes, which depend on the seed alone: errors of runs "   \
        "of one seed, and at all their steps, go together, so that their differences are more precise")      \
    X(hessian_bound, STEP, HESSIAN, MAGNITUDE, "1", "error bound of the Hessian's spectrum",                 \
        "Wasserstein distance within which the quadrature, averaged over the probes, is of the spectral "    \
        "density with probability 0.95 (Chen, Trogdon, Ubaru 2021, for probes uniform on the sphere; these " \
        "have elements 1 or -1)")                                                                            \
    X(hessian_preconditioned, STEP, HESSIAN, MAGNITUDE, "1",                                                 \
        "largest eigenvalue of the preconditioned Hessian",                                                  \
        "largest Ritz value of P^-1 H, with P of adam and adamw, (1 - beta1^t) (sqrt(v_t / (1 - beta2^t)) "  \
        "+ epsilon), over the parameters that have had a gradient; sgd: of H; NaN for other optimisers")     \
    X(hessian_stability, STEP, HESSIAN, RATIO, "1",                                                          \
        "largest eigenvalue over its bound at the edge of stability",                                        \
        "hessian_preconditioned times the learning rate of step t + 1 (at the last step, of that one), "     \
        "over (2 + 2 beta1) / (1 - beta1) for adam and adamw, over 2 + 2 momentum for sgd: 1 at the edge "   \
        "of stability; weight decay, also that of adam, and gradient_clip are left out")                     \
    X(layer_hessian_ritz, LAYER_LANCZOS, HESSIAN_LAYERS, MAGNITUDE, "1",                                     \
        "Ritz values of a layer's block of the Hessian",                                                     \
        "as hessian_ritz, of the block on the diagonal that belongs to the tensors of one layer")            \
    X(layer_hessian_weight, LAYER_LANCZOS, HESSIAN_LAYERS, SHARE, "1",                                       \
        "weights of the Ritz values of a layer's block", "weight of each layer_hessian_ritz")                \
    X(layer_hessian_largest, LAYER, HESSIAN_LAYERS, MAGNITUDE, "1",                                          \
        "largest eigenvalue of a layer's block of the Hessian", "largest layer_hessian_ritz of all probes")  \
    X(layer_hessian_smallest, LAYER, HESSIAN_LAYERS, MAGNITUDE, "1",                                         \
        "smallest eigenvalue of a layer's block of the Hessian",                                             \
        "smallest layer_hessian_ritz of all probes")                                                         \
    X(layer_hessian_trace, LAYER, HESSIAN_LAYERS, MAGNITUDE, "1", "trace of a layer's block of the Hessian", \
        "as hessian_trace, of the block of one layer")                                                       \
    X(layer_hessian_trace_error, LAYER, HESSIAN_LAYERS, MAGNITUDE, "1",                                      \
        "standard error of the trace of a layer's block",                                                    \
        "standard error of layer_hessian_trace over the probes")                                             \
    X(layer_hessian_bound, LAYER, HESSIAN_LAYERS, MAGNITUDE, "1",                                            \
        "error bound of the spectrum of a layer's block", "as hessian_bound, of the block of one layer")     \
    X(residual_norm, DEPTH, RESIDUAL, MAGNITUDE, "1", "norm of the residual stream",                         \
        "mean over the tokens of the batch of step t + 1, without the first of each sequence, of |x_l|, "    \
        "where x_l is the residual stream after l blocks")                                                   \
    X(residual_cosine, DEPTH, RESIDUAL, SHARE, "1",                                                          \
        "cosine of the residual stream before and after a block",                                            \
        "mean over the tokens of residual_norm of cos(x_(l-1), x_l); NaN at depth 0")                        \
    X(residual_growth, STACK, RESIDUAL, MAGNITUDE, "1", "growth of the residual stream per block",           \
        "slope over depth of the mean over the tokens of residual_norm of ln|x_l|; exp of it is the factor " \
        "per block; NaN with fewer than 3 layers")                                                           \
    X(residual_growth_error, STACK, RESIDUAL, MAGNITUDE, "1",                                                \
        "standard error of the growth of the residual stream",                                               \
        "standard error of residual_growth, from the residuals of its fit")                                  \
    X(gradient_growth, STACK, RESIDUAL, MAGNITUDE, "1",                                                      \
        "growth of the gradient per block, towards the input",                                               \
        "ln(|dLoss/dx_0| / |dLoss/dx_L|) / L on the batch of step t + 1, where x_l is the residual stream "  \
        "after l of L blocks")                                                                               \
    X(angle_exponent, STACK, RESIDUAL, MAGNITUDE, "1", "angle exponent",                                     \
        "growth per block of 1 - p/q, where q and p are the mean square of a token and the mean product of " \
        "two, for tokens that hardly differ: the limit of ln[(1 - p_L/q_L) / (1 - p_0/q_0)] / L for a "      \
        "sequence of one random vector as large as the embedded tokens, perturbed for each token; below 0, " \
        "tokens become alike (Cowsik et al. 2024); NaN with context 1 or if they become equal")              \
    X(gradient_exponent, STACK, RESIDUAL, MAGNITUDE, "1", "gradient exponent",                               \
        "ln(|d(x_L.R)/dx_0|^2 / |R|^2) / L for a random R on the batch of step t + 1: twice the growth of "  \
        "gradients per block, towards the input (Cowsik et al. 2024)")                                       \
    X(lyapunov, EXPONENT, LYAPUNOV, MAGNITUDE, "1", "Lyapunov exponent of the residual stream",              \
        "mean over the blocks of ln R_ii, where the QR decomposition of each block renews orthonormal "      \
        "tangents of the whole state of one sequence, the first of the batch of step t + 1; before, "        \
        "lyapunov_sweeps turn them towards the directions that grow most")                                   \
    X(lyapunov_angular, EXPONENT, LYAPUNOV, MAGNITUDE, "1",                                                  \
        "Lyapunov exponent of the directions of the tokens",                                                 \
        "lyapunov of x/|x| in place of x, for each token: each token's part of a tangent is orthogonal to "  \
        "the token and divided by its norm; NaN if a token's state is 0")                                    \
    X(rotation, TENSOR, EQUILIBRIUM, MAGNITUDE, "1", "rotation of a tensor in a step (radians)",             \
        "angle between a tensor of theta_t and of theta_(t+1); NaN where one of them is 0")                  \
    X(rotation_equilibrium, TENSOR, EQUILIBRIUM, MAGNITUDE, "1",                                             \
        "rotation of a tensor in equilibrium (radians)",                                                     \
        "rotation where decay balances updates if gradients are white noise (Kosson et al. 2024), at the "   \
        "tensor's own learning rate and decay of step t + 1 (at the last step, of that one), d their "       \
        "product: with adamw, lion and normalized_sgd sqrt((2 d - d^2) / (1 + 2 (1 - d) S)), S as in "       \
        "update_alignment_null; with sgd sqrt(2 d / (1 + momentum)); NaN with others, for tensors without "  \
        "decay, with decay_rule cautious, for matrices under a norm_rule, bfloat16 weights, where d is 2 "   \
        "or more (with sgd 2 (1 + momentum))")                                                               \
    X(tensor_rms, TENSOR, EQUILIBRIUM, MAGNITUDE, "1", "root mean square of a tensor",                       \
        "root mean square of the elements of one kind of tensor of one layer")                               \
    X(rms_equilibrium, TENSOR, EQUILIBRIUM, MAGNITUDE, "1", "root mean square of a tensor in equilibrium",   \
        "tensor_rms where decay balances updates: learning_rate rms(u) / rotation_equilibrium, with rms(u) " \
        "= sqrt((1 - beta1) / (1 + beta1)) with adamw, 1 with lion, 1 / sqrt(elements) with "                \
        "normalized_sgd; NaN with sgd, whose u is as large as the gradients are")                            \
    X(forces, FORCE, FORCES, MAGNITUDE, "1", "force on the square of the parameter norm",                    \
        "what the step from theta_t adds to |theta|^2, over |theta_t|^2, in four parts that sum to its "     \
        "change: decay -(2 d - d^2), d = learning_rate weight_decay, with decay_rule cautious -2 theta.D + " \
        "|D|^2, D the decay of the weights that decay; injection learning_rate^2 |u_t|^2, u_t as in "        \
        "update_norm; chance 2 (1 - d) S learning_rate^2 |u_t|^2, S and what sgd's decay takes off as in "   \
        "update_alignment_null, what momentum does if gradients are white noise; pull -2 learning_rate "     \
        "(theta_t - D).u_t less chance. Where chance is not known (muon's matrices, cautious decay with "    \
        "momentum) it is NaN, and pull holds both. NaN with adam and decay, matrices under a norm_rule, "    \
        "bfloat16 weights. With this group, the sums of update_norm are by tensor, which changes its last "  \
        "digits")                                                                                            \
    X(tensor_forces, TENSOR_FORCE, FORCES, MAGNITUDE, "1", "force on the square of a tensor's norm",         \
        "as forces, of one kind of tensor of one layer, over its own square; NaN where that is 0")           \
    X(force_sum, TENSOR_FORCE, FORCES, MAGNITUDE, "1", "sum of forces over steps",                           \
        "what each of forces has added to |theta|^2 of one kind of tensor of one layer, summed over all "    \
        "steps from s to t, with s the measured step before t; the four sum to the change of tensor_norm^2") \
    X(force_error, STEP, FORCES, MAGNITUDE, "1", "force error",                                              \
        "error of force_sum, summed over tensors and forces, against |theta_t|^2 - |theta_s|^2, s the "      \
        "measured step before t, relative to the larger square: a check of the arithmetic; with decay "      \
        "factor also what the rounded factor loses")                                                         \
    X(critical_sharpness, STEP, SHARPNESS, MAGNITUDE, "1", "critical sharpness",                             \
        "2 / c, where c is the rate at which a step c u_t without decay begins to raise the loss of "        \
        "the batch of step t + 1 above its value at theta_t (Kalra et al. 2026): on a quadratic loss "       \
        "u.Hu / u.g, at most the largest eigenvalue of P^-1 H if u = P^-1 g; by doubling and "               \
        "bisection in at most 9 forward passes, from the last value, or from the rate of the step; to"       \
        " 2 percent, less exactly if it lies far from there; NaN if all rates within a factor of 2^20"       \
        " raise the loss or none does, and at the last step")                                                \
    X(top_singular, TENSOR, SPECTRA, MAGNITUDE, "1", "largest singular value of a tensor",                   \
        "largest singular value of a matrix of a layer, from the eigenvalues of its Gram matrix in double, " \
        "to some 1e-15; NaN for vectors")                                                                    \
    X(stable_rank, TENSOR, SPECTRA, MAGNITUDE, "1", "stable rank of a tensor",                               \
        "tensor_norm^2 over top_singular^2, from 1 to the number of singular values; NaN where "             \
        "top_singular is 0, for vectors")                                                                    \
    X(top_over_noise, TENSOR, SPECTRA, RATIO, "1", "largest singular value over that of noise",              \
        "top_singular over rms (sqrt(rows) + sqrt(columns)), the limit of that of a large matrix of white "  \
        "noise of the same rms: 1 for noise; NaN where stable_rank is")                                      \
    X(spectral_entropy, TENSOR, SPECTRA, MAGNITUDE, "1", "effective number of singular values",              \
        "exp of the entropy of the squares of the singular values over their sum: n if n are equal and the " \
        "others 0; NaN where stable_rank is")                                                                \
    X(dead, TENSOR, SPECTRA, SHARE, "1", "share of tensors that are dead",                                   \
        "1 if the root mean square of a matrix is below a quarter of its rms_equilibrium, 0 if not: also "   \
        "before it gets there; NaN where that is NaN, for vectors")                                          \
    X(qk_rank, HEAD, SPECTRA, MAGNITUDE, "1", "rank of a head's scores",                                     \
        "number of singular values of W_Q^T W_K above 1 % of the largest, of the self-attention of a head "  \
        "(with kv_heads, of the keys that it shares): the matrices alone, without biases, gains of qk_norm " \
        "and rotations by positions; 0 if the product is 0")                                                 \
    X(ov_rank, HEAD, SPECTRA, MAGNITUDE, "1", "rank of what a head writes", "as qk_rank, of W_O W_V")        \
    X(qk_imbalance, HEAD, SPECTRA, SHARE, "1", "imbalance of a head's queries and keys",                     \
        "|A - B| / (trace A + trace B), where A = W_Q W_Q^T and B = W_K W_K^T of the head: 0 if both are "   \
        "equal, which a gradient flow keeps, at most 1; NaN if both are 0")                                  \
    X(ov_imbalance, HEAD, SPECTRA, SHARE, "1", "imbalance of a head's values and output",                    \
        "as qk_imbalance, with A = W_V W_V^T and B = W_O^T W_O")                                             \
    X(singular_values, TENSOR_SINGULAR, SPECTRA_VALUES, MAGNITUDE, "1", "singular values of a tensor",       \
        "all singular values of a matrix of a layer, descending, then NaN; those below 1e-8 of the largest " \
        "are lost, and stand as about so much or 0")                                                         \
    X(unigram_loss, RUN, ALWAYS, RECORD, "1", "unigram level of the validation text (nats)",                 \
        "valid_loss of a model that predicts each word as often as it is a target in training, whatever "    \
        "the input: a run that ends there has learned nothing else. Each sequence weighs the same, in "      \
        "training and validation, as in the losses; a word that is never a target in training counts as "    \
        "one, a target of a sequence of mean length; of a token file with more than 16777216 tokens, only "  \
        "evenly spaced windows are counted, which have so many in total")                                    \
    X(final_train_loss, RUN, ALWAYS, MAGNITUDE, "1", "final training loss (nats)",                           \
        "train_loss at the last step")                                                                       \
    X(final_valid_loss, RUN, ALWAYS, MAGNITUDE, "1", "final validation loss (nats)",                         \
        "valid_loss at the last step")

enum metric {
#define X(name, ...) METRIC_##name,
    METRICS(X)
#undef X
        METRIC_COUNT,
};

struct metric_row {
    const char *name;
    enum metric_shape shape;
    enum metric_group group;
    enum nature nature;
    const char *unit, *long_name, *help;
};

extern const struct metric_row metric_table[METRIC_COUNT];
extern const char *const metric_group_names[GROUP_COUNT];
extern const bool metric_group_initial[GROUP_COUNT]; /* is it measured by default? */

/* The metric of all stacks together, which has the same values in networks of one stack, for one of shape
 * STACK_OF_TWO; any other one itself. */
enum metric metric_of_all_stacks(enum metric metric);

/* Is the metric measured once per run, not over its steps? */
bool metric_is_of_run(enum metric metric);

/*
 * The layout of metrics in rows of doubles: one row for each step, and one for the whole run. Both are in the
 * order of the table, each metric row-major in the order of its dimensions. Along steps the length is 1,
 * along stacks at least 1; a dimension that no measured metric needs has length 0. Where the stacks of a run
 * differ in their numbers of blocks, the shorter one has NaN beyond its own.
 */
struct metric_form {
    int64_t along[DIMENSION_COUNT];
    int64_t first_stack; /* of the run, its place on a dimension STACK that is longer than the run's own */
    size_t row_size, run_size; /* doubles in the row of a step, of the run */
    size_t offset[METRIC_COUNT]; /* in the row of a step or of the run, whichever has the metric */
};

/* In place of a step: the row of the whole run. */
enum { STEP_OF_RUN = -1 };

/* Doubles in the row of a step, or of STEP_OF_RUN. */
size_t metric_row_size(const struct metric_form *form, int64_t step);

/* The layout for a run that is measured so. */
struct metric_form metric_form(const struct run *run, const struct measure *measure);

/*
 * Makes each dimension at least as long as such a run needs; call metric_form_place afterwards. Runs with the
 * same values of the parameters marked as `cost` need the same lengths.
 */
void metric_lengthen(struct metric_form *form, const struct run *run, const struct measure *measure);

/* Sets offsets and sizes from the lengths. */
void metric_form_place(struct metric_form *form);

/* Does a measured metric have this dimension? True for steps, stacks, layers and tensors in any case. */
bool metric_dimension_needed(enum metric_dimension dimension, const bool group[GROUP_COUNT]);

/*
 * What a file of this form has: a dimension, if a measured metric needs it; a metric, if it is measured.
 * STACK is a dimension of files only if it is longer than 1, so that those of networks of one stack do
 * without it.
 */
bool metric_dimension_stored(
    enum metric_dimension dimension, const struct metric_form *form, const bool group[GROUP_COUNT]);
bool metric_stored(enum metric metric, const struct metric_form *form, const bool group[GROUP_COUNT]);

/* The dimensions of a metric in a file of this form. Returns their number. */
int metric_dimensions(
    enum metric metric, const struct metric_form *form, enum metric_dimension dimension[METRIC_RANK_MOST]);

/* The number of values of one metric: per run, or per step. */
size_t metric_values(enum metric metric, const struct metric_form *form);

enum { VALIDATE_END = 0 }; /* measure.validate_every: only at the last step */
/* measure.hessian_every, spectra_every: only at step 0 and the last, at 0; each measured step up to width
 * SPECTRA_WIDTH, beyond at step 0 and the last. */
enum { EVERY_ENDS = 0, EVERY_START = -1, EVERY_AUTO = -2 };
enum { SPECTRA_WIDTH = 256 };
#define VALIDATE_ALL INT64_MAX /* measure.validate_tokens: the whole text */
#define MEASURE_EVERY_DEFAULT 100
#define VALIDATE_TOKENS_DEFAULT 16384
#define MEASURE_NUMBER_MOST 1000000000000 /* the same as of the parameter `steps` */

/* When, what and how a run measures: `measure` and MEASURE_OPTIONS. Always at step 0 and the last step. */
struct measure {
    int64_t every; /* > 0; or 0 to measure at `steps` */
    int64_t step_count;
    int64_t *steps; /* ascending, distinct, >= 0; owned */
    bool group[GROUP_COUNT]; /* GROUP_ALWAYS is true */
    int64_t validate_every; /* VALIDATE_END or > 0 */
    int64_t validate_tokens; /* >= 1, or VALIDATE_ALL */
    int64_t gradient_batches; /* >= 1, over which GROUP_GRADIENTS averages */
    int64_t hessian_probes, hessian_steps, hessian_batches; /* >= 1 */
    int64_t hessian_every; /* EVERY_START, EVERY_ENDS or > 0 */
    int64_t spectra_every; /* the same or EVERY_AUTO */
    int64_t lyapunov_exponents, lyapunov_sweeps; /* of GROUP_LYAPUNOV: >= 1, >= 0 */
};

/*
 * The numbers with which one measures, and their keys in the sweep file: X(field, key, member, GROUP,
 * initial, least, most, words...). `key` is a key of the sweep file that takes a number or, with `member`, a
 * mapping whose rows are neighbours here; words stand for numbers. Without its group a number has no effect:
 * it enters no digest, and its key is refused.
 */
#define MEASURE_OPTIONS(X)                                                                                   \
    X(validate_every, validate, "every", ALWAYS, VALIDATE_END, 1, MEASURE_NUMBER_MOST,                       \
        {"end", VALIDATE_END})                                                                               \
    X(validate_tokens, validate, "tokens", ALWAYS, VALIDATE_TOKENS_DEFAULT, 1, MEASURE_NUMBER_MOST,          \
        {"all", VALIDATE_ALL})                                                                               \
    X(gradient_batches, gradient_batches, NULL, GRADIENTS, 10, 1, 100000, {NULL, 0})                         \
    X(hessian_probes, hessian, "probes", HESSIAN, 10, 1, 10000, {NULL, 0})                                   \
    X(hessian_steps, hessian, "steps", HESSIAN, 80, 1, 10000, {NULL, 0})                                     \
    X(hessian_batches, hessian, "batches", HESSIAN, 1, 1, 100000, {NULL, 0})                                 \
    X(hessian_every, hessian, "every", HESSIAN, EVERY_ENDS, 1, MEASURE_NUMBER_MOST, {"ends", EVERY_ENDS},    \
        {"start", EVERY_START})                                                                              \
    X(spectra_every, spectra, "every", SPECTRA, EVERY_AUTO, 1, MEASURE_NUMBER_MOST, {"ends", EVERY_ENDS},    \
        {"start", EVERY_START}, {"auto", EVERY_AUTO})                                                        \
    X(lyapunov_exponents, lyapunov_exponents, NULL, LYAPUNOV, 8, 1, 10000, {NULL, 0})                        \
    X(lyapunov_sweeps, lyapunov_sweeps, NULL, LYAPUNOV, 10, 0, 10000, {NULL, 0})

enum measure_option {
#define X(field, ...) MEASURE_OPTION_##field,
    MEASURE_OPTIONS(X)
#undef X
        MEASURE_OPTION_COUNT,
};

enum { MEASURE_WORDS_MOST = 3 };

struct measure_option_row {
    const char *key, *member; /* member: NULL if the key takes the number itself */
    size_t offset; /* of the field in struct measure */
    enum metric_group group;
    int64_t initial, least, most;
    struct measure_word {
        const char *text; /* NULL behind the last one */
        int64_t value;
    } word[MEASURE_WORDS_MOST + 1];
};

extern const struct measure_option_row measure_option_table[MEASURE_OPTION_COUNT];

void measure_set(struct measure *measure, enum measure_option option, int64_t value);

/* The first option of a key of the sweep file, or MEASURE_OPTION_COUNT; and the one behind its last. */
enum measure_option measure_option_first(const char *key);
enum measure_option measure_option_end(enum measure_option first);

/* The value of a key as a sweep file would have it: "10", "{every: end, tokens: 16384}". The caller frees it;
 * NULL: no memory. */
char *measure_option_text(const struct measure *measure, enum measure_option first);

void measure_init(struct measure *measure); /* the defaults; every = 100 */
void measure_release(struct measure *measure);

/* Does a run that ends at last_step measure, or validate, at this step? */
bool measure_at(const struct measure *measure, int64_t step, int64_t last_step);
bool validate_at(const struct measure *measure, int64_t step, int64_t last_step);

/* At this step, which it measures, does such a run measure the Hessian? Always at step 0, if at all. */
bool hessian_at(const struct measure *measure, int64_t step, int64_t last_step);

/* The same of the spectra of this run's matrices. */
bool spectra_at(const struct measure *measure, const struct run *run, int64_t step, int64_t last_step);

/*
 * The rows of a run: the steps that are measured or validated, ascending. Returns their number and fills
 * `steps` unless it is NULL; counting alone never takes longer than one pass over the listed steps. A row of
 * a step that is only validated holds only valid_loss.
 */
int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps);

/* The number of steps at which a run measures. */
int64_t measure_count(const struct measure *measure, int64_t last_step);

/* The number of steps at which a run measures the Hessian, spectra. */
int64_t measure_hessians(const struct measure *measure, int64_t last_step);
int64_t measure_spectra(const struct measure *measure, const struct run *run, int64_t last_step);

/* The number of steps at which a run validates. */
int64_t measure_validations(const struct measure *measure, int64_t last_step);

/* The index of the first step not below `wanted` in `step` [count], ascending; `count` if there is none. */
int64_t step_place(const int64_t *step, int64_t count, int64_t wanted);

/* Compares two steps (int64_t) for qsort and bsearch. */
int step_compare(const void *a, const void *b);

void measure_digest(const struct measure *measure, struct digest *digest);

/*
 * Floating-point operations of one training step's matrix products, with B T tokens on either side: for each,
 * 6 for each weight of a matrix that it passes, and 12 C for each position that it sees in each block; under
 * a causal mask, half of the positions count.
 */
double train_step_arithmetic(const struct run *run, int64_t vocabulary);

/*
 * The cost of one training step and of a whole run, in floating-point operations of matrix products that take
 * as long. The schedule (longest first) and `plan` use this model.
 */
double train_step_cost(const struct run *run, int64_t vocabulary);
double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure);

/* Products with the Hessian that one measurement takes at most, each as long as three gradients. */
double train_hessian_products(const struct run *run, const struct measure *measure);

/*
 * One measurement of Lyapunov exponents: forward passes of one sequence, whose draw counts as a pass through
 * a block; and elements of tangents, each for each other tangent that it is made orthogonal to. So the time
 * has a part that grows with the number of exponents and one that grows with its square.
 */
struct lyapunov_work {
    double passes, products;
};

struct lyapunov_work train_lyapunov_work(const struct run *run, const struct measure *measure);

/* How a run reads its corpus: what corpus, objective, sequences and context say together. */
struct reading run_reading(const struct run *run, const struct corpus *corpus);

#endif
