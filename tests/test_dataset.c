/* The dataset: what is written is read back, by whomever, whatever happens in between. */
#include "tests/test.h"

#include "driver/dataset.h"
#include "driver/layout.h"
#include "driver/view.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Prepended to every sweep of these tests. */
#define BASE                                                                                                 \
    "title: a test\ncorpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nsteps: 10\n"    \
    "measure: {every: 5}\n"

static const struct session this_session = {
    "1.2.3", "abcdef", "a compiler", "a library", "a kernel", "a level", "an MPI", "a host"};

struct bench {
    char folder[64], path[96];
    struct sweep sweep;
    struct corpus corpus;
    struct dataset *dataset;
    struct error error;
};

static void bench_init(struct bench *bench)
{
    *bench = (struct bench){0};
    const char *place = getenv("TMPDIR");
    snprintf(bench->folder, sizeof(bench->folder), "%.40s/normsweep-XXXXXX", place ? place : "/tmp");
    CHECK(mkdtemp(bench->folder) != NULL);
    snprintf(bench->path, sizeof(bench->path), "%s/a.nc", bench->folder);
}

/* Opens the bench's output with a sweep; what goes wrong is in bench->error. */
static int bench_open(struct bench *bench, const char *yaml, const struct dataset_options *options)
{
    static const struct dataset_options none;
    int result = sweep_parse(&bench->sweep, "a.yaml", ".", yaml, strlen(yaml), NULL, 0, &bench->error);

    bench->dataset = NULL;
    if (result != 0)
        return result;
    result = sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error);
    if (result == 0) {
        result = dataset_open(&bench->dataset, bench->path, &bench->sweep, &bench->corpus, &this_session,
            options ? options : &none, &bench->error);
        corpus_release(&bench->corpus);
    }
    if (result != 0)
        sweep_release(&bench->sweep);
    return result;
}

static void bench_close(struct bench *bench)
{
    CHECK(dataset_close(bench->dataset, &bench->error) == 0);
    sweep_release(&bench->sweep);
}

