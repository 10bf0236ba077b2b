/* Sweep files that are read: their keys, lists, grid, skipped cells, settings, steps. */
#include "tests/test.h"

#include "driver/sweep/inside.h"

#define BASE "corpus: markov\nsteps: 10\n"

/* Reads a sweep that must be valid; otherwise fails the test and returns false. */
static bool parse(struct sweep *sweep, const char *text, const char *const *settings, int count)
{
    struct error error;

    if (sweep_parse(sweep, "sweep.yaml", "folder", text, strlen(text), settings, count, &error) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

/* A test of the sweep of a text. */
#define IN_SWEEP(id, text)                                                                                   \
    static void in_sweep_##id(struct sweep *sweep);                                                          \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        struct sweep sweep;                                                                                  \
        if (!parse(&sweep, text, NULL, 0))                                                                   \
            return;                                                                                          \
        in_sweep_##id(&sweep);                                                                               \
        sweep_release(&sweep);                                                                               \
    }                                                                                                        \
    static void in_sweep_##id(struct sweep *sweep)

/* Compares an axis of reals with values that end with NaN. */
static void check_reals(const struct axis *axis, const double *expected)
{
    int64_t count = 0;

    while (!isnan(expected[count]))
        count++;
    CHECK(axis->length == count);
    for (int64_t i = 0; i < count && i < axis->length; i++)
        CHECK_CLOSE(axis->value[i].real, expected[i], 0);
}

IN_SWEEP(sweep_defaults, "steps: 10\ntrain_text: words.txt\n")
{
    for (size_t i = 0; i < param_count; i++)
        if (strcmp(param_table[i].name, "steps") != 0)
            CHECK(param_get(&param_table[i], &sweep->base).integer == param_table[i].initial.integer);
    CHECK(sweep->base.steps == 10);
    CHECK(sweep->axis_count == 0 && sweep->cells == 1 && sweep->skipped == 0);
    CHECK_TEXT(sweep->title, "");
    CHECK_TEXT(sweep->output, "sweep.nc");
    CHECK_TEXT(sweep->train_path, "folder/words.txt");
    CHECK(sweep->valid_path == NULL && sweep->source.train_path == sweep->train_path);
    CHECK(sweep->measure.every == MEASURE_EVERY_DEFAULT && sweep->measure.step_count == 0);
    CHECK(sweep->measure.validate_every == VALIDATE_END);
    CHECK(sweep->measure.validate_tokens == VALIDATE_TOKENS_DEFAULT && sweep->measure.gradient_batches == 10);
    CHECK_CLOSE(sweep->checkpoint_minutes, 5, 0);
}

IN_SWEEP(sweep_keys,
    "title: Norm growth\noutput: ../out/a.nc\ntrain_text: /data/t\nvalid_text: v\nepochs: 2\n"
    "bias: False\nnorm_placement: 'out'\ncontext: 1e2\nbatch: 32.0\nlearning_rate: 1e-3\n"
    "weight_decay: +.5E+1\nseed: -7\nmeasure: {steps: [10, 0, 5], metrics: []}\n"
    "validate: {every: 20, tokens: all}\ncheckpoint_minutes: 0.5\n")
{
    CHECK_TEXT(sweep->title, "Norm growth");
    CHECK_TEXT(sweep->output, "../out/a.nc");
    CHECK_TEXT(sweep->train_path, "/data/t");
    CHECK_TEXT(sweep->valid_path, "folder/v");
    CHECK(sweep->base.epochs == 2 && sweep->base.steps == 0 && sweep->base.bias == 0);
    CHECK(sweep->base.norm_placement == NORM_OUT && sweep->base.context == 100 && sweep->base.batch == 32);
    CHECK_CLOSE(sweep->base.learning_rate, 1e-3, 0);
    CHECK_CLOSE(sweep->base.weight_decay, 5, 0);
    CHECK(sweep->base.seed == -7);
    CHECK(sweep->measure.every == 0 && sweep->measure.step_count == 3);
    CHECK(sweep->measure.steps[0] == 0 && sweep->measure.steps[1] == 5 && sweep->measure.steps[2] == 10);
    CHECK(sweep->measure.group[GROUP_ALWAYS] && !sweep->measure.group[GROUP_NORMS]);
    CHECK(sweep->measure.validate_every == 20 && sweep->measure.validate_tokens == VALIDATE_ALL);
    CHECK_CLOSE(sweep->checkpoint_minutes, 0.5, 0);
}

/* Words that are also booleans have all spellings of booleans. */
TEST(sweep_words_that_are_booleans)
{
    static const struct {
        const char *text;
        int64_t value;
    } written[] = {{"save_weights: True\n", SAVE_WEIGHTS}, {"save_weights: TRUE\n", SAVE_WEIGHTS},
        {"save_weights: true\n", SAVE_WEIGHTS}, {"save_weights: False\n", SAVE_NOTHING},
        {"save_weights: FALSE\n", SAVE_NOTHING}, {"save_weights: false\n", SAVE_NOTHING},
        {"save_weights: state\n", SAVE_STATE}};
    struct sweep sweep;
    char text[64];

    for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
        snprintf(text, sizeof(text), "steps: 10\ncorpus: markov\n%s", written[i].text);
        if (!parse(&sweep, text, NULL, 0))
            continue;
        CHECK(sweep.base.save_weights == written[i].value);
        sweep_release(&sweep);
    }
}

