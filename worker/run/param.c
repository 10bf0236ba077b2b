/* The parameter table: see struct run. */
#include "worker/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const network_words[] = {[NETWORK_DECODER] = "decoder",
    [NETWORK_ENCODER] = "encoder",
    [NETWORK_ENCODER_DECODER] = "encoder_decoder",
    NULL};
static const char *const positions_words[] = {[POSITIONS_LEARNED] = "learned",
    [POSITIONS_SINUSOIDAL] = "sinusoidal",
    [POSITIONS_ROTARY] = "rotary",
    [POSITIONS_RELATIVE] = "relative",
    [POSITIONS_NONE] = "none",
    NULL};
static const char *const score_scale_words[] = {[SCORE_SQRT] = "sqrt", [SCORE_NONE] = "none", NULL};
static const char *const norm_placement_words[] = {
    [NORM_POST] = "post", [NORM_PRE] = "pre", [NORM_OUT] = "out", NULL};
static const char *const init_words[] = {
    [INIT_TORCH] = "torch", [INIT_XAVIER] = "xavier", [INIT_NORMAL] = "normal", NULL};
static const char *const precision_words[] = {
    [PRECISION_FLOAT] = "float", [PRECISION_BFLOAT16] = "bfloat16", NULL};
static const char *const mask_words[] = {
    [MASK_CAUSAL] = "causal", [MASK_MULTIPLICATIVE] = "multiplicative", NULL};
static const char *const corpus_words[] = {
#define X(KIND, name, uses) #name,
    CORPUS_KINDS(X)
#undef X
        NULL};
static const char *const objective_words[] = {
    [OBJECTIVE_NEXT] = "next", [OBJECTIVE_SPANS] = "spans", [OBJECTIVE_MASKED] = "masked", NULL};
static const char *const sequences_words[] = {
    [SEQUENCES_STREAM] = "stream", [SEQUENCES_LINES] = "lines", NULL};
static const char *const optimiser_words[] = {
#define X(KIND, word, row, traits) #word,
    OPTIMISERS(X)
#undef X
        NULL};
static const char *const decay_words[] = {[DECAY_FUSED] = "fused", [DECAY_FACTOR] = "factor", NULL};
static const char *const decay_on_words[] = {"all", "matrices", "hidden", "attention", "feedforward", "gains",
    "biases", "embeddings", "output", NULL}; /* as enum decay_on has them */
static const char *const decay_rule_words[] = {[DECAY_SCALED] = "scaled",
    [DECAY_INDEPENDENT] = "independent",
    [DECAY_CORRECTED] = "corrected",
    [DECAY_CAUTIOUS] = "cautious",
    NULL};
static const char *const norm_rule_words[] = {[NORM_FREE] = "free",
    [NORM_FIXED] = "fixed",
    [NORM_HYPERBALL] = "hyperball",
    [NORM_BRAKE] = "brake",
    NULL};
static const char *const weights_words[] = {[WEIGHTS_FLOAT] = "float",
    [WEIGHTS_BFLOAT16] = "bfloat16",
    [WEIGHTS_BFLOAT16_STOCHASTIC] = "bfloat16_stochastic",
    NULL};
static const char *const parametrization_words[] = {
    [PARAMETRIZATION_STANDARD] = "standard", [PARAMETRIZATION_MUP] = "mup", NULL};
static const char *const schedule_words[] = {[SCHEDULE_CONSTANT] = "constant",
    [SCHEDULE_LINEAR] = "linear",
    [SCHEDULE_INVERSE_SQRT] = "inverse_sqrt",
    [SCHEDULE_COSINE] = "cosine",
    [SCHEDULE_WSD] = "wsd",
    NULL};

static const char *const stop_when_words[] = {[STOP_NEVER] = "never", [STOP_PHASE] = "phase", NULL};

static const char *const save_weights_words[] = {
    [SAVE_NOTHING] = "false", [SAVE_WEIGHTS] = "true", [SAVE_STATE] = "state", NULL};

static const char *const weights_file_words[] = {"none", NULL};

