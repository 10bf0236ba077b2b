/* An output that exists already is continued, extended or refused. */
#include "tests/driver/dataset/bench.h"

#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"

#include <fcntl.h>
#include <sys/stat.h>

/* How a sweep grows, and the new cells of the two finished runs. */
struct extension {
    const char *before, *after;
    int64_t first, second; /* the new cells of the old cells 0 and 3 */
};

/* The starts of two runs, each killed. Only the second leaves a checkpoint. */
IN_BENCH(dataset_counts_deaths_that_no_coordinator_saw, NULL)
{
    struct digest digest;
    struct run run;
    char folder[128], path[256], name[DIGEST_TEXT];

    snprintf(folder, sizeof(folder), "%s.d", bench->path);
    for (int start = 0; start <= DEATHS_MOST + 1; start++) {
        if (!bench_opens(bench, BASE "seed: [1, 2, 3]\n"))
            return;
        CHECK(dataset_deaths(bench->dataset)[0] == (start < DEATHS_MOST ? start : DEATHS_MOST - 1));
        CHECK(dataset_deaths(bench->dataset)[1] == 0 && dataset_deaths(bench->dataset)[2] == 0);
        CHECK(dataset_outcomes(bench->dataset)[0] == OUTCOME_PENDING);
        for (int64_t cell = 0; cell < 2; cell++)
            CHECK(dataset_start(bench->dataset, cell, "n1", 1, 0, &bench->error) == 0);
        if (start == 0) {
            CHECK(sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0);
            sweep_cell(&bench->sweep, 1, &run);
            sweep_run_digest(&bench->sweep, &bench->corpus, &run, &digest);
            digest_format(&digest, name);
            corpus_release(&bench->corpus);
            snprintf(path, sizeof(path), "%s/%s-000000-000000000001-000000000005.nc", folder, name);
            CHECK(mkdir(folder, 0777) == 0 && close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)) == 0);
        }
        bench_close(bench);
    }
    CHECK(bench_read_value(bench, "attempts", 0) == DEATHS_MOST + 2);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

