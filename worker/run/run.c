/*
 * The parameters of a run together: what they mean to each other, which the table of parameters cannot say.
 * Each check names the parameter at fault.
 */
#include "worker/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_init(struct run *run)
{
    for (size_t i = 0; i < param_count; i++)
        param_set(&param_table[i], run, param_table[i].initial);
}

const char *const run_decay_sources[] = {"timescale", "learning_rate", "steps", "decay_rule", NULL};

void run_derive(struct run *run)
{
    double share = run->decay_rule == DECAY_INDEPENDENT ? 1 : run->learning_rate;

    if (run->timescale > 0 && run->steps > 0)
        run->weight_decay = 1 / (run->timescale * share * (double)run->steps);
}

/*
 * Refuses sizes whose products exceed any machine, before an integer overflows. The vocabulary is that of the
 * built-in corpora; the vocabulary of a text is limited by the text.
 */
static int check_size(const struct run *run, const struct param **at, struct error *error)
{
    const double most = 0x1p50;
    struct architecture architecture = run_architecture(run, run->vocabulary);
    double width = (double)run->width, layers = (double)architecture_blocks(&architecture);
    double attention = architecture_stacks(&architecture) > 1 ? 8 : 4, matrices = run->gated ? 3 : 2;
    double weights = layers * width * (attention * width + matrices * (double)run->feedforward + 16) +
                     (double)run->context * width + 2 * (double)run->vocabulary * width;
    double rows = (double)run->batch * (double)run->context;

    if (layers > LAYERS_MOST) {
        *at = param_find("layers");
        return error_set(error, ERROR_INPUT, "layers: %.0f is above %d", layers, LAYERS_MOST);
    }
    if (weights > most) {
        *at = param_find("width");
        return error_set(error, ERROR_INPUT, "width: a model of %.2g parameters is too large", weights);
    }
    if (rows > INT32_MAX || /* BLAS counts rows in int */
        rows * (layers * (12 * width + 2 * (double)run->feedforward) + (double)run->heads) > most) {
        *at = param_find("batch");
        return error_set(error, ERROR_INPUT, "batch: %.2g tokens per step are too many for this model", rows);
    }
    return 0;
}

static int check_heads(const struct run *run, const struct param **at, struct error *error)
{
    long long width = run->width, heads = run->heads, kv_heads = run->kv_heads;

    *at = param_find("heads");
    if (width % heads != 0)
        return error_set(error, ERROR_INPUT, "heads: %lld does not divide width %lld", heads, width);
    *at = param_find("kv_heads");
    if (kv_heads && heads % kv_heads != 0)
        return error_set(error, ERROR_INPUT, "kv_heads: %lld does not divide heads %lld", kv_heads, heads);
    *at = param_find("qk_norm");
    if (run->qk_norm && norm_table[run->norm].shift && width == heads)
        return error_set(error, ERROR_INPUT,
            "qk_norm: layernorm of a head of one element is always 0: width / heads must be above 1");
    if (run->qk_norm && run->norm == NO_NORM)
        return error_set(error, ERROR_INPUT,
            "qk_norm: with norm none there is no norm for queries and keys; leave one of the two out");
    *at = param_find("positions");
    if (run->positions == POSITIONS_ROTARY && width / heads % 2 != 0)
        return error_set(error, ERROR_INPUT,
            "positions: rotary turns pairs of elements, but a head has %lld: width / heads must be even",
            width / heads);
    return 0;
}

/* Does the network have what it is to predict, and not see it? */
static int check_objective(const struct run *run, const struct param **at, struct error *error)
{
    bool encoder = run->network == NETWORK_ENCODER, both = run->network == NETWORK_ENCODER_DECODER;
    bool pairs = run->corpus == CORPUS_PAIRS, modular = run->corpus == CORPUS_MODULAR;

    *at = param_find("objective");
    if ((pairs || modular) && run->objective != OBJECTIVE_NEXT)
        return error_set(error, ERROR_INPUT, "objective: corpus %s has next alone",
            param_find("corpus")->words[run->corpus]);
    if (run->objective == OBJECTIVE_SPANS && !both)
        return error_set(error, ERROR_INPUT, "objective: spans needs network encoder_decoder, not %s",
            param_find("network")->words[run->network]);
    if (run->objective == OBJECTIVE_MASKED && !encoder)
        return error_set(error, ERROR_INPUT, "objective: masked needs network encoder, not %s",
            param_find("network")->words[run->network]);
    *at = param_find("network");
    if (modular && both)
        return error_set(
            error, ERROR_INPUT, "network: corpus modular has no source; it needs decoder or encoder");
    if (pairs && !both)
        return error_set(error, ERROR_INPUT, "network: corpus pairs needs encoder_decoder");
    if (both && !pairs && run->objective != OBJECTIVE_SPANS)
        return error_set(
            error, ERROR_INPUT, "network: encoder_decoder needs a source: objective spans, or corpus pairs");
    if (encoder && !modular && run->objective != OBJECTIVE_MASKED)
        return error_set(error, ERROR_INPUT,
            "network: an encoder would see the next word: it needs objective masked, or corpus modular");
    *at = param_find("attention_mask");
    if (encoder && run->attention_mask != MASK_CAUSAL)
        return error_set(error, ERROR_INPUT, "attention_mask: an encoder sees everything; %s is for decoders",
            param_find("attention_mask")->words[run->attention_mask]);
    return 0;
}