/* Opens, where that has to succeed. */
static bool bench_opens(struct bench *bench, const char *yaml)
{
    if (bench_open(bench, yaml, NULL) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", bench->error.text);
    return false;
}

static void bench_release(struct bench *bench)
{
    const char *names[] = {"a.nc", "a.nc.old", "a.nc.new", "b.nc"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    CHECK(rmdir(bench->folder) == 0);
}

/* A made-up measurement: a function of the run and of what it is, not of where it is stored. */
static double made_up(const struct run *run, int64_t step, size_t index)
{
    return run->learning_rate * 1e6 + (double)run->seed * 1e4 + (double)step + (double)index / 1024;
}

static void write_row(struct bench *bench, int64_t cell, int64_t step, size_t parts)
{
    struct run run;
    sweep_cell(&bench->sweep, cell, &run);
    size_t size = metric_row_size(run.layers);
    double *row = malloc(size * sizeof(*row));

    for (size_t i = 0; i < size; i++)
        row[i] = made_up(&run, step, i);
    for (size_t offset = 0; offset < size; offset += parts) {
        size_t count = size - offset < parts ? size - offset : parts;
        CHECK(dataset_row(bench->dataset, cell, step, row + offset, offset, count, &bench->error) == 0);
    }
    free(row);
}

static struct result made_up_result(const struct run *run, enum outcome outcome)
{
    struct result result = {.outcome = outcome,
        .last_step = run->steps,
        .diverged_step = outcome == OUTCOME_DIVERGED ? 7 : -1,
        .seconds = 2,
        .step_seconds = 1,
        .tokens = 1000};

    for (size_t i = 0; i < metric_run_size(); i++)
        result.values[i] = made_up(run, 0, i);
    if (outcome == OUTCOME_FAILED)
        snprintf(result.reason, sizeof(result.reason), "it rained");
    return result;
}

/* A whole run but for the commit, its rows in parts of `parts` values. */
static void write_run(struct bench *bench, int64_t cell, enum outcome outcome, size_t parts)
{
    struct run run;
    struct result result;

    sweep_cell(&bench->sweep, cell, &run);
    CHECK(dataset_start(bench->dataset, cell, "here", &bench->error) == 0);
    for (int64_t step = 0; step <= run.steps; step += 5)
        write_row(bench, cell, step, parts);
    result = made_up_result(&run, outcome);
    CHECK(dataset_result(bench->dataset, cell, &result, &bench->error) == 0);
}

/* A whole variable of the bench's file; the caller's to free. */
static double *read_variable(
    const struct bench *bench, struct view *view, const char *name, struct view_variable *variable)
{
    struct error error;

    if (view_open(view, bench->path, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return NULL;
    }
    double *values = NULL;
    if (view_find(view, name, variable)) {
        values = malloc((size_t)variable->size * sizeof(*values));
        CHECK(view_read(view, variable, values, &error) == 0);
    }
    CHECK(values != NULL);
    return values;
}

static double read_value(const struct bench *bench, const char *name, int64_t index)
{
    struct view view;
    struct view_variable variable;
    double *values = read_variable(bench, &view, name, &variable);
    double value = values && index < variable.size ? values[index] : -12345;

    free(values);
    view_close(&view);
    return value;
}

/* Counts what is not as made_up has it in one per-step variable of a cell; NaN where no step is. */
static int64_t count_wrong(const struct bench *bench, enum metric metric, int64_t cell)
{
    struct view view;
    struct view_variable variable;
    double *values = read_variable(bench, &view, metric_table[metric].name, &variable);
    struct run run;
    int64_t wrong = 0;

    if (!values)
        return -1;
    sweep_cell(&bench->sweep, cell, &run);
    int64_t block = variable.size / view.cells, per_step = block / view.step_count;
    for (int64_t i = 0; i < block; i++) {
        double value = values[cell * block + i];
        int64_t step = view.step[i / per_step];
        size_t place = (size_t)(i % per_step);
        bool there = step <= run.steps && place < metric_values(metric, run.layers);
        bool right =
            there ? value == made_up(&run, step, metric_offset(metric, run.layers) + place) : isnan(value);
        wrong += !right;
    }
    free(values);
    view_close(&view);
    return wrong;
}

static bool exists(const struct bench *bench, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", bench->folder, name);
    return access(path, F_OK) == 0;
}

TEST(dataset_keeps_what_it_is_given)
{
    static const char yaml[] = BASE "learning_rate: [0.1, 0.01, 0.001]\nseed: [4, 5]\n";
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, yaml))
        return;
    CHECK(!exists(&bench, "a.nc.new"));
    for (int64_t cell = 0; cell < 6; cell++)
        CHECK(dataset_outcomes(bench.dataset)[cell] == OUTCOME_PENDING);
    write_run(&bench, 0, OUTCOME_DONE, 1000);
    write_run(&bench, 3, OUTCOME_DIVERGED, 7);
    write_run(&bench, 5, OUTCOME_FAILED, 1);
    CHECK(dataset_outcomes(bench.dataset)[3] == OUTCOME_RUNNING);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    CHECK(dataset_outcomes(bench.dataset)[3] == OUTCOME_DIVERGED);
    CHECK(dataset_start(bench.dataset, 1, "there", &bench.error) == 0);
    bench_close(&bench);
    if (!bench_opens(&bench, yaml))
        return;
    static const signed char expected[] = {
        OUTCOME_DONE, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_DIVERGED, OUTCOME_PENDING, OUTCOME_FAILED};
    CHECK(memcmp(dataset_outcomes(bench.dataset), expected, sizeof(expected)) == 0);
    static const int64_t written[] = {0, 3, 5};
    for (int i = 0; i < METRIC_COUNT; i++)
        for (int j = 0; j < 3; j++)
            if (metric_table[i].shape != METRIC_PER_RUN)
                CHECK(count_wrong(&bench, i, written[j]) == 0);
    CHECK_CLOSE(read_value(&bench, "norm_growth", 3),
        0.01 * 1e6 + 5e4 + (double)metric_offset(METRIC_norm_growth, 1) / 1024, 0);
    CHECK_CLOSE(read_value(&bench, "tokens_per_second", 0), 1000, 0);
    CHECK_CLOSE(read_value(&bench, "phase", 0), PHASE_GROWING, 0);
    CHECK_CLOSE(read_value(&bench, "phase", 1), PHASE_NONE, 0);
    CHECK_CLOSE(read_value(&bench, "phase", 3), PHASE_DIVERGED, 0);
    CHECK_CLOSE(read_value(&bench, "phase", 5), PHASE_NONE, 0);
    CHECK_CLOSE(read_value(&bench, "diverged_step", 3), 7, 0);
    CHECK(isnan(read_value(&bench, "diverged_step", 0)));
    CHECK_CLOSE(read_value(&bench, "attempts", 1), 1, 0);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(dataset_of_one_run)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE))
        return;
    write_run(&bench, 0, OUTCOME_DONE, 100);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    CHECK(count_wrong(&bench, METRIC_tensor_norm, 0) == 0);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(dataset_wipes_an_earlier_attempt)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE "seed: [1, 2]\n"))
        return;
    CHECK(dataset_start(bench.dataset, 1, "here", &bench.error) == 0);
    write_row(&bench, 1, 5, 1000);
    CHECK(dataset_return(bench.dataset, 1, &bench.error) == 0);
    CHECK(dataset_outcomes(bench.dataset)[1] == OUTCOME_PENDING);
    CHECK(dataset_start(bench.dataset, 1, "there", &bench.error) == 0);
    CHECK(dataset_flush(bench.dataset, &bench.error) == 0);
    for (int64_t i = 0; i < 6; i++)
        CHECK(isnan(read_value(&bench, "param_norm", i)));
    CHECK_CLOSE(read_value(&bench, "attempts", 1), 2, 0);
    bench_close(&bench);
    bench_release(&bench);
}

