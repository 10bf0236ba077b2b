/*
 * Whether the keys of a sweep file fit together: key by key for the corpus and what is measured, then cell by
 * cell, since most conditions are on several parameters. A key without any effect is refused: it would make
 * cells that are the same.
 */
#include "driver/sweep/inside.h"

#include <string.h>

/* Files of the right number for the corpus: pairs take a source and a target. */
static int check_paths(struct reader *reader, enum key key, const char *source, const char *target)
{
    const struct sweep *sweep = reader->sweep;
    bool pairs = sweep->base.corpus == CORPUS_PAIRS;

    if (!target || pairs == (source != NULL))
        return 0;
    return reader_fault(reader, sweep->spots->key[key].position, "%s: corpus %s takes %s",
        key_table[key].name, corpus_kind_table[sweep->base.corpus].name,
        pairs ? "two paths, [source, target]" : "one path, not a list");
}

/* Is the key given, or was it taken out somewhere? */
static bool has_position(const struct spot *spot)
{
    return spot->given || spot->position.line > 0 || spot->position.column > 0;
}

/* The position to name if a key is missing: where it was taken out, else that of the corpus, which needs it.
 */
static struct position missing_position(const struct sweep *sweep, const char *name)
{
    const struct spot *spot = reader_named(sweep, name);

    return has_position(spot) ? spot->position : reader_named(sweep, "corpus")->position;
}

static int check_files(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;

    if (!sweep->train_path)
        return reader_fault(reader, missing_position(sweep, "train_text"),
            "train_text: missing; corpus %s needs %s", corpus_kind_table[sweep->base.corpus].name,
            sweep->base.corpus == CORPUS_PAIRS ? "[source, target]" : "one");
    if (check_paths(reader, KEY_TRAIN_TEXT, sweep->train_source_path, sweep->train_path) < 0)
        return -1;
    return check_paths(reader, KEY_VALID_TEXT, sweep->valid_source_path, sweep->valid_path);
}

/* Each corpus uses other keys; a given key without effect is a mistake. */
static int check_corpus_keys(struct reader *reader)
{
    static const struct {
        const char *name;
        enum corpus_use use;
    } keys[] = {{"vocabulary", USES_VOCABULARY}, {"train_text", USES_FILES}, {"valid_text", USES_FILES},
        {"corpus_tokens", USES_TOKENS}, {"train_share", USES_SHARE}, {"corpus_seed", USES_SEED},
        {"sequences", USES_SEQUENCES}, {"min_count", USES_MIN_COUNT}};
    const struct sweep *sweep = reader->sweep;
    unsigned uses = corpus_kind_table[sweep->base.corpus].uses;

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (!(uses & keys[i].use) && reader_named(sweep, keys[i].name)->given)
            return reader_fault(reader, reader_named(sweep, keys[i].name)->position,
                "%s: corpus %s does not use it", keys[i].name, corpus_kind_table[sweep->base.corpus].name);
    if (sweep->base.corpus == CORPUS_TOKENS && !reader_named(sweep, "vocabulary")->given)
        return reader_fault(reader, missing_position(sweep, "vocabulary"),
            "vocabulary: missing; corpus tokens needs the number of its tokenizer's words, 50257 for "
            "GPT-2's");
    return uses & USES_FILES ? check_files(reader) : 0;
}

/* Without a validation text these metrics would all be NaN, after hours of training. */
static int check_validation_text(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *key = sweep->spots->key;
    const bool *group = sweep->measure.group;
    enum metric variable = sweep->refine.variable;

    if (!(corpus_kind_table[sweep->base.corpus].uses & USES_FILES) || sweep->valid_path)
        return 0;
    for (int i = GROUP_SATURATION; i <= GROUP_HEADS; i++)
        if (group[i])
            return reader_fault(reader, key[KEY_MEASURE].position,
                "measure.metrics: %s is measured on valid_text, which is missing", metric_group_names[i]);
    if (sweep->refine.kind != REFINE_NONE &&
        (variable == METRIC_final_valid_loss || variable == METRIC_unigram_loss))
        return reader_fault(reader, key[KEY_REFINE].position,
            "refine.variable: %s is measured on valid_text, which is missing", metric_table[variable].name);
    return 0;
}