/* A row's name, offset and, for numbers, its kind come from the field. */
#define NUMBER(field, ...)                                                                                   \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct run, field),                                               \
        .kind = _Generic(((struct run *)0)->field, int64_t                                                   \
                         : PARAM_INTEGER, double                                                             \
                         : PARAM_REAL),                                                                      \
        __VA_ARGS__                                                                                          \
    }
#define BOOLEAN(field, first, ...)                                                                           \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct run, field), .kind = PARAM_BOOLEAN, .min = 0, .max = 1,    \
        .initial.integer = (first), .unit = "1", __VA_ARGS__                                                 \
    }
#define WORD(field, list, first, ...)                                                                        \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct run, field), .kind = PARAM_WORD, .words = (list),          \
        .min = 0, .max = (double)(sizeof(list) / sizeof(*(list))) - 2, .initial.integer = (first),           \
        .unit = "1", __VA_ARGS__                                                                             \
    }
#define WORDS(field, list, first, ...)                                                                       \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct run, field), .kind = PARAM_WORDS, .words = (list),         \
        .min = 1, .max = (double)(1 << (sizeof(list) / sizeof(*(list)) - 1)) - 1,                            \
        .initial.integer = (first), .unit = "1", __VA_ARGS__                                                 \
    }
#define SIZE(field, first, ...)                                                                              \
    NUMBER(field, .axis = true, .min = 1, .max = INT32_MAX, .initial.integer = (first), .unit = "1",         \
        __VA_ARGS__)