/* What grows, and where the two finished runs of the first sweep are then found. */
struct growth {
    const char *before, *after;
    int64_t first, second; /* cells after, of cells 0 and 3 before */
};

TEST(dataset_grows)
{
    static const struct growth growths[] = {
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n",
            "learning_rate: [0.5, 0.1, 0.05, 0.01]\nseed: [1, 2]\n", 2, 7},
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n", "seed: [1, 2]\nlearning_rate: [0.1, 0.01]\n", 0, 3},
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n", "seed: [2, 3, 1]\nlearning_rate: [0.1, 0.01]\n", 4, 1},
        {"layers: [1, 2]\nseed: [1, 2]\n", "layers: [4, 1, 2]\nseed: [1, 2]\n", 2, 5},
        {"width: 64\nlearning_rate: [0.1, 0.01]\nseed: [1, 2]\n",
            "width: [32, 64]\nlearning_rate: [0.1, 0.01]\nseed: [1, 2]\n", 4, 7},
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n",
            "learning_rate: [0.1, 0.01]\nseed: [1, 2]\nbias: [false, true]\nnorm_placement: [out, pre]\n", 3,
            15},
        {"steps: [5, 10]\nseed: [1, 2]\n", "steps: [5, 10, 30]\nseed: [1, 2]\n", 0, 3},
        {"together:\n  model:\n    a: {width: 8, heads: 2}\n    b: {width: 16, heads: 4}\nseed: [1, 2]\n",
            "together:\n  model:\n    b: {heads: 4, width: 16}\n    a: {width: 8, heads: 2}\n    "
            "c: {width: 8, heads: 4}\nseed: [1, 2]\n",
            2, 1},
    };

    for (size_t i = 0; i < sizeof(growths) / sizeof(*growths); i++) {
        const struct growth *growth = &growths[i];
        struct bench bench;
        char before[1024], after[1024];
        const char *base = strstr(growth->before, "steps") ? strstr(BASE, "measure") : BASE;
        const char *rest = base == (const char *)BASE
                               ? ""
                               : "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\n";
        snprintf(before, sizeof(before), "%s%s%s", rest, base, growth->before);
        snprintf(after, sizeof(after), "%s%s%s", rest, base, growth->after);
        bench_init(&bench);
        if (!bench_opens(&bench, before))
            return;
        write_run(&bench, 0, OUTCOME_DONE, 1000);
        write_run(&bench, 3, OUTCOME_DIVERGED, 1000);
        CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
        bench_close(&bench);
        if (!bench_opens(&bench, after))
            return;
        CHECK(!exists(&bench, "a.nc.new") && !exists(&bench, "a.nc.old"));
        for (int64_t cell = 0; cell < bench.sweep.cells; cell++) {
            enum outcome expected = cell == growth->first    ? OUTCOME_DONE
                                    : cell == growth->second ? OUTCOME_DIVERGED
                                                             : OUTCOME_PENDING;
            if (dataset_outcomes(bench.dataset)[cell] != (signed char)expected)
                test_fail(__FILE__, __LINE__, "growth %zu: cell %lld", i, (long long)cell);
        }
        CHECK(count_wrong(&bench, METRIC_param_norm, growth->first) == 0);
        CHECK(count_wrong(&bench, METRIC_layer_norm, growth->first) == 0);
        CHECK(count_wrong(&bench, METRIC_tensor_norm, growth->first) == 0);
        CHECK(count_wrong(&bench, METRIC_tensor_norm, growth->second) == 0);
        CHECK_CLOSE(read_value(&bench, "diverged_step", growth->second), 7, 0);
        write_run(&bench, bench.sweep.cells - 1, OUTCOME_DONE, 1000);
        CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
        CHECK(count_wrong(&bench, METRIC_tensor_norm, bench.sweep.cells - 1) == 0);
        bench_close(&bench);
        bench_release(&bench);
    }
}

