/*
 * Whether the keys of a sweep file fit together: key by key for the corpus and what is measured, then cell by
 * cell, since most conditions are on several parameters. A key without any effect is refused, as it would
 * make cells that are the same; of what is valid, but probably not meant, there are remarks.
 */
#include "driver/sweep/inside.h"

#include <inttypes.h>
#include <string.h>

/* Was a key given, or taken out, somewhere? */
static bool is_known(struct position position)
{
    return position.line > 0 || position.column > 0;
}

/* The position to name if a key is missing: where it was taken out, else that of the corpus, which needs it.
 */
static struct position missing_position(const struct sweep *sweep, const char *name)
{
    struct position position = reader_named(sweep, name)->position;

    return is_known(position) ? position : reader_named(sweep, "corpus")->position;
}

/* Each corpus uses other keys; a given key without effect is a mistake. Pairs take two files, a source and a
 * target. */
static int check_corpus_keys(struct reader *reader)
{
    static const struct {
        const char *name;
        enum corpus_use use;
    } keys[] = {{"vocabulary", USES_VOCABULARY}, {"train_text", USES_FILES}, {"valid_text", USES_FILES},
        {"corpus_tokens", USES_TOKENS}, {"train_share", USES_SHARE}, {"corpus_seed", USES_SEED},
        {"sequences", USES_SEQUENCES}, {"min_count", USES_MIN_COUNT}};
    const struct sweep *sweep = reader->sweep;
    const struct {
        enum key key;
        const char *source, *target;
    } texts[] = {{KEY_TRAIN_TEXT, sweep->train_source_path, sweep->train_path},
        {KEY_VALID_TEXT, sweep->valid_source_path, sweep->valid_path}};
    const struct corpus_kind_row *corpus = &corpus_kind_table[sweep->base.corpus];
    bool pairs = sweep->base.corpus == CORPUS_PAIRS;

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (!(corpus->uses & keys[i].use) && reader_named(sweep, keys[i].name)->given)
            return reader_fault(reader, reader_named(sweep, keys[i].name)->position,
                "%s: corpus %s does not use it; remove it, or set it to null", keys[i].name, corpus->name);
    if (sweep->base.corpus == CORPUS_TOKENS && !reader_named(sweep, "vocabulary")->given)
        return reader_fault(reader, missing_position(sweep, "vocabulary"),
            "vocabulary: missing; corpus tokens needs the number of its tokenizer's words, 50257 for "
            "GPT-2's");
    if (!(corpus->uses & USES_FILES))
        return 0;
    if (!sweep->train_path)
        return reader_fault(reader, missing_position(sweep, "train_text"),
            "train_text: missing; corpus %s needs %s", corpus->name, pairs ? "[source, target]" : "one");
    for (int i = 0; i < 2; i++)
        if (texts[i].target && pairs != (texts[i].source != NULL))
            return reader_fault(reader, sweep->spots->key[texts[i].key].position, "%s: corpus %s takes %s",
                key_table[texts[i].key].name, corpus->name,
                pairs ? "two paths, [source, target]" : "one path, not a list");
    return 0;
}

/* Without a validation text these metrics would all be NaN, after hours of training. */
static int check_validation_text(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *key = sweep->spots->key;
    const bool *group = sweep->measure.group;

    if (!(corpus_kind_table[sweep->base.corpus].uses & USES_FILES) || sweep->valid_path)
        return 0;
    for (int i = GROUP_SATURATION; i <= GROUP_ATTENTION; i++)
        if (group[i])
            return reader_fault(reader, key[KEY_MEASURE].position,
                "measure.metrics: %s is measured on valid_text, which is missing", metric_group_names[i]);
    for (int seeds = 0; sweep->refine.kind != REFINE_NONE && seeds < 2; seeds++) {
        enum metric variable = seeds ? sweep->refine.seeds.variable : sweep->refine.variable;
        if ((seeds ? sweep->refine.seeds.most > 0 : sweep->refine.kind != REFINE_SEEDS) &&
            (variable == METRIC_final_valid_loss || variable == METRIC_unigram_loss))
            return reader_fault(reader, key[KEY_REFINE].position,
                "refine.%svariable: %s is measured on valid_text, which is missing", seeds ? "seeds." : "",
                metric_table[variable].name);
    }
    return 0;
}

/* Groups that are measured at some of the measured steps; an `every` that meets few or none of them is a
 * mistake. What `more` measures, the group measures on its way. */