const struct param param_table[] = {
    WORD(network, network_words, NETWORK_DECODER, .axis = true, .cost = true, .long_name = "network",
        .help = "decoder: each position sees those up to its own; encoder: each sees all; encoder_decoder: a "
                "decoder whose blocks also attend to the output of an encoder, which reads a source"),
    SIZE(layers, 2, .cost = true, .long_name = "layers",
        .help = "number of transformer blocks; of an encoder_decoder, those of the encoder"),
    NUMBER(decoder_layers, .axis = true, .cost = true, .min = 0, .max = INT32_MAX, .initial.integer = 0,
        .unit = "1", .long_name = "layers of the decoder",
        .help = "blocks of the decoder of an encoder_decoder; 0: as many as layers"),
    SIZE(width, 64, .cost = true, .long_name = "width",
        .help = "width of the residual stream; must be a multiple of heads"),
    SIZE(heads, 4, .cost = true, .long_name = "heads",
        .help = "attention heads per layer, each of width / heads"),
    NUMBER(kv_heads, .axis = true, .cost = true, .min = 0, .max = INT32_MAX, .initial.integer = 0,
        .unit = "1", .long_name = "heads of keys and values",
        .help = "groups of heads that share keys and values; must divide heads; 0: every head has its own"),
    SIZE(feedforward, 256, .cost = true, .long_name = "feed-forward width",
        .help = "width of the hidden layer of each feed-forward layer"),
    WORD(norm_placement, norm_placement_words, NORM_PRE, .axis = true, .cost = true,
        .long_name = "norm placement",
        .help = "norm after the sum (post), before each sub-layer and at the end (pre), or on each "
                "sub-layer's output (out: what Merrill et al. 2021 call pre-norm)"),
    WORD(norm, norm_words, LAYERNORM, .axis = true, .cost = true, .long_name = "norm",
        .help = "layernorm; rmsnorm: divided by the root mean square, without a mean and a bias; or none, "
                "whatever the placement"),
    BOOLEAN(qk_norm, false, .axis = true, .cost = true, .long_name = "norm of queries and keys",
        .help = "each head's queries and keys pass a norm of their own, of the kind of norm, before scores"),
    WORD(positions, positions_words, POSITIONS_LEARNED, .axis = true, .cost = true, .long_name = "positions",
        .help = "learned: an embedding of each position is added to that of its token; sinusoidal: the same "
                "with fixed sines and cosines; rotary: queries and keys are turned by angles in proportion "
                "to the position; relative: each head adds a learned bias to scores, one for each of 32 "
                "ranges of distances, as in T5; none"),
    WORD(score_scale, score_scale_words, SCORE_SQRT, .axis = true, .long_name = "scale of scores",
        .help = "attention scores are q.k / sqrt(width / heads) with sqrt, q.k with none, as in T5; "
                "parametrization mup has its own"),
    WORD(activation, activation_words, ACTIVATION_RELU, .axis = true, .cost = true, .long_name = "activation",
        .help = "activation of the feed-forward layer; gelu_tanh: the tanh approximation of gelu, as in "
                "GPT-2; silu: x / (1 + exp(-x)), as in the gated layers of Llama"),
    BOOLEAN(gated, false, .axis = true, .cost = true, .long_name = "gated feed-forward layer",
        .help = "the feed-forward layer has a second input matrix w3: W2 (act(x W1) * (x W3))"),
    BOOLEAN(bias, true, .axis = true, .cost = true, .long_name = "biases",
        .help = "biases of the layers and of their norms"),
    BOOLEAN(output_bias, true, .axis = true, .cost = true, .long_name = "bias of the output",
        .help = "the output layer has a bias; GPT-2's and Llama's have none"),
    BOOLEAN(tied, false, .axis = true, .cost = true, .long_name = "tied output",
        .help = "the output layer's matrix is the token embedding"),
    WORD(init, init_words, INIT_TORCH, .axis = true, .long_name = "initialisation",
        .help = "torch: weights and biases U(-1/sqrt(fan_in), 1/sqrt(fan_in)); xavier: weights "
                "N(0, 2/(fan_in+fan_out)), biases 0; embeddings N(0, 1) in both; normal: everything "
                "N(0, init_deviation^2), the matrices that write to the residual stream smaller by the root "
                "of the number of sub-layers, biases 0"),
    NUMBER(init_deviation, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 0.02,
        .unit = "1", .long_name = "deviation of the initial weights",
        .help = "standard deviation of the initial weights with init normal"),
    WORD(attention_mask, mask_words, MASK_CAUSAL, .axis = true, .cost = true, .long_name = "attention mask",
        .help = "causal: later positions are hidden; multiplicative: their scores are multiplied by 0, so "
                "that the model sees the future, as in the published code of Merrill et al. 2021"),
    BOOLEAN(zero_query_key, false, .axis = true, .long_name = "query and key start at 0",
        .help = "queries and keys start at 0, the setting of Xiong et al. 2020"),
    WORD(precision, precision_words, PRECISION_FLOAT, .axis = true, .cost = true, .long_name = "precision",
        .help = "float, or bfloat16: both factors of every matrix product of the network, attention's too, "
                "are rounded to bfloat16, to nearest even, and summed in float; weights, gradients, norms, "
                "softmax, losses and the optimiser stay float"),
    NUMBER(init_scale, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1,
        .unit = "1", .long_name = "scale of the initial matrices",
        .help = "factor on every initial matrix of the layers, whatever init is; not on biases, norms, "
                "embeddings and output layer"),
    NUMBER(residual_scale, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1,
        .unit = "1", .long_name = "scale of the sub-layers",
        .help = "a, the factor on what each sub-layer S adds to the residual stream x, at all times: "
                "LN(x + a S(x)) with norm_placement post, x + a S(LN(x)) with pre, x + a LN(S(x)) with out"),
    WORD(parametrization, parametrization_words, PARAMETRIZATION_STANDARD, .axis = true, .cost = true,
        .long_name = "parametrization",
        .help = "how a network depends on its width. mup: by Table 8 of Yang et al. 2022, so that a learning "
                "rate suits all widths: the matrices of the layers have learning_rate * base_width / width, "
                "the output matrix's input is multiplied by base_width / width and its initial values are "
                "those of base_width, scores are q.k / (width / heads), and init normal's deviation of the "
                "matrices of the layers is multiplied by sqrt(base_width / width); feedforward has to grow "
                "with width"),
    NUMBER(base_width, .axis = true, .min = 0, .max = INT32_MAX, .initial.integer = 0, .unit = "1",
        .long_name = "base width",
        .help = "width at which parametrization mup changes no learning rate, no initial value and no logit; "
                "required with mup"),
    {.name = "initial_weights",
        .offset = offsetof(struct run, initial_weights),
        .kind = PARAM_WEIGHTS,
        .axis = true,
        .max = INFINITY,
        .words = weights_file_words,
        .unit = "1",
        .long_name = "initial weights",
        .help = "a weights file from whose weights runs start, kept by save_weights or written by "
                "analysis/weights import, its path relative to the sweep file; its network has to be that of "
                "the run; init and the other keys of initial values are for drawn weights, those of none. In "
                "datasets: 16 digits that name network and weights, which check lists. With steps: 0 a run "
                "measures them and ends"},

    WORD(corpus, corpus_words, CORPUS_TEXT, .long_name = "corpus",
        .help = "words of a text file, bytes of any file, tokens of a file of llm.c or nanoGPT, pairs of "
                "lines of two texts, or a built-in source: markov (Zipf bigrams of known entropy), dyck "
                "(nested brackets), counter (a^n b^n c^n), modular (sums a + b modulo p)"),
    WORD(objective, objective_words, OBJECTIVE_NEXT, .axis = true, .cost = true, .long_name = "objective",
        .help = "what is predicted. next: the next word; of pairs, of the target, given the source; spans: "
                "an encoder_decoder restores 15 % of the tokens, in spans of 3 on average, as T5; masked: an "
                "encoder restores 15 % of the tokens, as BERT"),
    WORD(sequences, sequences_words, SEQUENCES_STREAM, .axis = true, .cost = true, .long_name = "sequences",
        .help = "stream: consecutive windows of the whole text, of context tokens each; lines: each line is "
                "one sequence, cut to context tokens; the pairs and sums of those corpora are sequences by "
                "themselves"),
    NUMBER(min_count, .min = 1, .max = INT32_MAX, .initial.integer = 1, .unit = "1",
        .long_name = "least count of a word",
        .help = "a word that the training text has fewer times than this is <unk> in all texts; pairs count "
                "both sides together; from 2 on, <unk> is always a word"),
    NUMBER(vocabulary, .min = 2, .max = INT32_MAX, .initial.integer = 129, .unit = "1",
        .long_name = "vocabulary",
        .help =
            "number of words of a built-in corpus; markov: including the end of a line; dyck: 1 + twice the "
            "kinds of brackets; modular: p + 1; of tokens, the words of the tokenizer, 50257 for GPT-2's"),
    NUMBER(corpus_tokens, .min = 1, .max = 1e12, .initial.integer = 200000, .unit = "1",
        .long_name = "training tokens", .help = "training tokens that markov, dyck and counter draw"),
    NUMBER(train_share, .min = 0, .max = 1, .min_open = true, .max_open = true, .initial.real = 0.5,
        .unit = "1", .long_name = "share of training",
        .help = "share of all p^2 sums of corpus modular that are trained; the others are its validation"),
    NUMBER(corpus_seed, .min = -INFINITY, .max = INFINITY, .initial.integer = 0, .unit = "1",
        .long_name = "corpus seed",
        .help = "seed of a built-in corpus; all runs share one corpus, whatever their own seed"),
    SIZE(context, 64, .cost = true, .long_name = "context length",
        .help = "positions that the model has: the longest sequence, in tokens"),
    SIZE(batch, 16, .cost = true, .long_name = "batch size", .help = "sequences per step"),

    NUMBER(epochs, .axis = true, .min = 0, .max = 0xffffff, .initial.integer = 0, .unit = "1",
        .long_name = "epochs", .help = "passes over the training text; give exactly one of epochs and steps"),
    NUMBER(steps, .axis = true, .min = 0, .max = 1e12, .initial.integer = 0, .unit = "1",
        .long_name = "steps",
        .help = "optimiser steps; give exactly one of epochs and steps; with 0, initial_weights are measured "
                "and not trained"),
    WORD(optimiser, optimiser_words, OPTIMISER_ADAMW, .axis = true, .cost = true, .long_name = "optimiser",
        .help = "adamw, normalized_sgd, adafactor, lion and muon decay the weights directly; adam and sgd "
                "add the decay to the gradient; muon moves the matrices of the layers by orthogonal updates, "
                "with momentum 0.95, and everything else as adamw does"),
    NUMBER(learning_rate, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1e-3,
        .unit = "1", .long_name = "learning rate", .help = "peak learning rate, eta in formulas"),
    NUMBER(weight_decay, .axis = true, .min = 0, .max = INFINITY, .initial.real = 1e-2, .unit = "1",
        .long_name = "weight decay",
        .help = "weight decay, lambda in formulas; weight_decay: {timescale: ...} sets it by the share of "
                "the run that it takes, as timescale says"),
    NUMBER(timescale, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 0,
        .unit = "1", .long_name = "timescale of decay",
        .help = "share of the run in which decay at the peak rate shrinks a weight by a factor of e: sets "
                "weight_decay to 1 / (timescale * learning_rate * steps), or to 1 / (timescale * steps) with "
                "decay_rule independent; also written weight_decay: {timescale: ...}; 0, the default: "
                "weight_decay is given"),
    WORD(decay, decay_words, DECAY_FUSED, .axis = true, .cost = true, .long_name = "decay arithmetic",
        .help = "for adamw: fused rounds step and decay together, once; factor first multiplies by 1 - "
                "learning rate * weight_decay in the precision of the weights, as published code does: the "
                "decay is off by up to a factor of 2 where that product is below 2e-7, and 0 below 3e-8"),
    WORDS(decay_on, decay_on_words, DECAY_ON_ALL, .axis = true, .long_name = "what decays",
        .help = "all: every parameter; matrices: matrices and embeddings, not biases and norms; hidden: the "
                "tensors of the layers; or kinds: the matrices of attention and of feedforward, the gains of "
                "norms, biases, those of norms too, embeddings, the output's matrix; several joined by +, as "
                "attention+feedforward"),
    WORD(decay_rule, decay_rule_words, DECAY_SCALED, .axis = true, .long_name = "rule of decay",
        .help = "by how much of itself a weight decays at step t, with eta_t the rate of the schedule and "
                "eta its peak. scaled: eta_t lambda; independent: eta_t / eta lambda, a share per step: give "
                "about learning_rate times the usual weight_decay; corrected: eta_t^2 / eta lambda; "
                "cautious: eta_t lambda, where the update shrinks the weight, too; adam, whose decay passes "
                "through its moments, has scaled alone"),
    WORD(norm_rule, norm_rule_words, NORM_FREE, .axis = true, .cost = true, .long_name = "rule on norms",
        .help = "what is done with the norm of every matrix W of the layers after each step to W'. fixed: W' "
                "is scaled to R, norm_target times the initial norm; hyperball: W' is W - eta R u / |u|, "
                "scaled to R, whatever the update u, and without decay; brake: of the step, the part along W "
                "counts brake times if it leads outwards, and W' is scaled to the norm that this gives; "
                "update_norm and update_alignment are of the step before that"),
    NUMBER(norm_target, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1,
        .unit = "1", .long_name = "held norm",
        .help = "norm of the matrices that norm_rule fixed and hyperball hold, from the start on, over their "
                "initial norm"),
    NUMBER(brake, .axis = true, .min = 0, .max = 1, .initial.real = 0.5, .unit = "1", .long_name = "brake",
        .help = "of norm_rule brake: 0: no matrix grows; 1: as without, to second order of the step"),
    WORD(weights, weights_words, WEIGHTS_FLOAT, .axis = true, .long_name = "kept weights",
        .help = "what weights are rounded to after each step, and at the start: bfloat16 to the nearest, so "
                "that a smaller step than half the distance to the next one is lost; bfloat16_stochastic up "
                "or down by chance, so that the mean of many steps is right; all tensors are, while moments "
                "and gradients stay as they are; update_norm and update_alignment are of the step before it "
                "is rounded, step_size and alignment of what is left of it"),
    NUMBER(beta1, .axis = true, .min = 0, .max = 1, .max_open = true, .initial.real = 0.9, .unit = "1",
        .long_name = "beta1",
        .help = "decay rate of the first moment of adamw, adam and lion, and of muon for what it does not "
                "orthogonalise"),
    NUMBER(beta2, .axis = true, .min = 0, .max = 1, .max_open = true, .initial.real = 0.999, .unit = "1",
        .long_name = "beta2",
        .help = "decay rate of the second moment of adamw and adam, and of muon for what it does not "
                "orthogonalise; of lion, that of the momentum"),
    NUMBER(epsilon, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1e-8,
        .unit = "1", .long_name = "epsilon",
        .help = "added to the root of the second moment by adamw and adam, and by muon for what it does not "
                "orthogonalise"),
    NUMBER(momentum, .axis = true, .min = 0, .max = 1, .max_open = true, .initial.real = 0, .unit = "1",
        .long_name = "momentum", .help = "momentum of the optimiser sgd alone; that of muon is always 0.95"),
    WORD(schedule, schedule_words, SCHEDULE_CONSTANT, .axis = true, .long_name = "schedule",
        .help = "of the learning rate after the warm-up. constant; linear and cosine: fall from "
                "schedule_start on, to schedule_end at the last step; wsd: constant, then linear to "
                "schedule_end over the last schedule_decay of the steps; inverse_sqrt: learning_rate * "
                "sqrt(schedule_start / step) from schedule_start on"),
    NUMBER(schedule_start, .axis = true, .min = 0, .max = 1e12, .initial.integer = 0, .unit = "1",
        .long_name = "schedule start",
        .help = "step from which on the schedules linear, cosine and inverse_sqrt lower the learning rate; "
                "inverse_sqrt treats 0 as 1"),
    NUMBER(schedule_end, .axis = true, .min = 0, .max = 1, .initial.real = 0.1, .unit = "1",
        .long_name = "end of the schedule",
        .help = "learning rate at the last step over the peak, of the schedules linear, cosine and wsd"),
    NUMBER(schedule_decay, .axis = true, .min = 0, .max = 1, .min_open = true, .initial.real = 0.2,
        .unit = "1", .long_name = "decay of the schedule",
        .help = "share of the steps over which the schedule wsd falls"),
    NUMBER(warmup_steps, .axis = true, .min = 0, .max = 1e12, .initial.integer = 0, .unit = "1",
        .long_name = "warm-up steps",
        .help = "steps over which the learning rate rises linearly to that of the schedule"),
    NUMBER(gradient_clip, .axis = true, .min = 0, .max = INFINITY, .initial.real = 0, .unit = "1",
        .cost = true, .long_name = "gradient clipping",
        .help = "largest norm of the whole gradient; a larger gradient is scaled down to it; 0: no clipping"),
    WORD(stop_when, stop_when_words, STOP_NEVER, .axis = true, .long_name = "early end",
        .help = "never: each run takes all its steps; phase: a run ends at the first measured step at which "
                "its phase, growing or shrinking, is forecast from what its updates did so far and from the "
                "decay to come; not while its steps are below a tenth of full ones, as on a plateau; this "
                "was right in all of 6,000 runs that were tried (docs/searching.md), but is not proven; "
                "final values are those of that step"),
    NUMBER(output_scale, .axis = true, .min = 0, .min_open = true, .max = INFINITY, .initial.real = 1,
        .unit = "1", .long_name = "output scale",
        .help = "factor on the input of the output's matrix, so on all logits but for the output's bias; "
                "with mup one more factor"),
    NUMBER(z_loss, .axis = true, .min = 0, .max = INFINITY, .initial.real = 0, .unit = "1",
        .long_name = "z-loss",
        .help = "what is trained is the loss plus z_loss times the mean of the square of "
                "log(sum(exp(logits))); gradients and the Hessian are those of this sum, while train_loss, "
                "valid_loss and the other losses are cross-entropies without it"),
    NUMBER(seed, .axis = true, .min = -INFINITY, .max = INFINITY, .initial.integer = 0, .unit = "1",
        .long_name = "seed", .help = "seed of the initial weights and of the order of the sequences"),
    NUMBER(threads, .axis = true, .min = 1, .max = 1024, .initial.integer = 1, .unit = "1", .cost = true,
        .long_name = "threads",
        .help =
            "threads that train a run together, in one rank; the number affects the last digits of results"),
    WORD(save_weights, save_weights_words, SAVE_NOTHING, .long_name = "save weights",
        .help = "true: keeps the final weights of every run beside the dataset; inspect reads them, and "
                "export, which needs output_bias: false. state: also keeps what runs need to carry on if "
                "steps grows, from the last step whose rate does not depend on steps. That is the last of "
                "all with schedule constant and inverse_sqrt, the last before the decay with wsd, and "
                "schedule_start with linear and cosine"),
};