struct refusal {
    const char *before, *after, *why;
};

TEST(dataset_refuses_another_sweep)
{
    static const struct refusal refusals[] = {
        {"width: 64\n", "width: 128\n", "width is 64 in a.nc and 128 in a.yaml"},
        {"width: 64\nheads: 4\nbias: true\n", "width: 128\nheads: 8\nbias: false\n",
            "width is 64 in a.nc and 128 in a.yaml, heads is 4 in a.nc and 8 in a.yaml, bias is true in a.nc "
            "and "
            "false in a.yaml"},
        {"norm_placement: pre\n", "norm_placement: out\n", "norm_placement is pre in a.nc and out in a.yaml"},
        {"weight_decay: 0.01\n", "weight_decay: 0.1\n", "weight_decay is 0.01 in a.nc and 0.1 in a.yaml"},
        {"learning_rate: [0.1, 0.01, 0.001]\n", "learning_rate: [0.01, 0.2]\n",
            "learning_rate is in a.yaml without 0.1 and 0.001"},
        {"learning_rate: [0.1, 0.01]\n", "learning_rate: 0.1\n",
            "learning_rate is an axis in a.nc and none in a.yaml"},
        {"learning_rate: 0.1\n", "learning_rate: [0.2, 0.01]\n",
            "learning_rate is no axis in a.nc, and what stands there is not on it in a.yaml"},
        {"together: {model: {a: {width: 8, heads: 2}, b: {width: 16, heads: 4}}}\n",
            "together: {model: {a: {width: 8, heads: 4}, b: {width: 16, heads: 4}}}\n",
            "heads of model a is 2 in a.nc and 4 in a.yaml"},
        {"validate: {every: end}\n", "validate: {every: 5, tokens: all}\n",
            "validate is {every: end, tokens: 16384} in a.nc and {every: 5, tokens: all} in a.yaml"},
    };

    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        struct bench bench;
        char before[1024], after[1024], why[1024], found[1024] = "", *at;
        snprintf(before, sizeof(before), "%s%s", BASE, refusals[i].before);
        snprintf(after, sizeof(after), "%s%s", BASE, refusals[i].after);
        bench_init(&bench);
        snprintf(
            why, sizeof(why), "a.nc: holds another sweep: %s; use --fresh or another -o", refusals[i].why);
        if (!bench_opens(&bench, before))
            return;
        bench_close(&bench);
        CHECK(bench_open(&bench, after, NULL) == -1);
        CHECK(bench.error.status == ERROR_INPUT);
        for (const char *text = bench.error.text; *text;) { /* the folder has a random name */
            size_t skip =
                strncmp(text, bench.folder, strlen(bench.folder)) == 0 ? strlen(bench.folder) + 1 : 0;
            text += skip;
            at = found + strlen(found);
            if (!skip)
                at[0] = *text++, at[1] = '\0';
        }
        CHECK_TEXT(found, why);
        bench_release(&bench);
    }
}

