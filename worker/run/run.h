#ifndef NORMSWEEP_WORKER_RUN_RUN_H
#define NORMSWEEP_WORKER_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/corpora/corpus.h"
#include "model/corpora/objective.h"
#include "model/network/transformer.h"
#include "model/optimisers/optimiser.h"
#include "worker/run/param.h"

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
    /* data */
    int64_t corpus, objective, sequences, min_count, vocabulary, corpus_tokens;
    double train_share;
    int64_t corpus_seed, context, batch;
    /* training */
    int64_t epochs, steps; /* exactly one of them is not 0 */
    int64_t optimiser;
    double learning_rate, weight_decay;
    int64_t decay, decay_on, decay_rule, fixed_norm, weights;
    double beta1, beta2, epsilon, momentum;
    int64_t schedule, schedule_start;
    double schedule_end, schedule_decay;
    int64_t warmup_steps;
    double gradient_clip;
    int64_t stop_when;
    double z_loss;
    int64_t seed, threads, save_weights;
};

/* When a run ends: at its last step, or as soon as its phase is forecast (model/instruments/outlook.h). */
enum stop_when { STOP_NEVER, STOP_PHASE };

/* What is kept of a run that is done: nothing, its final weights, or also what a longer run carries on from.
 */
enum save_weights { SAVE_NOTHING, SAVE_WEIGHTS, SAVE_STATE };

/* Every parameter at its default. */
void run_init(struct run *run);

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
 * matrices than for vectors; so does any decay where fixed_norm undoes it, or rounding to the nearest
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

/* Have steps a bound, whatever the gradient is? A run without can diverge at any moment, and diverged is a
 * phase, too. */
bool run_has_bounded_steps(const struct run *run);

/* May the run end before its last step, as soon as its phase is forecast? Only with stop_when: phase, and if
 * both of the above hold. */
bool run_may_end_early(const struct run *run);

struct schedule run_schedule(const struct run *run, int64_t last_step);

/*
 * The step whose state a run of last_step steps keeps for longer runs of the same configuration, which do
 * exactly the same up to there: the last one, or the one before the rate begins to fall. 0: it keeps none, as
 * its rate depends on last_step from the start, it has epochs, or stop_when may end it early.
 */
int64_t run_kept_step(const struct run *run, int64_t last_step);

/* t_end: `steps`, or epochs times floor(sequences of the training text / batch). */
int64_t run_last_step(const struct run *run, const struct corpus *corpus);

/* Adds every parameter, by name and value, to a digest, except for those that the corpus's digest has. */
void run_digest(const struct run *run, struct digest *digest);

#endif