TEST(sweep_default_output)
{
    const char *const names[][2] = {{"a/b/phase.yaml", "phase.nc"}, {"phase.yml", "phase.nc"},
        {"a.b.yaml", "a.b.nc"}, {"plain", "plain.nc"}, {"out.nc", "out.nc.nc"}, {".yaml", ".yaml.nc"}};
    struct error error;
    struct sweep sweep;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (sweep_parse(&sweep, names[i][0], NULL, BASE, strlen(BASE), NULL, 0, &error) < 0) {
            test_fail(__FILE__, __LINE__, "%s", error.text);
            continue;
        }
        CHECK_TEXT(sweep.output, names[i][1]);
        sweep_release(&sweep);
    }
}

/* The paper's diagram: 20 values from 1e-1 to 1e-5, the decades of a shorter list among them exactly. */
IN_SWEEP(sweep_log_lists,
    BASE "learning_rate: {log: [1e-1, 1e-5], points: 20}\n"
         "weight_decay: {log: [1e-1, 1e-5], points: 5, plus: [0, 30]}\n"
         "epsilon: {log: [1e-12, 1e-3], points: 10}\nmomentum: {log: [0.3, 0.0003], points: 4}\n"
         "width: {log: [64, 1024], points: 5}\n"
         "gradient_clip: {log: [0.12345678901234567, 3e-300], points: 3}\n")
{
    char text[64];

    CHECK(sweep->axis[0].length == 20);
    for (int64_t i = 0; i < 20; i++) {
        double value = sweep->axis[0].value[i].real;
        CHECK_CLOSE(value / pow(10, -1 - 4 * (double)i / 19), 1, 1e-11);
        snprintf(text, sizeof(text), "%.11e", value);
        CHECK_CLOSE(strtod(text, NULL), value, 0);
    }
    CHECK_CLOSE(sweep->axis[0].value[0].real, 1e-1, 0);
    CHECK_CLOSE(sweep->axis[0].value[19].real, 1e-5, 0);
    check_reals(&sweep->axis[1], (double[]){30, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 0, NAN});
    check_reals(
        &sweep->axis[2], (double[]){1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, NAN});
    check_reals(&sweep->axis[3], (double[]){0.3, 0.03, 0.003, 0.0003, NAN});
    for (int64_t i = 0; i < 5; i++)
        CHECK(sweep->axis[4].value[i].integer == 64 << i);
    CHECK_CLOSE(sweep->axis[5].value[0].real, 0.12345678901234567, 0); /* both ends stay exact */
    CHECK_CLOSE(sweep->axis[5].value[2].real, 3e-300, 0);
}