TEST(dataset_refuses_other_texts)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE))
        return;
    bench_close(&bench);
    CHECK(bench_open(&bench, BASE "corpus_seed: 3\n", NULL) == -1);
    CHECK(strstr(bench.error.text, "corpus_seed is 0 in ") != NULL);
    CHECK(strstr(bench.error.text, "content") == NULL);
    bench_release(&bench);
}

TEST(dataset_leaves_free_what_is_free)
{
    struct bench bench;
    struct stat before, after;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE "learning_rate: [0.1, 0.01]\nseed: [1, 2]\n"))
        return;
    write_run(&bench, 0, OUTCOME_DONE, 100);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    bench_close(&bench);
    CHECK(stat(bench.path, &before) == 0);
    if (!bench_opens(&bench, BASE "checkpoint_minutes: 7\nlearning_rate: [0.1, 0.01]\nseed: [1, 2]\n"
                                  "skip: [{learning_rate: 0.1}]\n"))
        return;
    static const signed char skipping[] = {OUTCOME_DONE, OUTCOME_SKIPPED, OUTCOME_PENDING, OUTCOME_PENDING};
    CHECK(memcmp(dataset_outcomes(bench.dataset), skipping, 4) == 0);
    bench_close(&bench);
    CHECK(stat(bench.path, &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    if (!bench_opens(&bench, BASE "learning_rate: [0.1, 0.01]\nseed: [1, 2]\n"))
        return;
    CHECK(dataset_outcomes(bench.dataset)[0] == OUTCOME_DONE);
    CHECK(dataset_outcomes(bench.dataset)[1] == OUTCOME_PENDING);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(dataset_options)
{
    static const char yaml[] = BASE "seed: [1, 2]\n";
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, yaml))
        return;
    write_run(&bench, 0, OUTCOME_FAILED, 100);
    write_run(&bench, 1, OUTCOME_DONE, 100);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    bench_close(&bench);
    CHECK(bench_open(&bench, yaml, &(struct dataset_options){.retry_failed = true}) == 0);
    CHECK(dataset_outcomes(bench.dataset)[0] == OUTCOME_PENDING);
    CHECK(dataset_outcomes(bench.dataset)[1] == OUTCOME_DONE);
    bench_close(&bench);
    CHECK(bench_open(&bench, BASE "width: 8\n", &(struct dataset_options){.fresh = true}) == 0);
    CHECK(bench.sweep.cells == 1 && dataset_outcomes(bench.dataset)[0] == OUTCOME_PENDING);
    CHECK(exists(&bench, "a.nc.old") && !exists(&bench, "a.nc.new"));
    bench_close(&bench);
    bench_release(&bench);
}