/* Do sequences, objective and vocabulary agree, and do sequences fit the context? */
static int check_reading(const struct run *run, const struct param **at, struct error *error)
{
    *at = param_find("sequences");
    if (run->corpus == CORPUS_TOKENS && run->sequences != SEQUENCES_STREAM)
        return error_set(error, ERROR_INPUT,
            "sequences: corpus tokens has stream alone: a file of tokens does not say where lines end");
    *at = param_find("vocabulary");
    int64_t added = objective_words_added((enum objective)run->objective, run->context);
    if (run->vocabulary > INT32_MAX - added)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %lld, and %lld words of the objective, are too many", (long long)run->vocabulary,
            (long long)added);
    *at = param_find("context");
    if (run->corpus == CORPUS_MODULAR && run->context < MODULAR_INPUTS)
        return error_set(error, ERROR_INPUT,
            "context: %lld is below %d, the tokens of a sum: a, b and =", (long long)run->context,
            MODULAR_INPUTS);
    if (run->objective == OBJECTIVE_SPANS && run->context < SPANS_CONTEXT_LEAST)
        return error_set(error, ERROR_INPUT,
            "context: %lld is below %d, which a span takes: its sentinel, a token and <eos>",
            (long long)run->context, SPANS_CONTEXT_LEAST);
    return 0;
}

/* The rates of mup are those of updates whose elements keep their size at any width; Table 8 of Yang et al.
 * 2022 has them for adam. */
static int check_parametrization(const struct run *run, const struct param **at, struct error *error)
{
    if (run->parametrization != PARAMETRIZATION_MUP)
        return 0;
    *at = param_find("base_width");
    if (run->base_width == 0)
        return error_set(error, ERROR_INPUT,
            "base_width: missing; parametrization mup needs the width at which it changes no rate");
    *at = param_find("score_scale");
    if (run->score_scale == SCORE_NONE)
        return error_set(error, ERROR_INPUT,
            "score_scale: parametrization mup divides scores by the width of a head; none does not go with "
            "it");
    *at = param_find("optimiser");
    if (!optimiser_has((enum optimiser_kind)run->optimiser, HAS_MUP_RATES))
        return error_set(error, ERROR_INPUT,
            "optimiser: parametrization mup has rates for %s alone; those of %s depend on width otherwise",
            optimiser_list(HAS_MUP_RATES, "and").text, (*at)->words[run->optimiser]);
    return 0;
}

/* Rules say by what share of itself a weight decays; what adam's moments leave of a decay is no such share.
 * Cautious decay compares a weight with its update, which is known only where decay and update are apart. */
static int check_rules(const struct run *run, const struct param **at, struct error *error)
{
    *at = param_find("decay_rule");
    if (run->decay_rule != DECAY_SCALED && run->optimiser == OPTIMISER_ADAM)
        return error_set(error, ERROR_INPUT,
            "decay_rule: the decay of adam passes through its moments, where rule %s has no meaning; adamw "
            "has all rules",
            (*at)->words[run->decay_rule]);
    if (run->decay_rule == DECAY_CAUTIOUS && run->optimiser == OPTIMISER_SGD)
        return error_set(error, ERROR_INPUT,
            "decay_rule: cautious needs an optimiser that decays the weights directly; sgd adds the decay to "
            "the gradient");
    if (run->decay_rule == DECAY_CAUTIOUS && run->decay == DECAY_FACTOR)
        return error_set(error, ERROR_INPUT,
            "decay_rule: cautious chooses weight by weight; decay factor multiplies all of them");
    *at = param_find("norm_rule");
    if (!run->zero_query_key || run->norm_rule == NORM_FREE || run->norm_rule == NORM_BRAKE)
        return 0;
    return error_set(error, ERROR_INPUT,
        "norm_rule: with zero_query_key, queries and keys start with norm 0, and %s would keep it; leave one "
        "of the two out",
        (*at)->words[run->norm_rule]);
}