/* One that failed by its deaths, and is retried, has none. */
IN_BENCH(dataset_forgives_deaths, BASE "seed: [1, 2]\n")
{
    const struct dataset_options retry = {.retry_failed = true};

    bench_write_run(bench, 0, OUTCOME_FAILED, 1000);
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    CHECK(dataset_put_deaths(bench->dataset, 0, DEATHS_MOST, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    CHECK(bench_open(bench, BASE "seed: [1, 2]\n", &retry) == 0);
    CHECK(dataset_deaths(bench->dataset)[0] == 0 && dataset_outcomes(bench->dataset)[0] == OUTCOME_PENDING);
    CHECK(dataset_outcomes(bench->dataset)[1] == OUTCOME_DONE);
    bench_close(bench);
    CHECK(bench_read_value(bench, "deaths", 0) == 0);
}

IN_BENCH(dataset_grows, NULL)
{
    static const struct extension growths[] = {
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n",
            "learning_rate: [0.5, 0.1, 0.05, 0.01]\nseed: [1, 2]\n", 2, 7},
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n", "seed: [1, 2]\nlearning_rate: [0.1, 0.01]\n", 0, 3},
        {"learning_rate: [0.1, 0.01]\nseed: [1, 2]\n", "seed: [2, 3, 1]\nlearning_rate: [0.1, 0.01]\n", 0, 3},
        {"layers: [1, 2]\nseed: [1, 2]\n", "layers: [4, 1, 2]\nseed: [2, 1, 3]\n", 0, 4},
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
        {"heads: [1, 4]\nlayers: [1, 3]\n", "heads: [8, 1, 4]\nlayers: [1, 3, 5]\n", 0, 4},
    };

    for (size_t i = 0; i < sizeof(growths) / sizeof(*growths); i++) {
        const struct extension *growth = &growths[i];
        char before[1024], after[1024];
        const char *base = strstr(growth->before, "steps") ? BASE_WITHOUT_STEPS : BASE;
        snprintf(before, sizeof(before), "%s%s", base, growth->before);
        snprintf(after, sizeof(after), "%s%s", base, growth->after);
        if (!bench_opens(bench, before))
            return;
        bench_write_run(bench, 0, OUTCOME_DONE, 1000);
        bench_write_run(bench, 3, OUTCOME_DIVERGED, 1000);
        CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
        if (!bench_reopens(bench, after))
            return;
        CHECK(!bench_exists(bench, "a.nc.new") && !bench_exists(bench, "a.nc.old"));
        for (int64_t cell = 0; cell < bench->sweep.cells; cell++) {
            enum outcome expected = cell == growth->first    ? OUTCOME_DONE
                                    : cell == growth->second ? OUTCOME_DIVERGED
                                                             : OUTCOME_PENDING;
            if (dataset_outcomes(bench->dataset)[cell] != (signed char)expected)
                test_fail(__FILE__, __LINE__, "growth %zu: cell %lld", i, (long long)cell);
        }
        CHECK(bench_count_wrong(bench, METRIC_param_norm, growth->first) == 0);
        CHECK(bench_count_wrong(bench, METRIC_layer_norm, growth->first) == 0);
        CHECK(bench_count_wrong(bench, METRIC_tensor_norm, growth->first) == 0);
        CHECK(bench_count_wrong(bench, METRIC_tensor_norm, growth->second) == 0);
        CHECK(bench_count_wrong(bench, METRIC_attended_histogram, growth->first) == 0);
        CHECK(bench_count_wrong(bench, METRIC_attended_histogram, growth->second) == 0);
        CHECK_CLOSE(bench_read_value(bench, "diverged_step", growth->second), 7, 0);
        bench_write_run(bench, bench->sweep.cells - 1, OUTCOME_DONE, 1000);
        CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
        CHECK(bench_count_wrong(bench, METRIC_tensor_norm, bench->sweep.cells - 1) == 0);
        bench_close(bench);
        unlink(bench->path);
    }
}

/* Checks the file's title, and a part of its sweep's text. */
static void check_attributes(const struct bench *bench, const char *title, const char *part)
{
    struct error error;
    struct view view;

    CHECK(view_open(&view, bench->path, &error) == 0);
    char *found = view_text(&view, "sweep_title", NULL), *text = view_text(&view, "sweep", NULL);
    CHECK_TEXT(found ? found : "", title);
    CHECK(text && strstr(text, part));
    free(found);
    free(text);
    view_close(&view);
}

IN_BENCH(dataset_leaves_free_what_is_free, BASE "learning_rate: [0.1, 0.01]\nseed: [1, 2]\n")
{
    bench_write_run(bench, 0, OUTCOME_DONE, 100);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    if (!bench_reopens(bench, BASE "checkpoint_minutes: 7\nlearning_rate: [0.1, 0.01]\nseed: [1, 2]\n"
                                   "skip: [{learning_rate: 0.1}]\n"))
        return;
    static const signed char skipping[] = {OUTCOME_DONE, OUTCOME_SKIPPED, OUTCOME_PENDING, OUTCOME_PENDING};
    CHECK(memcmp(dataset_outcomes(bench->dataset), skipping, 4) == 0);
    bench_close(bench);
    check_attributes(bench, "a test", "checkpoint_minutes: 7\n");
    if (!bench_opens(bench, BASE "learning_rate: [0.1, 0.01]\nseed: [1, 2]\n"))
        return;
    CHECK(dataset_outcomes(bench->dataset)[0] == OUTCOME_DONE);
    CHECK(dataset_outcomes(bench->dataset)[1] == OUTCOME_PENDING);
}

/* A new title needs a new header; the same text again leaves the file as it is. */
IN_BENCH(dataset_takes_another_title, BASE "seed: [1, 2]\n")
{
    static const char titled[] = BASE_UNTITLED "steps: 10\ntitle: another\nseed: [1, 2]\n";
    struct stat before, after;

    bench_write_run(bench, 0, OUTCOME_DONE, 100);
    bench_write_run(bench, 1, OUTCOME_DIVERGED, 100);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    if (!bench_reopens(bench, titled))
        return;
    CHECK(dataset_outcomes(bench->dataset)[0] == OUTCOME_DONE);
    CHECK(dataset_outcomes(bench->dataset)[1] == OUTCOME_DIVERGED);
    CHECK(bench_count_wrong(bench, METRIC_tensor_norm, 0) == 0);
    CHECK(bench_count_wrong(bench, METRIC_tensor_norm, 1) == 0);
    CHECK_CLOSE(bench_read_value(bench, "diverged_step", 1), 7, 0);
    bench_close(bench);
    check_attributes(bench, "another", "title: another\n");
    CHECK(!bench_exists(bench, "a.nc.new") && !bench_exists(bench, "a.nc.old"));
    CHECK(stat(bench->path, &before) == 0);
    if (!bench_opens(bench, titled))
        return;
    bench_close(bench);
    CHECK(stat(bench->path, &after) == 0 && before.st_ino == after.st_ino);
}

static void check_refused(struct bench *bench, enum error_status status, const char *why)
{
    char text[1200];

    snprintf(text, sizeof(text), "%s: %s", bench->path, why);
    CHECK(bench_open(bench, BASE, NULL) == -1);
    CHECK(bench->error.status == status);
    CHECK_TEXT(bench->error.text, text);
    CHECK(!bench_exists(bench, "a.nc.new"));
}

IN_BENCH(dataset_refuses_bad_outputs, NULL)
{
    char plain[sizeof(bench->path)];

    bench_put(bench, "a.nc", "", 0);
    check_refused(bench, ERROR_INPUT, "is not a normsweep dataset");
    bench_put(bench, "a.nc", "seven", 5);
    check_refused(bench, ERROR_INPUT, "is not a normsweep dataset");
    bench_put(bench, "a.nc", "CDF\5\0\0\0\0\0\0\0\0\377\377\377\377", 16);
    check_refused(
        bench, ERROR_INPUT, "is cut short at 16 bytes; copy it again, or remove it and begin anew with run");
    unlink(bench->path);
    CHECK(mkdir(bench->path, 0777) == 0);
    check_refused(bench, ERROR_INPUT, "Is a directory");
    CHECK(rmdir(bench->path) == 0);
    CHECK(mkfifo(bench->path, 0666) == 0);
    check_refused(bench, ERROR_INPUT, "is not a normsweep dataset");
    memcpy(plain, bench->path, sizeof(plain));
    snprintf(bench->path, sizeof(bench->path), "%s/none/a.nc", bench->folder);
    check_refused(bench, ERROR_INPUT, "No such file or directory");
    memcpy(bench->path, plain, sizeof(plain));
}

static void check_fresh_refused(struct bench *bench, const char *suffix)
{
    char text[256];

    snprintf(text, sizeof(text), "%s%s: is not a normsweep dataset; give another -o", bench->path, suffix);
    CHECK(bench_open(bench, BASE, &(struct dataset_options){.fresh = true}) == -1);
    CHECK(bench->error.status == ERROR_INPUT);
    CHECK_TEXT(bench->error.text, text);
    CHECK(!bench_exists(bench, "a.nc.new"));
}

IN_BENCH(dataset_fresh_sets_aside_datasets_alone, NULL)
{
    char old[BENCH_PATH];

    bench_put(bench, "a.nc", "a letter", 8);
    check_fresh_refused(bench, "");
    bench_check_text(bench, "a.nc", "a letter");
    unlink(bench->path);
    CHECK(mkfifo(bench->path, 0666) == 0);
    check_fresh_refused(bench, "");
    unlink(bench->path);
    CHECK(!bench_exists(bench, "a.nc.old"));
    if (!bench_opens(bench, BASE))
        return;
    bench_write_run(bench, 0, OUTCOME_DONE, 100);
    bench_close(bench);
    bench_put(bench, "a.nc.old", "a diary", 7);
    check_fresh_refused(bench, ".old");
    bench_check_text(bench, "a.nc.old", "a diary");
    unlink(bench_path(bench, "a.nc.old", old));
    for (int i = 0; i < 2; i++) { /* overwriting a dataset of this program is allowed */
        CHECK(bench_open(bench, BASE "width: 8\n", &(struct dataset_options){.fresh = true}) == 0);
        CHECK(dataset_outcomes(bench->dataset)[0] == OUTCOME_PENDING);
        bench_close(bench);
    }
    CHECK(bench_exists(bench, "a.nc.old") && !bench_exists(bench, "a.nc.new"));
}

IN_BENCH(dataset_is_made_where_a_link_leads, NULL)
{
    char target[128];
    struct stat stat_;

    snprintf(target, sizeof(target), "%s/b.nc", bench->folder);
    CHECK(symlink("b.nc", bench->path) == 0);
    if (!bench_opens(bench, BASE))
        return;
    bench_close(bench);
    CHECK(lstat(bench->path, &stat_) == 0 && S_ISLNK(stat_.st_mode));
    CHECK(lstat(target, &stat_) == 0 && S_ISREG(stat_.st_mode));
    unlink(target);
    unlink(bench->path);
    CHECK(symlink("a.nc", bench->path) == 0); /* a dangling link */
    CHECK(bench_open(bench, BASE, NULL) == -1 && bench->error.status == ERROR_INPUT);
}

IN_BENCH(dataset_refuses_what_is_cut_short, BASE)
{
    struct stat stat_;

    bench_close(bench);
    CHECK(stat(bench->path, &stat_) == 0);
    for (int64_t size = stat_.st_size - 1; size > 0; size = size * 2 / 3) {
        CHECK(truncate(bench->path, size) == 0);
        CHECK(bench_open(bench, BASE, NULL) == -1);
        CHECK(bench->error.status == ERROR_INPUT);
    }
}

/* Changes the bytes of the header one by one; nothing may crash. */
IN_BENCH(dataset_survives_a_spoilt_header, BASE "seed: [1, 2]\n")
{
    int64_t size = 4000;

    bench_close(bench);
    int file = open(bench->path, O_RDWR);
    for (int64_t i = 4; i < size; i += 13) {
        unsigned char byte, spoilt;
        struct view view;
        CHECK(pread(file, &byte, 1, i) == 1);
        spoilt = (unsigned char)(i % 2 ? 0xff : byte ^ (1u << i % 8));
        CHECK(pwrite(file, &spoilt, 1, i) == 1);
        if (view_open(&view, bench->path, &bench->error) == 0)
            view_close(&view);
        CHECK(pwrite(file, &byte, 1, i) == 1);
    }
    close(file);
}