static void write_text(const struct bench *bench, const char *text, size_t size)
{
    FILE *file = fopen(bench->path, "w");

    CHECK(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

static void check_refused(struct bench *bench, enum error_status status, const char *why)
{
    char text[1200];

    snprintf(text, sizeof(text), "%s: %s", bench->path, why);
    CHECK(bench_open(bench, BASE, NULL) == -1);
    CHECK(bench->error.status == status);
    CHECK_TEXT(bench->error.text, text);
    CHECK(!exists(bench, "a.nc.new"));
}

TEST(dataset_refuses_bad_outputs)
{
    struct bench bench;
    char plain[sizeof(bench.path)];

    bench_init(&bench);
    write_text(&bench, "", 0);
    check_refused(&bench, ERROR_INPUT, "is no dataset of normsweep");
    write_text(&bench, "seven", 5);
    check_refused(&bench, ERROR_INPUT, "is no dataset of normsweep");
    write_text(&bench, "CDF\5\0\0\0\0\0\0\0\0\377\377\377\377", 16);
    check_refused(&bench, ERROR_INPUT, "is no dataset of normsweep");
    unlink(bench.path);
    CHECK(mkdir(bench.path, 0777) == 0);
    check_refused(&bench, ERROR_INPUT, "Is a directory");
    CHECK(rmdir(bench.path) == 0);
    CHECK(mkfifo(bench.path, 0666) == 0);
    check_refused(&bench, ERROR_INPUT, "is no dataset of normsweep");
    memcpy(plain, bench.path, sizeof(plain));
    snprintf(bench.path, sizeof(bench.path), "%s/none/a.nc", bench.folder);
    check_refused(&bench, ERROR_INPUT, "No such file or directory");
    memcpy(bench.path, plain, sizeof(plain));
    bench_release(&bench);
}

TEST(dataset_refuses_what_is_cut_short)
{
    struct bench bench;
    struct stat stat_;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE))
        return;
    bench_close(&bench);
    CHECK(stat(bench.path, &stat_) == 0);
    for (int64_t size = stat_.st_size - 1; size > 0; size = size * 2 / 3) {
        CHECK(truncate(bench.path, size) == 0);
        CHECK(bench_open(&bench, BASE, NULL) == -1);
        CHECK(bench.error.status == ERROR_INPUT);
    }
    bench_release(&bench);
}

/* Bytes of the header overturned one by one: whatever comes of it, no crash. */
TEST(dataset_survives_a_spoilt_header)
{
    struct bench bench;
    int64_t size = 4000;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE "seed: [1, 2]\n"))
        return;
    bench_close(&bench);
    int file = open(bench.path, O_RDWR);
    for (int64_t i = 4; i < size; i += 13) {
        unsigned char byte, spoilt;
        struct view view;
        CHECK(pread(file, &byte, 1, i) == 1);
        spoilt = (unsigned char)(i % 2 ? 0xff : byte ^ (1u << i % 8));
        CHECK(pwrite(file, &spoilt, 1, i) == 1);
        if (view_open(&view, bench.path, &bench.error) == 0)
            view_close(&view);
        CHECK(pwrite(file, &byte, 1, i) == 1);
    }
    close(file);
    bench_release(&bench);
}

