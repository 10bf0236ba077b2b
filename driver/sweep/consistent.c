#include "driver/sweep/consistent.h"

#include "driver/sweep/grid.h"
#include "driver/sweep/measuring.h"

static int refuse_idle(struct reader *reader, const struct spot *spot, const char *name)
{
    const char *corpus = param_find("corpus")->words[reader->sweep->base.corpus];

    if (!spot->given)
        return 0;
    return reader_fault(reader, spot->place, "%s: corpus %s does not take it", name, corpus);
}

static int refuse_idle_param(struct reader *reader, const char *name)
{
    return refuse_idle(reader, reader_spot(reader->sweep, param_find(name)), name);
}

/* Each corpus has keys of its own; one that would have no effect is a mistake. */
static int check_corpus_keys(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *key = sweep->places->key;
    enum corpus_kind kind = (enum corpus_kind)sweep->base.corpus;

    if (kind != CORPUS_MARKOV && kind != CORPUS_DYCK && refuse_idle_param(reader, "vocabulary") < 0)
        return -1;
    if (kind == CORPUS_TEXT || kind == CORPUS_BYTES) {
        if (!sweep->train_path)
            return reader_fault(reader, reader_spot(sweep, param_find("corpus"))->place,
                "train_text: missing; corpus %s needs one", param_find("corpus")->words[kind]);
        return refuse_idle_param(reader, "corpus_tokens") < 0 || refuse_idle_param(reader, "corpus_seed") < 0
                   ? -1
                   : 0;
    }
    return refuse_idle(reader, &key[KEY_TRAIN_TEXT], "train_text") < 0 ||
                   refuse_idle(reader, &key[KEY_VALID_TEXT], "valid_text") < 0
               ? -1
               : 0;
}

/* Hours of NaN are no measurement. */
static int check_validation_text(struct reader *reader)
{
    const struct sweep *sweep = reader->sweep;
    const bool *group = sweep->measure.group;
    enum corpus_kind kind = (enum corpus_kind)sweep->base.corpus;

    if ((kind != CORPUS_TEXT && kind != CORPUS_BYTES) || sweep->valid_path)
        return 0;
    for (int i = GROUP_SATURATION; i <= GROUP_HEADS; i++)
        if (group[i])
            return reader_fault(reader, sweep->places->key[KEY_MEASURE].place,
                "measure.metrics: %s needs a valid_text, on whose tokens it is measured",
                metric_group_names[i]);
    return 0;
}

/* Where the value of a parameter in a cell stands: its own place if it was written out, else its key's. */
static struct place cell_place(const struct sweep *sweep, const int64_t *index, const struct param *param)
{
    for (int64_t i = 0; i < sweep->axis_count; i++) {
        const struct axis *axis = &sweep->axis[i];
        for (int64_t p = 0; p < axis->param_count && axis->written; p++)
            if (axis->param[p] == param)
                return axis->written[p * axis->length + index[i]];
    }
    return reader_spot(sweep, param)->place;
}

/* Where to look for a fault between two parameters of which the first may stand nowhere. */
static struct place fault_place(const struct walk *walk, const struct param *at)
{
    static const char *const partners[][2] = {
        {"heads", "width"}, {"width", "layers"}, {"batch", "context"}, {"epochs", "steps"}};

    for (size_t i = 0; i < sizeof(partners) / sizeof(*partners); i++)
        if (!reader_spot(walk->sweep, at)->given && at == param_find(partners[i][0]))
            at = param_find(partners[i][1]);
    return cell_place(walk->sweep, walk->index, at);
}

/* More measured steps than any dataset should hold. */
static int check_rows(struct reader *reader, const struct walk *walk)
{
    const struct sweep *sweep = reader->sweep;
    const struct spot *key = sweep->places->key;
    double rows = measure_rows_bound(&sweep->measure, walk->run.steps);

    if (rows <= ROWS_MOST)
        return 0;
    return reader_fault(reader,
        key[KEY_MEASURE].given ? key[KEY_MEASURE].place : cell_place(sweep, walk->index, param_find("steps")),
        "measure: %.8g measured steps in %lld; at most %d", rows, (long long)walk->run.steps, ROWS_MOST);
}

/* What no key can say alone, for every cell that is not left out. */
static int check_cells(struct reader *reader)
{
    const struct param *at;
    struct walk walk;
    int status = 0;

    if (walk_init(&walk, reader->sweep, reader->error) < 0)
        return -1;
    while (status == 0 && walk_next(&walk)) {
        status = run_check(&walk.run, &at, reader->error);
        if (status < 0)
            place_prefix(reader->error, reader->sweep->path, fault_place(&walk, at));
        else
            status = check_rows(reader, &walk);
    }
    walk_release(&walk);
    return status;
}

int consistent_check(struct reader *reader)
{
    return check_corpus_keys(reader) < 0 || check_validation_text(reader) < 0 ? -1 : check_cells(reader);
}