int run_check(const struct run *run, const struct param **at, struct error *error)
{
    if (check_heads(run, at, error) < 0 || check_objective(run, at, error) < 0 ||
        check_reading(run, at, error) < 0 || check_rules(run, at, error) < 0 ||
        check_parametrization(run, at, error) < 0)
        return -1;
    bool measures = run->initial_weights && !run->epochs && !run->steps;
    if (!measures && (run->epochs != 0) == (run->steps != 0)) {
        *at = param_find("steps");
        return error_set(error, ERROR_INPUT, "%s: give either steps or epochs, %s", (*at)->name,
            run->steps ? "and set the other to 0" : "at least 1; 0 only measures initial_weights");
    }
    *at = param_find("timescale");
    if (run->timescale > 0 && !run->steps)
        return error_set(error, ERROR_INPUT, "timescale: is a share of steps%s",
            run->epochs ? "; give steps, not epochs" : ", and steps is 0");
    if (!isfinite(run->weight_decay))
        return error_set(error, ERROR_INPUT, "timescale: %.12g makes weight_decay infinite", run->timescale);
    return check_size(run, at, error);
}

/* base_width / width with mup, else 1. */
static double narrowing(const struct run *run)
{
    return run->parametrization == PARAMETRIZATION_MUP ? (double)run->base_width / (double)run->width : 1;
}

struct architecture run_architecture(const struct run *run, int64_t vocabulary)
{
    bool mup = run->parametrization == PARAMETRIZATION_MUP;
    double scale = run->output_scale * narrowing(run);
    /* torch and xavier narrow with the width by themselves, normal does not */
    double init_scale = run->init_scale * (run->init == INIT_NORMAL ? sqrt(narrowing(run)) : 1);

    return (struct architecture){
        .network = (enum network)run->network,
        .vocabulary = vocabulary + objective_words_added((enum objective)run->objective, run->context),
        .context = run->context,
        .width = run->width,
        .heads = run->heads,
        .kv_heads = run->kv_heads,
        .feedforward = run->feedforward,
        .layers = run->layers,
        .decoder_layers = run->decoder_layers,
        .norm_placement = (enum norm_placement)run->norm_placement,
        .norm = (enum norm_kind)run->norm,
        .qk_norm = run->qk_norm ? QK_NORM_HEAD : QK_NORM_NONE,
        .positions = (enum positions)run->positions,
        .score_scale = mup ? SCORE_DEPTH : (enum score_scale)run->score_scale,
        .activation = (enum activation)run->activation,
        .precision = (enum precision)run->precision,
        .gated = run->gated,
        .attention_mask = (enum attention_mask)run->attention_mask,
        .init = (enum init)run->init,
        .init_deviation = run->init_deviation,
        .biases = (run->bias ? BIAS_LAYERS : 0u) | (run->output_bias ? BIAS_OUTPUT : 0u),
        .tied = run->tied,
        .zero_query_key = run->zero_query_key,
        .init_scale = init_scale,
        .residual_scale = run->residual_scale,
        .output_scale = mup || scale != 1 ? scale : 0,
        .output_inputs = mup ? run->base_width : 0,
        .z_loss = run->z_loss,
    };
}

struct optimiser_options run_optimiser(const struct run *run)
{
    return (struct optimiser_options){
        .kind = (enum optimiser_kind)run->optimiser,
        .decay = (enum decay)run->decay,
        .decay_on = (unsigned)run->decay_on,
        .decay_rule = (enum decay_rule)run->decay_rule,
        .peak_rate = run->learning_rate,
        .norm_rule = (enum norm_rule)run->norm_rule,
        .norm_target = run->norm_target,
        .brake = run->brake,
        .weight_decay = run->weight_decay,
        .beta1 = run->beta1,
        .beta2 = run->beta2,
        .epsilon = run->epsilon,
        .momentum = run->momentum,
        .gradient_clip = run->gradient_clip,
        .hidden_rate = narrowing(run),
        .weights = (enum weights_kept)run->weights,
        .seed = (uint64_t)run->seed,
    };
}

/* Is the share of every weight that decays in a step in proportion to the rate? */
static bool decays_in_proportion(const struct run *run)
{
    return run->decay_rule != DECAY_CORRECTED ||
           (run->schedule == SCHEDULE_CONSTANT && run->warmup_steps <= 1);
}