IN_SWEEP(sweep_range_lists,
    BASE "weight_decay: {range: [0, 1], points: 11}\ngradient_clip: {range: [3, 1]}\n"
         "momentum: {range: [0.1, 0.3], points: 3}\n"
         "seed: {range: [-1, 2], plus: [9223372036854775807]}\nlayers: {range: [2, 8], points: 4}\n")
{
    check_reals(&sweep->axis[0], (double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, NAN});
    check_reals(&sweep->axis[1], (double[]){3, 2, 1, NAN});
    check_reals(&sweep->axis[2], (double[]){0.1, 0.2, 0.3, NAN});
    const int64_t seeds[] = {-1, 0, 1, 2, INT64_MAX};
    CHECK(sweep->axis[3].length == 5);
    for (int64_t i = 0; i < 5; i++)
        CHECK(sweep->axis[3].value[i].integer == seeds[i]);
    CHECK(sweep->axis[4].length == 4 && sweep->axis[4].value[1].integer == 4);
}

static const char grid[] = BASE "weight_decay: [0.1, 0.2]\n"
                                "together:\n"
                                "  model:\n"
                                "    small: {width: 128, heads: 4}\n"
                                "    large: {heads: 8, width: 256}\n"
                                "  pace:\n"
                                "    slow: {learning_rate: 0.001}\n"
                                "    fast: {learning_rate: 0.1}\n"
                                "norm_placement: [out, pre, post]\n"
                                "seed: {range: [0, 2]}\n";

IN_SWEEP(sweep_grid_order, grid)
{
    const char *const names[] = {"weight_decay", "model", "pace", "norm_placement", "seed"};
    const int64_t lengths[] = {2, 2, 2, 3, 3}, indices[] = {1, 1, 0, 2, 1};
    struct run run;

    CHECK(sweep->axis_count == 5 && sweep->cells == 72);
    for (int axis = 0; axis < 5; axis++) {
        CHECK_TEXT(sweep->axis[axis].name, names[axis]);
        CHECK(sweep->axis[axis].length == lengths[axis]);
    }
    CHECK_TEXT(sweep->axis[1].label[1], "large");
    CHECK(sweep->axis[0].label == NULL && sweep->axis[1].param_count == 2);
    /* (((1 * 2 + 1) * 2 + 0) * 3 + 2) * 3 + 1 */
    for (int axis = 0; axis < 5; axis++)
        CHECK(axis_index(5, sweep->axis, axis, 61) == indices[axis]);
    sweep_cell(sweep, 61, &run);
    CHECK_CLOSE(run.weight_decay, 0.2, 0);
    CHECK(run.width == 256 && run.heads == 8 && run.norm_placement == NORM_POST && run.seed == 1);
    CHECK_CLOSE(run.learning_rate, 0.001, 0);
    CHECK(run.steps == 10 && run.corpus == CORPUS_MARKOV);
}

/* Every cell against its own indices, the definition of row-major order. */
IN_SWEEP(sweep_cells_agree_with_indices, grid)
{
    struct run run;

    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        int64_t again = 0;
        sweep_cell(sweep, cell, &run);
        for (int axis = 0; axis < 5; axis++) {
            const struct axis *row = &sweep->axis[axis];
            int64_t index = axis_index(5, sweep->axis, axis, cell);
            again = again * row->length + index;
            for (int64_t p = 0; p < row->param_count; p++)
                CHECK(param_get(row->param[p], &run).integer == row->value[p * row->length + index].integer);
        }
        CHECK(again == cell);
    }
}

/* Compares the cells that `skip: text` leaves out of the grid with a condition on their runs. */
/* The turns of 5 rates and 3 decays are their indices with 3 and 2 bits reversed; words have none. */
IN_SWEEP(sweep_turns_are_coarse_first,
    BASE "learning_rate: [0.1, 0.2, 0.3, 0.4, 0.5]\nweight_decay: [0, 1, 2]\n"
         "norm_placement: [pre, post]\ntied: [false, true]\nseed: [3, 4]\n")
{
    static const int rate[] = {0, 4, 2, 6, 1}, decay[] = {0, 2, 1};

    CHECK(sweep->cells == 120);
    for (int cell = 0; cell < 120; cell++) {
        int x = rate[cell / 24], y = decay[cell / 8 % 3];
        CHECK(sweep_turn(sweep, cell) == 8 * (cell % 2) + (x > y ? x : y));
    }
}

/* From 64 values on the others follow in the order of the grid. */
IN_SWEEP(sweep_turns_end_with_a_fine_grid, BASE "learning_rate: {log: [1, 1e-5], points: 100}\n")
{
    for (int cell = 0; cell < 100; cell++) {
        int turn = 0;
        for (int bit = 0; bit < 7; bit++)
            turn |= (cell >> bit & 1) << (6 - bit);
        CHECK(sweep_turn(sweep, cell) == (turn < 64 ? turn : 64));
    }
}