static int check_chosen(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    const struct measure *measure = &sweep->measure;
    const struct {
        enum key key;
        enum metric_group group, more;
        long long wanted;
        int64_t count;
    } chosen[] = {{KEY_HESSIAN, GROUP_HESSIAN, GROUP_HESSIAN_LAYERS, measure->hessian_every,
                      measure_hessians(measure, INT64_MAX)},
        {KEY_SPECTRA, GROUP_SPECTRA, GROUP_SPECTRA_VALUES, measure->spectra_every,
            measure_spectra(measure, &sweep->base, INT64_MAX)}};
    long long every = measure->every;

    for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
        const struct position position = sweep->spots->key[chosen[i].key].position;
        const char *name = key_table[chosen[i].key].name;
        long long wanted = chosen[i].wanted;
        bool measured = measure->group[chosen[i].group];
        if (measure->group[chosen[i].more] && !measured)
            return reader_fault(reader, sweep->spots->key[KEY_MEASURE].position,
                "measure.metrics: %s needs %s as well", metric_group_names[chosen[i].more],
                metric_group_names[chosen[i].group]);
        if (!measured || wanted <= 0)
            continue;
        if (every && wanted % every != 0)
            return reader_fault(reader, position, "%s.every: %lld is not a multiple of measure.every %lld",
                name, wanted, every);
        if (!every && chosen[i].count <= 2) /* step 0 and the last, as with `ends` */
            return reader_fault(reader, position,
                "%s.every: no step above 0 of measure.steps is a multiple of %lld", name, wanted);
    }
    if (measure->group[GROUP_SPECTRA] && !spectra_available())
        return reader_fault(reader, sweep->spots->key[KEY_MEASURE].position,
            "measure.metrics: spectra needs LAPACK's dsyev, which the BLAS of this program lacks: build with "
            "one that has it, such as OpenBLAS, or leave spectra out");
    return 0;
}

/* ---- cells ---- */

struct position cell_position(const struct sweep *sweep, const int64_t *index, const struct param *param)
{
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param);

    if (axis && axis->written)
        return axis->written[axis_row(axis, param) * axis->length + index[axis - sweep->axis]];
    return reader_spot(sweep, param)->position;
}

/* The position to name when two parameters do not fit together: the second one's if the first has none. */
static struct position fault_position(const struct walk *walk, const struct param *at)
{
    static const char *const partners[][2] = {{"heads", "width"}, {"width", "layers"}, {"batch", "context"},
        {"steps", "epochs"}, {"network", "corpus"}, {"objective", "network"},
        {"base_width", "parametrization"}};

    for (size_t i = 0; i < sizeof(partners) / sizeof(*partners); i++)
        if (!is_known(reader_spot(walk->sweep, at)->position) && at == param_find(partners[i][0]))
            at = param_find(partners[i][1]);
    return cell_position(walk->sweep, walk->index, at);
}

/*
 * Keys that only some runs use: X(key, what a run needs for it, whether a run has that). Given without such a
 * run, they are refused.
 */
#define DRAWN "drawn weights (initial_weights none)"
#define USED_KEYS(X)                                                                                         \
    X(decoder_layers, "network encoder_decoder", run->network == NETWORK_ENCODER_DECODER)                    \
    X(init_deviation, "init normal", run->init == INIT_NORMAL)                                               \
    X(init, DRAWN, !run->initial_weights || measure->group[GROUP_HOMOGENEITY])                               \
    X(init_scale, DRAWN, !run->initial_weights || measure->group[GROUP_HOMOGENEITY])                         \
    X(zero_query_key, DRAWN, !run->initial_weights || measure->group[GROUP_HOMOGENEITY])                     \
    X(norm_placement, "norm layernorm or rmsnorm", run->norm != NO_NORM)                                     \
    X(stop_when,                                                                                             \
        "steps with a bound: sgd needs gradient_clip; adam, adamw and muon need beta1 * beta1 < beta2",      \
        run_has_bounded_steps(run))                                                                          \
    X(stop_when,                                                                                             \
        "a decay that is the same share of every weight; that of adam, decay_rule cautious, a norm_rule, "   \
        "a decay_on that leaves out tensors of the layers and weights bfloat16 is not",                      \
        run_decays_by_share(run))                                                                            \
    X(stop_when, "both steps with a bound and a decay that is the same share of every weight",               \
        run_may_end_early(run))                                                                              \
    X(base_width, "parametrization mup", run->parametrization == PARAMETRIZATION_MUP)                        \
    X(decay_on, "a weight_decay above 0", run->weight_decay > 0)                                             \
    X(decay_rule, "a weight_decay above 0", run->weight_decay > 0)                                           \
    X(norm_target, "norm_rule fixed or hyperball",                                                           \
        run->norm_rule == NORM_FIXED || run->norm_rule == NORM_HYPERBALL)                                    \
    X(brake, "norm_rule brake", run->norm_rule == NORM_BRAKE)                                                \
    X(schedule_start, "schedule linear, cosine or inverse_sqrt",                                             \
        run->schedule == SCHEDULE_LINEAR || run->schedule == SCHEDULE_COSINE ||                              \
            run->schedule == SCHEDULE_INVERSE_SQRT)                                                          \
    X(schedule_end, "schedule linear, cosine or wsd",                                                        \
        run->schedule == SCHEDULE_LINEAR || run->schedule == SCHEDULE_COSINE ||                              \
            run->schedule == SCHEDULE_WSD)                                                                   \
    X(schedule_decay, "schedule wsd", run->schedule == SCHEDULE_WSD)