const size_t param_count = sizeof(param_table) / sizeof(*param_table);

_Static_assert(sizeof(param_table) / sizeof(*param_table) * sizeof(union param_value) == sizeof(struct run),
    "one row per field of struct run");

const struct param *param_find(const char *name)
{
    for (size_t i = 0; i < param_count; i++)
        if (strcmp(param_table[i].name, name) == 0)
            return &param_table[i];
    return NULL;
}

union param_value param_get(const struct param *param, const struct run *run)
{
    union param_value value;
    memcpy(&value, (const char *)run + param->offset, sizeof(value));
    return value;
}

void param_set(const struct param *param, struct run *run, union param_value value)
{
    memcpy((char *)run + param->offset, &value, sizeof(value));
}

char *param_format(const struct param *param, union param_value value, char *text, size_t size)
{
    switch (param->kind) {
    case PARAM_INTEGER:
        snprintf(text, size, "%lld", (long long)value.integer);
        break;
    case PARAM_REAL:
        for (int digits = 1; digits <= 17; digits++) { /* the fewest that read back as the same double */
            snprintf(text, size, "%.*g", digits, value.real);
            if (strtod(text, NULL) == value.real)
                break;
        }
        break;
    case PARAM_BOOLEAN:
        snprintf(text, size, "%s", value.integer ? "true" : "false");
        break;
    case PARAM_WEIGHTS:
        if (value.integer) {
            snprintf(text, size, "%016llx", (long long)value.integer);
            break;
        }
        /* fallthrough */
    case PARAM_WORD:
        snprintf(text, size, "%s", param->words[value.integer]);
        break;
    case PARAM_WORDS:
        text[0] = '\0';
        for (size_t i = 0, at = 0; param->words[i] && at < size; i++)
            if (value.integer >> i & 1)
                at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "+" : "", param->words[i]);
        break;
    }
    return text;
}