static void check_skip(const char *text, bool (*expected)(const struct run *run))
{
    char whole[1024];
    struct sweep sweep;
    struct run run;
    int64_t skipped = 0;

    snprintf(whole, sizeof(whole), "skip: %s\n%s", text, grid);
    if (!parse(&sweep, whole, NULL, 0))
        return;
    for (int64_t cell = 0; cell < sweep.cells; cell++) {
        sweep_cell(&sweep, cell, &run);
        CHECK(sweep_skips(&sweep, cell) == expected(&run));
        skipped += expected(&run);
    }
    CHECK(sweep.skipped == skipped);
    sweep_release(&sweep);
}

static bool post_and_large(const struct run *run)
{
    return run->norm_placement == NORM_POST && run->width == 256;
}

static bool several(const struct run *run)
{
    return (run->seed > 0 && run->weight_decay == 0.2) ||
           (run->norm_placement != NORM_PRE && run->learning_rate == 0.1 && run->heads == 4);
}

static bool outermost(const struct run *run)
{
    return run->weight_decay == 0.1;
}

static bool nothing(const struct run *run)
{
    return !run;
}

TEST(sweep_skip)
{
    check_skip("[]", nothing);
    check_skip("[{norm_placement: post, model: large}]", post_and_large);
    check_skip("[{norm_placement: [post], model: [large], layers: 2}]", post_and_large);
    check_skip("[{width: 256, heads: [8, 16], norm_placement: post}]", post_and_large);
    check_skip("[{seed: {range: [1, 5]}, weight_decay: [0.3, 0.2]}, "
               "{norm_placement: [out, post], pace: fast, heads: 4}]",
        several);
    check_skip("[{weight_decay: 0.1}]", outermost);
    check_skip("[{weight_decay: 0.10000000005}, {weight_decay: 0.1, seed: 2}]", outermost);
}

/* A skipped cell need not be a valid run. */
IN_SWEEP(sweep_skip_excuses, BASE "width: [64, 96]\nheads: [4, 64]\nskip: [{width: 96, heads: 64}]\n")
{
    CHECK(sweep->cells == 4 && sweep->skipped == 1 && sweep_skips(sweep, 3));
}

TEST(sweep_settings)
{
    const char *const settings[] = {"seed=[5, 6]", "learning_rate={log: [1e-1, 1e-5], points: 6}",
        "weight_decay=[0, 1e-2]", "steps=", "epochs=3", "corpus=text", "train_text=t.txt",
        "valid_text=v/w.txt", "title='a: b'", "output=x=y.nc", "layers=3", "layers=4"};
    struct sweep sweep;

    if (!parse(&sweep,
            BASE "weight_decay: 3\nnorm_placement: [pre, post]\nseed: {range: [0, 2]}\nvalid_text: v\n",
            settings, sizeof(settings) / sizeof(*settings)))
        return;
    /* A list on a key of the file keeps the key's place, a new key goes last. */
    CHECK(sweep.axis_count == 4);
    CHECK_TEXT(sweep.axis[0].name, "weight_decay");
    CHECK_TEXT(sweep.axis[1].name, "norm_placement");
    CHECK_TEXT(sweep.axis[2].name, "seed");
    CHECK_TEXT(sweep.axis[3].name, "learning_rate");
    CHECK(sweep.axis[2].length == 2 && sweep.axis[2].value[1].integer == 6);
    CHECK(sweep.base.steps == 0 && sweep.base.epochs == 3 && sweep.base.layers == 4);
    /* Paths of settings are relative to the current directory, those of the file to its folder. */
    CHECK_TEXT(sweep.train_path, "t.txt");
    CHECK_TEXT(sweep.valid_path, "v/w.txt");
    CHECK_TEXT(sweep.title, "a: b");
    CHECK_TEXT(sweep.output, "x=y.nc");
    CHECK(strstr(sweep.text, "\n# --set seed=[5, 6]\n") != NULL);
    sweep_release(&sweep);
}