/* The same of optimisers: X(key, what else it needs, whether a run has that, trait of the optimiser). A study
 * of several may well give all of these, so there is only a remark. */
#define OPTIMISER_KEYS(X)                                                                                    \
    X(momentum, "", true, HAS_MOMENTUM)                                                                      \
    X(beta1, "", true, HAS_BETAS)                                                                            \
    X(beta2, "", true, HAS_BETAS)                                                                            \
    X(epsilon, "", true, HAS_SECOND_MOMENT)                                                                  \
    X(decay, " with a weight_decay above 0", run->weight_decay > 0, HAS_ROUNDED_DECAY)

static const struct {
    const char *name, *needs;
    enum optimiser_trait trait;
} conditional[] = {
#define X(key, needs, has) {#key, needs, 0},
    USED_KEYS(X)
#undef X
#define X(key, needs, has, trait) {#key, needs, trait},
        OPTIMISER_KEYS(X)
#undef X
};

#define X(...) +1
enum { USED = USED_KEYS(X), CONDITIONAL = USED + OPTIMISER_KEYS(X) };
#undef X

/* What the cells make of such a key. */
struct effect {
    const struct param *param;
    bool set, used; /* in some cell: not the default; used */
};

static void take_effects(
    struct effect effect[CONDITIONAL], const struct measure *measure, const struct run *run)
{
    const bool used[] = {
#define X(key, needs, has) has,
        USED_KEYS(X)
#undef X
#define X(key, needs, has, trait) (has) && optimiser_has((enum optimiser_kind)run->optimiser, trait),
            OPTIMISER_KEYS(X)
#undef X
    };

    for (int i = 0; i < CONDITIONAL; i++) {
        if (!effect[i].param) /* once: there may be millions of cells */
            effect[i].param = param_find(conditional[i].name);
        union param_value value = param_get(effect[i].param, run);
        effect[i].set = effect[i].set || memcmp(&value, &effect[i].param->initial, sizeof(value)) != 0;
        effect[i].used = effect[i].used || used[i];
    }
}

static int check_cell(struct reader *reader, const struct walk *walk)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *measure = &sweep->spots->key[KEY_MEASURE];
    const struct run *run = &walk->run;
    const struct param *at;

    bool timed = reader_named(sweep, "steps")->given || reader_named(sweep, "epochs")->given;
    if (timed && !run->steps && !run->epochs && !run->initial_weights && sweep->starts.count > 0)
        return reader_fault(reader, cell_position(sweep, walk->index, param_find("initial_weights")),
            "initial_weights: with steps: 0 there is nothing to do for none, as any run measures drawn "
            "weights at step 0; leave none out, or give steps");
    if (run_check(run, &at, reader->error) < 0)
        return position_prefix(reader->error, sweep->path, fault_position(walk, at));
    if (!run->steps && !run->epochs && !timed)
        return reader_fault(reader, fault_position(walk, param_find("steps")),
            "steps: give either steps or epochs; steps: 0 measures the initial weights alone");
    double rows = measure_rows_bound(&sweep->measure, run->steps);
    if (rows > ROWS_MOST)
        return reader_fault(reader,
            measure->given ? measure->position : cell_position(sweep, walk->index, param_find("steps")),
            "measure: %.8g measured steps in %lld; the limit is %d", rows, (long long)run->steps, ROWS_MOST);
    if (run->norm == NO_NORM && (sweep->measure.group[GROUP_SATURATION] || sweep->measure.group[GROUP_HEADS]))
        return reader_fault(reader, measure->position,
            "measure.metrics: saturation and heads are of 1000 times the weights, which overflow with norm "
            "none; leave them out");
    bool phase = sweep->refine.variable == METRIC_norm_growth && sweep->refine.at == 1;
    if (sweep->refine.seeds.most > 0 && run->stop_when != STOP_NEVER)
        return reader_fault(reader, sweep->spots->key[KEY_REFINE].position,
            "refine.seeds: with stop_when: phase runs end at different steps, so their values do not "
            "compare; leave one of the two out");
    if (sweep->refine.kind != REFINE_NONE && run->stop_when != STOP_NEVER && !phase)
        return reader_fault(reader, sweep->spots->key[KEY_REFINE].position,
            "refine: with stop_when: phase a run tells its side of norm_growth 1 alone; leave one of the two "
            "out");
    return 0;
}

