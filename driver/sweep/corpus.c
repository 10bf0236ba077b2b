/*
 * Everything about a sweep that depends on the corpus: whether each cell has enough sequences for a batch,
 * how many steps it takes, and so the steps of the dataset.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"
#include "model/corpora/corpora.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"
#include "worker/run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST INT64_C(1000000000000) /* the same as of the parameter `steps` */

/* The position of a key; if it is not given, or NULL, that of `corpus`. */
static struct position key_position(const struct sweep *sweep, const char *name)
{
    const struct spot *corpus = reader_named(sweep, "corpus");
    const struct spot *spot = name ? reader_named(sweep, name) : corpus;

    return spot->given ? spot->position : corpus->position;
}

/* Names the key that causes a fault of the corpus, if there is one. */
static int load_fault(const struct sweep *sweep, enum corpus_fault fault, struct error *error)
{
    static const char *const source_keys[] = {
        "min_count", "vocabulary", "corpus_tokens", "train_share", "corpus_seed"};
    const char *key = NULL;

    for (size_t i = 0; i < sizeof(source_keys) / sizeof(*source_keys) && !key; i++)
        if (strncmp(error->text, source_keys[i], strlen(source_keys[i])) == 0)
            key = source_keys[i];
    if (fault == CORPUS_FAULT_TRAIN || fault == CORPUS_FAULT_VALID) {
        key = key_table[fault == CORPUS_FAULT_TRAIN ? KEY_TRAIN_TEXT : KEY_VALID_TEXT].name;
        if (strncmp(error->text, key, strlen(key)) != 0)
            error_prefix(error, "%s", key);
    }
    return position_prefix(error, sweep->path, key_position(sweep, key));
}

/* Refuses the training text, or the validation text, or else the built-in corpus: "12 sequences of 64 tokens,
 * fewer than one batch of 16"; pairs and sums are counted as such. */
static int refuse_few(const struct sweep *sweep, const struct run *run, enum task task, int64_t count,
    bool valid, struct error *error)
{
    const struct corpus_kind_row *kind = &corpus_kind_table[sweep->base.corpus];
    const char *key = kind->uses & USES_SHARE ? "train_share" : "corpus_tokens", *name = kind->name;
    const char *plural = count == 1 ? "" : "s";
    struct string why = {0};

    if (kind->uses & USES_FILES) {
        key = key_table[valid ? KEY_VALID_TEXT : KEY_TRAIN_TEXT].name;
        name = valid ? sweep->valid_path : sweep->train_path;
    }
    if (task == TASK_PAIR || task == TASK_LAST)
        string_format(&why, "%" PRId64 " %s%s", count, task == TASK_PAIR ? "pair" : "sum", plural);
    else
        string_format(&why, "%" PRId64 " sequence%s of %s%" PRId64 " token%s", count, plural,
            run->sequences == SEQUENCES_LINES ? "up to " : "", run->context, run->context == 1 ? "" : "s");
    if (!valid)
        string_format(&why, ", fewer than one batch of %" PRId64, run->batch);
    position_error(error, sweep->path, key_position(sweep, key), "%s: %s: %s", key, name, string_text(&why));
    string_release(&why);
    return -1;
}

/* Is the network of a cell that of its initial weights? */
static int check_start(const struct walk *walk, const struct corpus *corpus, struct error *error)
{
    const struct sweep *sweep = walk->sweep;
    const struct param *param = param_find("initial_weights");
    const struct position position = cell_position(sweep, walk->index, param);
    const struct architecture architecture = run_architecture(&walk->run, corpus->vocabulary);
    const struct start_weights *start = sweep->starts.file;
    char differs[START_TEXT];

    while (start->name != walk->run.initial_weights)
        start++;
    if (!start->has_output)
        return position_error(error, sweep->path, position,
            "%s: %s: has no output layer, and thus nothing to train on", param->name, start->path);
    if (!start_differs(start, &architecture, differs))
        return 0;
    return position_error(
        error, sweep->path, position, "%s: %s: another network: %s", param->name, start->path, differs);
}

/* Checks one cell against the corpus. */
static int check_cell(
    const struct sweep *sweep, const struct corpus *corpus, const struct walk *walk, struct error *error)
{
    const struct run *run = &walk->run;
    const char *key = run->steps ? "steps" : "epochs";
    struct reading reading = run_reading(run, corpus);
    int64_t count = reading_sequences(&reading, &corpus->train);

    if (run->initial_weights && check_start(walk, corpus, error) < 0)
        return -1;
    if (count < run->batch)
        return refuse_few(sweep, run, reading.task, count, false, error);
    if (corpus->valid.token_count > 0 && reading_sequences(&reading, &corpus->valid) == 0)
        return refuse_few(sweep, run, reading.task, 0, true, error);
    double steps = run->steps ? (double)run->steps : (double)run->epochs * (double)(count / run->batch);
    if (steps > (double)STEPS_MOST)
        return position_error(error, sweep->path, key_position(sweep, key),
            "%s: %.8g steps; the limit is %.8g", key, steps, (double)STEPS_MOST);
    double rows = measure_rows_bound(&sweep->measure, (int64_t)steps);
    if (rows > ROWS_MOST)
        return position_error(error, sweep->path, sweep->spots->key[KEY_MEASURE].position,
            "measure: %.8g measured steps in %.8g; the limit is %d", rows, steps, ROWS_MOST);
    return 0;
}