TEST(sweep_settings_fix_an_axis)
{
    const char *const settings[] = {"norm_placement=post", "valid_text=null"};
    struct sweep sweep;

    if (!parse(&sweep, "steps: 1\ntrain_text: t\nvalid_text: v\nnorm_placement: [pre, post]\nseed: [1, 2]\n",
            settings, 2))
        return;
    CHECK(sweep.axis_count == 1 && sweep.cells == 2 && sweep.base.norm_placement == NORM_POST);
    CHECK(sweep.valid_path == NULL);
    sweep_release(&sweep);
}

/* A dataset keeps the text of the file, with the settings as comments at the end. */
TEST(sweep_text)
{
    const char *const settings[] = {"seed=[1,\n2]"};
    struct sweep sweep;

    if (!parse(&sweep, "corpus: markov # x\nsteps: 1", settings, 1))
        return;
    CHECK_TEXT(sweep.text, "corpus: markov # x\nsteps: 1\n# --set seed=[1, 2]\n");
    sweep_release(&sweep);
}

IN_SWEEP(sweep_largest_grid, BASE "seed: {range: [1, 10000]}\nlayers: {range: [1, 1000]}\n")
{
    CHECK(sweep->cells == 10000000);
}

/* Every default passes its own row's check, and every word list reads back. */
TEST(sweep_reads_what_the_table_writes)
{
    char text[256], value[64];
    struct sweep sweep;

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        const char *rest =
            strcmp(param->name, "steps") == 0 || strcmp(param->name, "epochs") == 0 ? "" : "steps: 1\n";
        if (strcmp(param->name, "corpus") == 0 || strcmp(param->name, "epochs") == 0)
            continue;
        union param_value first = param->initial;
        if (!rest[0])
            first.integer = 1;
        if (strcmp(param->name, "timescale") == 0) /* 0 is said by leaving it out */
            first.real = 0.5;
        bool built_in = strncmp(param->name, "corpus_", 7) == 0 || strcmp(param->name, "vocabulary") == 0;
        bool share = strcmp(param->name, "train_share") == 0;
        const char *corpus = share ? "corpus: modular\n" : built_in ? "corpus: dyck\n" : "train_text: t\n";
        snprintf(text, sizeof(text), "%s%s%s: %s\n", corpus, rest, param->name,
            param_format(param, first, value, sizeof(value)));
        if (!parse(&sweep, text, NULL, 0))
            continue;
        CHECK(param_get(param, &sweep.base).integer == first.integer);
        sweep_release(&sweep);
    }
}

/* ---- the order of values ---- */

static void check_integers(const struct axis *axis, int64_t count, const int64_t *expected)
{
    CHECK(axis->length == count);
    for (int64_t i = 0; i < count && i < axis->length; i++)
        CHECK(axis->value[i].integer == expected[i]);
}

/* Numbers and truth values ascend, or descend where the list or its rule does; words stay. */
IN_SWEEP(sweep_orders_numbers,
    BASE "learning_rate: [3, 1, 2]\nweight_decay: [3, 2, 0.5]\n"
         "epsilon: {log: [1e-3, 1e-5], points: 3, plus: [1e-2, 3e-4, 1e-9]}\n"
         "momentum: {range: [0.1, 0.3], points: 3, plus: [0.25, 0]}\n"
         "seed: {range: [7, 7], plus: [9, 8]}\nlayers: {range: [3, 2], plus: [1]}\n"
         "bias: [true, false]\ntied: [false, true]\nnorm_placement: [pre, out, post]\n")
{
    check_reals(&sweep->axis[0], (double[]){1, 2, 3, NAN});
    check_reals(&sweep->axis[1], (double[]){3, 2, 0.5, NAN});
    check_reals(&sweep->axis[2], (double[]){1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-9, NAN});
    check_reals(&sweep->axis[3], (double[]){0, 0.1, 0.2, 0.25, 0.3, NAN});
    check_integers(&sweep->axis[4], 3, (int64_t[]){7, 8, 9});
    check_integers(&sweep->axis[5], 3, (int64_t[]){3, 2, 1});
    check_integers(&sweep->axis[6], 2, (int64_t[]){1, 0});
    check_integers(&sweep->axis[7], 2, (int64_t[]){0, 1});
    check_integers(&sweep->axis[8], 3, (int64_t[]){NORM_PRE, NORM_OUT, NORM_POST});
}