/* Are the forces of all its tensors known, which make up the change of |theta|^2? */
static bool has_forces(const struct run *run)
{
    bool coupled = run->optimiser == OPTIMISER_ADAM && run->weight_decay > 0;

    return run->weights == WEIGHTS_FLOAT && run->norm_rule == NORM_FREE && !coupled;
}

int consistent_check(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    struct effect effect[CONDITIONAL] = {0};
    bool kept = false; /* has some run a state from which a longer run could carry on? */
    bool lasts = false; /* does some run take all its steps? */
    bool forces = !sweep->measure.group[GROUP_FORCES]; /* are those of some run known? */
    struct walk walk;
    int status = 0;

    if (check_corpus_keys(reader) < 0 || check_validation_text(reader) < 0 || options_check(reader) < 0 ||
        check_chosen(reader) < 0)
        return -1;
    walk_init(&walk, sweep);
    while (status == 0 && walk_next(&walk)) {
        take_effects(effect, &sweep->measure, &walk.run);
        forces = forces || has_forces(&walk.run);
        lasts = lasts || walk.run.stop_when == STOP_NEVER;
        kept = kept || (walk.run.timescale == 0 && run_kept_step(&walk.run, walk.run.steps) > 0);
        status = check_cell(reader, &walk);
    }
    for (int i = 0; i < USED && status == 0; i++)
        if (effect[i].set && !effect[i].used)
            status = reader_fault(reader, reader_named(sweep, conditional[i].name)->position,
                "%s: has no effect: no cell has %s", conditional[i].name, conditional[i].needs);
    if (status == 0 && !forces)
        status = reader_fault(reader, sweep->spots->key[KEY_MEASURE].position,
            "measure.metrics: forces are not known of any cell: they need weights float, norm_rule free, "
            "and with adam a weight_decay of 0");
    if (status == 0 && !kept && sweep->base.save_weights == SAVE_STATE)
        status = reader_fault(reader, reader_named(sweep, "save_weights")->position,
            "save_weights: state keeps no more than true: %s",
            lasts ? "no cell has steps, and a rate and a decay that at first do not depend on them"
                  : "every cell has stop_when phase, with which steps cannot grow");
    return status;
}

/* ---- remarks ---- */

void remarks_print(const struct sweep *sweep, FILE *out)
{
    int64_t cells = 0, rising = 0; /* those that end before their warm-up does */
    int64_t scaled = 0, unscaled = 0; /* those that decay too fast, by eta lambda, by lambda */
    struct effect effect[CONDITIONAL] = {0};
    struct walk walk;

    walk_init(&walk, sweep);
    for (; walk_next(&walk); cells++) {
        const struct run *run = &walk.run;
        bool alone = run->decay_rule == DECAY_INDEPENDENT;
        double share = alone ? run->weight_decay : run->learning_rate * run->weight_decay;
        take_effects(effect, &sweep->measure, run);
        rising += run->steps > 0 && run->warmup_steps > run->steps;
        if (run->optimiser != OPTIMISER_ADAM && share >= 1) { /* adam's decay passes through its moments */
            scaled += !alone;
            unscaled += alone;
        }
    }
    for (int i = USED; i < CONDITIONAL; i++)
        if (effect[i].set && !effect[i].used) {
            struct error line;
            position_error(&line, sweep->path, reader_named(sweep, conditional[i].name)->position,
                "%s: has no effect: no cell has optimiser %s%s", conditional[i].name,
                optimiser_list(conditional[i].trait, "or").text, conditional[i].needs);
            fprintf(out, "note: %s\n", line.text);
        }
    if (rising > 0)
        fprintf(out,
            "note: %s: in %" PRId64 " of %" PRId64
            " cells warmup_steps is more than steps: the warm-up does not end\n",
            sweep->path, rising, cells);
    if (scaled + unscaled > 0)
        fprintf(out,
            "note: %s: in %" PRId64 " of %" PRId64 " cells %s%s%s is 1 or more: the decay of one step "
            "makes weights 0 at 1, reverses their signs above 1, and enlarges them above 2\n",
            sweep->path, scaled + unscaled, cells, scaled ? "learning_rate * weight_decay" : "",
            scaled && unscaled ? " or " : "", unscaled ? "weight_decay with decay_rule independent" : "");
}