/* Under stochastic rounding a decay stays even on average. */
double run_even_decay(const struct run *run)
{
    const int64_t layers = DECAY_ON_ATTENTION | DECAY_ON_FEEDFORWARD | DECAY_ON_GAINS | DECAY_ON_BIASES;
    bool whole = run->decay_on & (DECAY_ON_ALL | DECAY_ON_HIDDEN) || (run->decay_on & layers) == layers;
    double decay =
        run->decay_rule == DECAY_INDEPENDENT ? run->weight_decay / run->learning_rate : run->weight_decay;

    if (run->optimiser == OPTIMISER_ADAM || run->decay_rule == DECAY_CAUTIOUS ||
        run->norm_rule != NORM_FREE || run->weights == WEIGHTS_BFLOAT16 || !whole ||
        (narrowing(run) != 1 && run->decay_rule != DECAY_INDEPENDENT))
        return 0;
    return run->optimiser == OPTIMISER_SGD ? decay / (1 - run->momentum) : decay;
}

double run_even_decay_factor(const struct run *run)
{
    struct run unit = *run;

    unit.weight_decay = 1;
    return run_even_decay(&unit);
}

double run_decay_time(const struct run *run, double rate)
{
    return run->decay_rule == DECAY_CORRECTED ? rate * (rate / run->learning_rate) : rate;
}

double run_decay(const struct run *run)
{
    return decays_in_proportion(run) ? run_even_decay(run) : 0;
}

/* Those of adam with beta1^2 >= beta2 grow without a bound when gradients shrink; sgd's are the gradients. */
bool run_has_bounded_steps(const struct run *run)
{
    if (run->optimiser == OPTIMISER_SGD)
        return run->gradient_clip > 0;
    return !optimiser_has((enum optimiser_kind)run->optimiser, HAS_SECOND_MOMENT) ||
           run->beta1 * run->beta1 < run->beta2;
}

bool run_decays_by_share(const struct run *run)
{
    bool decays = decays_in_proportion(run) && run_even_decay_factor(run) > 0;

    return run->norm_rule == NORM_FREE && (decays || run->weight_decay == 0);
}

bool run_may_end_early(const struct run *run)
{
    return run->stop_when == STOP_PHASE && run_decays_by_share(run) && run_has_bounded_steps(run);
}

struct schedule run_schedule(const struct run *run, int64_t last_step)
{
    return (struct schedule){
        .kind = (enum schedule_kind)run->schedule,
        .learning_rate = run->learning_rate,
        .start = run->schedule_start,
        .warmup_steps = run->warmup_steps,
        .last_step = last_step,
        .end = run->schedule_end,
        .decay = run->schedule_decay,
    };
}

int64_t run_kept_step(const struct run *run, int64_t last_step)
{
    const struct schedule schedule = run_schedule(run, last_step);

    return run->stop_when == STOP_NEVER ? schedule_lasting(&schedule) : 0;
}

struct reading run_reading(const struct run *run, const struct corpus *corpus)
{
    static const enum task tasks[] = {
        [OBJECTIVE_NEXT] = TASK_NEXT, [OBJECTIVE_SPANS] = TASK_SPANS, [OBJECTIVE_MASKED] = TASK_MASKED};
    bool pairs = run->corpus == CORPUS_PAIRS, modular = run->corpus == CORPUS_MODULAR;

    return (struct reading){
        .sequences = pairs || modular ? SEQUENCES_LINES : (enum sequences)run->sequences,
        .task = pairs     ? TASK_PAIR
                : modular ? TASK_LAST
                          : tasks[run->objective],
        .context = run->context,
        .vocabulary = corpus->vocabulary,
        .end_of_line = corpus->end_of_line,
        .seed = run->seed,
    };
}

int64_t run_last_step(const struct run *run, const struct corpus *corpus)
{
    if (run->steps)
        return run->steps;
    struct reading reading = run_reading(run, corpus);
    return run->epochs * (reading_sequences(&reading, &corpus->train) / run->batch);
}

void run_digest(const struct run *run, struct digest *digest)
{
    char text[PARAM_TEXT];

    for (size_t i = 0; i < param_count; i++) {
        union param_value value = param_get(&param_table[i], run);
        digest_add_string(digest, param_table[i].name);
        if (param_table[i].words)
            digest_add_string(digest, param_format(&param_table[i], value, text, sizeof(text)));
        else
            digest_add(digest, &value, sizeof(value));
    }
}