/* The Hessian is measured at measured steps; an `every` that meets few or none of them is a mistake. What
 * hessian_layers measures, hessian measures on its way. */
static int check_hessian(struct reader *reader)
{
    const struct measure *measure = &reader->sweep->measure;
    const struct position position = reader->sweep->spots->key[KEY_HESSIAN].position;
    long long wanted = measure->hessian_every, every = measure->every;

    if (measure->group[GROUP_HESSIAN_LAYERS] && !measure->group[GROUP_HESSIAN])
        return reader_fault(reader, reader->sweep->spots->key[KEY_MEASURE].position,
            "measure.metrics: %s needs %s as well", metric_group_names[GROUP_HESSIAN_LAYERS],
            metric_group_names[GROUP_HESSIAN]);
    if (!measure->group[GROUP_HESSIAN] || wanted <= 0)
        return 0;
    if (every && wanted % every != 0)
        return reader_fault(
            reader, position, "hessian.every: %lld is not a multiple of measure.every %lld", wanted, every);
    if (!every && measure_hessians(measure, INT64_MAX) <= 2) /* step 0 and the last, as with `ends` */
        return reader_fault(reader, position,
            "hessian.every: no step above 0 of measure.steps is a multiple of %lld", wanted);
    return 0;
}

/* A search interpolates between ends of runs, and predicts from norms over all their steps. */
static int check_refined(struct reader *reader, const struct run *run)
{
    const struct sweep *sweep = reader->sweep;

    if (sweep->refine.kind == REFINE_NONE || run->stop_when == STOP_NEVER)
        return 0;
    return reader_fault(reader, reader_named(sweep, "stop_when")->position,
        "stop_when: refine needs runs that take all their steps; leave one of the two out");
}

/* The position of a parameter's value in a cell if the file spells the value out, else the position of its
 * key. */
static struct position cell_position(
    const struct sweep *sweep, const int64_t *index, const struct param *param)
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
        if (!has_position(reader_spot(walk->sweep, at)) && at == param_find(partners[i][0]))
            at = param_find(partners[i][1]);
    return cell_position(walk->sweep, walk->index, at);
}

/* Refuses more measured steps than a dataset should hold. */
static int check_rows(struct reader *reader, const struct walk *walk)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *key = sweep->spots->key;
    double rows = measure_rows_bound(&sweep->measure, walk->run.steps);

    if (rows <= ROWS_MOST)
        return 0;
    return reader_fault(reader,
        key[KEY_MEASURE].given ? key[KEY_MEASURE].position
                               : cell_position(sweep, walk->index, param_find("steps")),
        "measure: %.8g measured steps in %lld; the limit is %d", rows, (long long)walk->run.steps, ROWS_MOST);
}

static bool has_decoder_layers(const struct run *run)
{
    return run->network == NETWORK_ENCODER_DECODER;
}

static bool has_init_deviation(const struct run *run)
{
    return run->init == INIT_NORMAL;
}

static bool has_base_width(const struct run *run)
{
    return run->parametrization == PARAMETRIZATION_MUP;
}

static bool ends_low(const struct run *run)
{
    return run->schedule == SCHEDULE_LINEAR || run->schedule == SCHEDULE_COSINE ||
           run->schedule == SCHEDULE_WSD;
}

static bool has_start(const struct run *run)
{
    return run->schedule == SCHEDULE_LINEAR || run->schedule == SCHEDULE_COSINE ||
           run->schedule == SCHEDULE_INVERSE_SQRT;
}

static bool is_wsd(const struct run *run)
{
    return run->schedule == SCHEDULE_WSD;
}