int sweep_load_corpus(const struct sweep *sweep, struct corpus *corpus, struct error *error)
{
    enum corpus_fault fault;
    struct walk walk;

    if (node_load_corpus(corpus, &sweep->source, &fault, error) < 0)
        return load_fault(sweep, fault, error);
    int status = 0;
    walk_init(&walk, sweep);
    while (status == 0 && walk_next(&walk))
        status = check_cell(sweep, corpus, &walk, error);
    if (status < 0)
        corpus_release(corpus);
    return status;
}

void sweep_print_unknown(const struct corpus *corpus, FILE *out)
{
    double share = corpus_unknown_share(corpus);

    if (!isnan(share))
        fprintf(out, "; %.3g %% of the validation tokens are <unk>", 100 * share);
}

/* Sorts steps and removes duplicates; returns how many are left. */
static int64_t sort_distinct(int64_t *steps, int64_t count)
{
    int64_t kept = 0;

    if (count > 0)
        qsort(steps, (size_t)count, sizeof(*steps), step_compare);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || steps[kept - 1] != steps[i])
            steps[kept++] = steps[i];
    return kept;
}

int64_t *sweep_steps(const struct sweep *sweep, const struct corpus *corpus, int64_t *count)
{
    int64_t room = 64, ends = 0, *last = memory_new((size_t)room, sizeof(*last));
    struct walk walk;

    walk_init(&walk, sweep);
    while (walk_next(&walk)) {
        int64_t step = run_last_step(&walk.run, corpus);
        if (ends > 0 && last[ends - 1] == step) /* as most cells have that of the one before */
            continue;
        /* Of millions of cells, few have steps of their own. */
        if (ends == room) {
            ends = sort_distinct(last, ends);
            room = ends > room / 2 ? 2 * room : room;
            last = memory_grow(last, (size_t)room, sizeof(*last));
        }
        last[ends++] = step;
    }
    ends = sort_distinct(last, ends);
    INVARIANT(ends > 0, "a sweep of %" PRId64 " cells has steps", sweep->cells);
    /* Every run has the rows of the longest run up to its own last step, and a row for that step. */
    int64_t longest = last[ends - 1];
    int64_t rows = measure_rows(&sweep->measure, longest, NULL);
    int64_t *steps = memory_new((size_t)(rows + ends), sizeof(*steps));
    measure_rows(&sweep->measure, longest, steps);
    memcpy(steps + rows, last, (size_t)ends * sizeof(*steps));
    *count = sort_distinct(steps, rows + ends);
    free(last);
    return steps;
}

void sweep_run_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest)
{
    digest_init(digest);
    run_digest(run, digest);
    digest_add(digest, &corpus->digest, sizeof(corpus->digest));
    measure_digest(&sweep->measure, digest);
}

struct run sweep_trunk(const struct run *run)
{
    static const char *const later[] = {"schedule_start", "schedule_end", "schedule_decay"};
    struct run trunk = *run;

    trunk.steps = trunk.epochs = 0;
    if (run->save_weights != SAVE_STATE && run->schedule != SCHEDULE_INVERSE_SQRT) {
        trunk.schedule = SCHEDULE_CONSTANT; /* as all others are until run_kept_step */
        for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
            param_set(param_find(later[i]), &trunk, param_find(later[i])->initial);
    }
    return trunk;
}

void sweep_trunk_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest)
{
    const struct run trunk = sweep_trunk(run);

    sweep_run_digest(sweep, corpus, &trunk, digest);
}

void sweep_digest(const struct sweep *sweep, const struct corpus *corpus, struct digest *digest)
{
    char text[PARAM_TEXT];

    digest_init(digest);
    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        if (axis_find(sweep->axis_count, sweep->axis, param))
            continue;
        digest_add_string(digest, param->name);
        digest_add_string(digest, param_format(param, param_get(param, &sweep->base), text, sizeof(text)));
    }
    for (const struct axis *axis = sweep->axis; axis < sweep->axis + sweep->axis_count; axis++) {
        digest_add_string(digest, axis->name);
        for (int64_t i = 0; i < axis->length; i++) {
            if (axis->label)
                digest_add_string(digest, axis->label[i]);
            for (int64_t p = 0; p < axis->param_count; p++)
                digest_add_string(digest,
                    param_format(axis->param[p], axis->value[p * axis->length + i], text, sizeof(text)));
        }
    }
    digest_add(digest, &corpus->digest, sizeof(corpus->digest));
    measure_digest(&sweep->measure, digest);
}