/* ---- steps and digests of runs ---- */

IN_SWEEP(sweep_steps_union, "corpus: markov\nsteps: [7, 15, 100]\nseed: [1, 2]\nskip: [{steps: 100}]\n"
                            "measure: {every: 5}\nvalidate: {every: 4}\n")
{
    struct corpus corpus = {0};
    int64_t count = 0;
    const int64_t expected[] = {0, 4, 5, 7, 8, 10, 12, 15};

    int64_t *steps = sweep_steps(sweep, &corpus, &count);
    CHECK(count == 8);
    for (int64_t i = 0; i < 8 && i < count; i++)
        CHECK(steps[i] == expected[i]);
    free(steps);
}

/* Last steps that come again for each rate, more than are kept before they are sorted. */
IN_SWEEP(sweep_steps_repeated, "corpus: markov\nlearning_rate: [1e-3, 1e-2, 1e-1]\nsteps: {range: [1, 200]}\n"
                               "measure: {every: 1000}\n")
{
    struct corpus corpus = {0};
    int64_t count = 0;

    int64_t *steps = sweep_steps(sweep, &corpus, &count);
    CHECK(count == 201);
    for (int64_t i = 0; i < count; i++)
        CHECK(steps[i] == i);
    free(steps);
}

/* Compares the union with rows collected run by run. */
IN_SWEEP(sweep_steps_agree_with_rows,
    "corpus: markov\nsteps: {range: [9, 40]}\nmeasure: {steps: [3, 11, 38, 60]}\n")
{
    struct corpus corpus = {0};
    struct run run;
    int64_t count = 0, rows[64], found = 0;
    bool seen[64] = {false};

    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        sweep_cell(sweep, cell, &run);
        int64_t length = measure_rows(&sweep->measure, run.steps, rows);
        for (int64_t i = 0; i < length; i++)
            seen[rows[i]] = true;
    }
    int64_t *steps = sweep_steps(sweep, &corpus, &count);
    for (int64_t step = 0; step < 64; step++)
        if (seen[step]) {
            CHECK(found < count && steps[found] == step);
            found++;
        }
    CHECK(found == count);
    free(steps);
}

IN_SWEEP(sweep_load_corpus_built_in,
    "corpus: counter\nepochs: [1, 2]\ncorpus_tokens: 4096\ncontext: 16\nbatch: [2, 8]\n")
{
    struct corpus corpus;
    struct error error;

    if (sweep_load_corpus(sweep, &corpus, &error) < 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
    } else {
        int64_t count, *steps = sweep_steps(sweep, &corpus, &count);
        /* 0, 31, 62, 100, 127, 200, 254 */
        CHECK(count == 7 && steps[1] == 4095 / 16 / 8 && steps[6] == 2 * (4095 / 16 / 2));
        free(steps);
        corpus_release(&corpus);
    }
}

/* Two runs have the same digest exactly if nothing that affects their numbers differs. */
TEST(sweep_run_digests)
{
    static const char *const texts[] = {BASE, BASE "seed: 1\n", BASE "measure: {every: 7}\n",
        BASE "measure: {metrics: [norms]}\n", BASE "validate: {tokens: 100}\n", BASE "weight_decay: 0.02\n"};
    struct corpus corpus = {0};
    struct digest digest[6];
    struct sweep sweep;

    for (int i = 0; i < 6; i++) {
        if (!parse(&sweep, texts[i], NULL, 0))
            return;
        sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[i]);
        for (int j = 0; j < i; j++)
            CHECK(memcmp(&digest[i], &digest[j], sizeof(digest[i])) != 0);
        sweep_release(&sweep);
    }
    if (!parse(&sweep, BASE "title: x\noutput: y\ncheckpoint_minutes: 9\nweight_decay: 1.0e-2\nseed: -0\n",
            NULL, 0))
        return;
    sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[1]);
    CHECK(memcmp(&digest[0], &digest[1], sizeof(digest[0])) == 0);
    corpus.digest.low = 1;
    sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[1]);
    CHECK(memcmp(&digest[0], &digest[1], sizeof(digest[0])) != 0);
    sweep_release(&sweep);
}