static bool has_decay(const struct run *run)
{
    return run->weight_decay > 0;
}

/* Keys that only some runs use: given without one of them they would make cells that are the same. */
static const struct {
    const char *name, *needs;
    bool (*used)(const struct run *run);
} conditional[] = {
    {"decoder_layers", "network encoder_decoder", has_decoder_layers},
    {"init_deviation", "init normal", has_init_deviation},
    {"stop_when",
        "steps with a bound: sgd needs gradient_clip; adam, adamw and muon need beta1 * beta1 < beta2",
        run_has_bounded_steps},
    {"stop_when",
        "a decay that is the same share of every weight; that of adam, fixed_norm, decay_rule cautious, "
        "decay_on matrices and weights bfloat16 is not",
        run_decays_by_share},
    {"stop_when", "both steps with a bound and a decay that is the same share of every weight",
        run_may_end_early},
    {"base_width", "parametrization mup", has_base_width},
    {"decay_on", "a weight_decay above 0", has_decay},
    {"decay_rule", "a weight_decay above 0", has_decay},
    {"schedule_start", "schedule linear, cosine or inverse_sqrt", has_start},
    {"schedule_end", "schedule linear, cosine or wsd", ends_low},
    {"schedule_decay", "schedule wsd", is_wsd},
};

enum { CONDITIONAL = sizeof(conditional) / sizeof(*conditional) };

/* What the cells make of such a key. */
struct effect {
    bool set, used; /* in some cell: not the default; used */
};

/* Refuses to keep states if no run has one from which a longer run could carry on. `lasts`: some run takes
 * all its steps. */
static int check_states(struct reader *reader, bool kept, bool lasts)
{
    const struct sweep *sweep = reader->sweep;

    if (kept || sweep->base.save_weights != SAVE_STATE)
        return 0;
    return reader_fault(reader, reader_named(sweep, "save_weights")->position,
        "save_weights: state keeps no more than true: %s",
        lasts ? "no cell has steps, and a rate that at first does not depend on them"
              : "every cell has stop_when phase, with which steps cannot grow");
}

/* Checks the run of every cell that is not skipped. */
static int check_cells(struct reader *reader)
{
    struct effect effect[CONDITIONAL] = {0};
    bool kept = false, lasts = false;
    const struct param *at;
    struct walk walk;
    int status = 0;

    walk_init(&walk, reader->sweep);
    while (status == 0 && walk_next(&walk)) {
        for (int i = 0; i < CONDITIONAL; i++) {
            const struct param *param = param_find(conditional[i].name);
            union param_value value = param_get(param, &walk.run);
            effect[i].set = effect[i].set || memcmp(&value, &param->initial, sizeof(value)) != 0;
            effect[i].used = effect[i].used || conditional[i].used(&walk.run);
        }
        lasts = lasts || walk.run.stop_when == STOP_NEVER;
        kept = kept || run_kept_step(&walk.run, walk.run.steps) > 0;
        status = run_check(&walk.run, &at, reader->error);
        if (status < 0)
            position_prefix(reader->error, reader->sweep->path, fault_position(&walk, at));
        else
            status = check_rows(reader, &walk) < 0 ? -1 : check_refined(reader, &walk.run);
    }
    walk_release(&walk);
    for (int i = 0; i < CONDITIONAL && status == 0; i++)
        if (effect[i].set && !effect[i].used)
            status = reader_fault(reader, reader_named(reader->sweep, conditional[i].name)->position,
                "%s: has no effect: no cell has %s", conditional[i].name, conditional[i].needs);
    return status == 0 ? check_states(reader, kept, lasts) : status;
}

int consistent_check(struct reader *reader)
{
    if (check_corpus_keys(reader) < 0 || check_validation_text(reader) < 0 || options_check(reader) < 0 ||
        check_hessian(reader) < 0)
        return -1;
    return check_cells(reader);
}