TEST(dataset_without_room_leaves_nothing)
{
    struct bench bench;
    int status = -1;

    bench_init(&bench);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {20000, 20000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        int result = bench_open(&bench, BASE "seed: {range: [1, 100]}\n", NULL);
        _exit(result == -1 && bench.error.status == ERROR_ENVIRONMENT ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(!exists(&bench, "a.nc") && !exists(&bench, "a.nc.new"));
    bench_release(&bench);
}

TEST(dataset_has_room_for_many_sessions)
{
    struct bench bench;
    struct view view;

    bench_init(&bench);
    for (int i = 0; i <= SESSIONS_FIRST; i++) {
        if (!bench_opens(&bench, BASE))
            return;
        if (i == 1) {
            write_run(&bench, 0, OUTCOME_DONE, 100);
            CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
        }
        CHECK(dataset_outcomes(bench.dataset)[0] == (i ? OUTCOME_DONE : OUTCOME_PENDING));
        bench_close(&bench);
    }
    CHECK_CLOSE(read_value(&bench, "session", 0), 1, 0);
    CHECK(view_open(&view, bench.path, &bench.error) == 0);
    CHECK(view.sessions == 2 * SESSIONS_FIRST);
    for (int64_t i = 0; i < view.sessions; i++) {
        char *kernel = view_string(&view, "session_blas_kernel", i);
        CHECK_TEXT(kernel, i <= SESSIONS_FIRST ? "a kernel" : "");
        free(kernel);
    }
    view_close(&view);
    bench_release(&bench);
}

TEST(dataset_size_is_the_files)
{
    static const char *const yamls[] = {BASE, BASE "seed: [1, 2]\nlayers: [1, 7]\n",
        BASE
        "learning_rate: {log: [1e-1, 1e-5], points: 20}\nweight_decay: {log: [1e-1, 1e-5], points: 20}\n"};

    for (int i = 0; i < 3; i++) {
        struct bench bench;
        struct stat stat_;
        bench_init(&bench);
        if (!bench_opens(&bench, yamls[i]))
            return;
        CHECK(stat(bench.path, &stat_) == 0);
        CHECK(sweep_load_corpus(&bench.sweep, &bench.corpus, &bench.error) == 0);
        CHECK_CLOSE(dataset_size(&bench.sweep, &bench.corpus), (double)stat_.st_size, 0);
        corpus_release(&bench.corpus);
        bench_close(&bench);
        bench_release(&bench);
    }
}

TEST(dataset_cuts_reasons_between_characters)
{
    struct bench bench;
    struct result result = {.outcome = OUTCOME_FAILED};
    struct view view;

    bench_init(&bench);
    if (!bench_opens(&bench, BASE "seed: [1, 2]\n"))
        return;
    result.reason[0] = '\xff';
    for (int i = 1; i + 2 < REASON_SIZE; i += 2)
        memcpy(result.reason + i, "\xc3\xa4", 2);
    CHECK(dataset_start(bench.dataset, 1, "here", &bench.error) == 0);
    CHECK(dataset_result(bench.dataset, 1, &result, &bench.error) == 0);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    CHECK(view_open(&view, bench.path, &bench.error) == 0);
    char *reason = view_string(&view, "reason", 1);
    result.reason[0] = '?';
    CHECK_TEXT(reason, result.reason);
    free(reason);
    view_close(&view);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(dataset_reserves_its_names)
{
    static const char *const reserved[] = {"step", "layer", "tensor", "sessions", "session", "outcome",
        "phase", "norm_growth", "tensor_norm", "session_start", "string64", "reason"};

    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        CHECK(dataset_reserves(reserved[i]));
    CHECK(!dataset_reserves("model") && !dataset_reserves("string") && !dataset_reserves("strings"));
}

/* Writes run after run until it is killed; *committed: how many are durable. */
static void write_until_killed(struct bench *bench, const char *yaml, volatile int64_t *committed)
{
    if (bench_open(bench, yaml, NULL) != 0)
        _exit(1);
    for (int64_t cell = 0; cell < bench->sweep.cells; cell++) {
        write_run(bench, cell, OUTCOME_DONE, 11);
        if (cell % 3 != 2)
            continue;
        if (dataset_commit(bench->dataset, &bench->error) != 0)
            _exit(1);
        *committed = cell + 1;
    }
    for (;;)
        pause();
}

TEST(dataset_survives_sigkill)
{
    static const char yaml[] = BASE "learning_rate: [0.1, 0.01]\nseed: {range: [1, 60]}\n";
    volatile int64_t *committed =
        mmap(NULL, sizeof(*committed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t most = 0;

    for (int round = 0; round < 12; round++) {
        struct bench bench;
        int status;
        bench_init(&bench);
        *committed = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            write_until_killed(&bench, yaml, committed);
        struct timespec while_ = {0, 1000000L * round * 4 + 3000000};
        nanosleep(&while_, NULL);
        kill(child, SIGKILL);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        if (!bench_opens(&bench, yaml))
            return;
        for (int64_t cell = 0; cell < bench.sweep.cells; cell++) {
            bool done = dataset_outcomes(bench.dataset)[cell] == OUTCOME_DONE;
            CHECK(done || cell >= *committed);
            if (done && cell % 5 == 0)
                CHECK(count_wrong(&bench, METRIC_param_norm, cell) == 0);
            if (done && cell % 5 == 1)
                CHECK_CLOSE(read_value(&bench, "last_step", cell), 10, 0);
        }
        most = *committed > most ? *committed : most;
        bench_close(&bench);
        bench_release(&bench);
    }
    CHECK(most > 0);
    munmap((void *)committed, sizeof(*committed));
}