bool param_find_word(const struct param *param, const char *text, int64_t *value)
{
    bool several = param->kind == PARAM_WORDS;

    *value = 0;
    if (param->kind == PARAM_WEIGHTS && strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16 &&
        text[0] < '8') { /* not negative */
        *value = strtoll(text, NULL, 16);
        return true;
    }
    for (const char *word = text;; word++) {
        size_t length = several ? strcspn(word, "+") : strlen(word);
        int64_t i = 0;
        while (param->words[i] &&
               (strlen(param->words[i]) != length || memcmp(param->words[i], word, length) != 0))
            i++;
        if (!param->words[i])
            return false;
        *value |= several ? (int64_t)1 << i : i;
        word += length;
        if (!*word)
            return true;
    }
}

int param_check(const struct param *param, union param_value value, struct error *error)
{
    double number = param->kind == PARAM_REAL ? value.real : (double)value.integer;
    char text[PARAM_TEXT];
    const char *fault = NULL;
    double bound = 0;

    if (!isfinite(number))
        return error_set(error, ERROR_INPUT, "%s: must be finite", param->name);
    if (number < param->min || (param->min_open && number == param->min)) {
        fault = param->min_open ? "is not above" : "is below";
        bound = param->min;
    } else if (number > param->max || (param->max_open && number == param->max)) {
        fault = param->max_open ? "is not below" : "is above";
        bound = param->max;
    }
    if (!fault)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: %s %s %.12g", param->name,
        param_format(param, value, text, sizeof(text)), fault, bound);
}
