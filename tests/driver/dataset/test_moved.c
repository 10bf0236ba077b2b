/* The file of an open dataset is renamed, replaced or removed by somebody else. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define SEEDS BASE "seed: [1, 2, 3]\n"

static void rename_file(const struct bench *bench, const char *from, const char *to)
{
    char old[BENCH_PATH], new[BENCH_PATH];

    CHECK(rename(bench_path(bench, from, old), bench_path(bench, to, new)) == 0);
}

/* A dataset with one committed run, and one that waits. */
static void begin(struct bench *bench)
{
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(!dataset_is_moved(bench->dataset));
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
}

/* Commits the run that waits and another one, and closes the dataset. All three are in the file `name`. */
static void finish(struct bench *bench, const char *name)
{
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_write_run(bench, 2, OUTCOME_DIVERGED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    dataset_close(bench->dataset, &bench->error);
    if (strcmp(name, "a.nc") != 0)
        rename_file(bench, name, "a.nc");
    for (int64_t cell = 0; cell < 3; cell++) {
        CHECK(bench_read_value(bench, "outcome", cell) == (cell < 2 ? OUTCOME_DONE : OUTCOME_DIVERGED));
        CHECK(bench_count_wrong(bench, METRIC_tensor_norm, cell) == 0);
    }
    bench->dataset = NULL;
    bench_close(bench);
}

/* The line begins with the output. `ours`: the file in the folder that has the results; NULL: the line names
 * it before. */
static void check_line(const struct bench *bench, const char *what, const char *ours)
{
    char line[BENCH_PATH + 1024], folder[PATH_MAX];

    CHECK(bench->error.status == ERROR_ENVIRONMENT && realpath(bench->folder, folder) != NULL);
    snprintf(line, sizeof(line), "%s: was %s while its sweep ran", bench->path, what);
    CHECK(strncmp(bench->error.text, line, strlen(line)) == 0);
    snprintf(line, sizeof(line), "; all results are there; to continue, ");
    if (ours)
        snprintf(line, sizeof(line), "; all results are in %.100s/%s; to continue, ", folder, ours);
    CHECK(strstr(bench->error.text, line) != NULL);
}

IN_BENCH(dataset_that_is_renamed_stays_where_it_is, SEEDS)
{
    char what[BENCH_PATH + 16], folder[PATH_MAX];

    begin(bench);
    rename_file(bench, "a.nc", "b.nc");
    CHECK(dataset_is_moved(bench->dataset));
    bench_put(bench, "a.nc", "a stranger", 10);
    CHECK(dataset_is_moved(bench->dataset));
    for (int i = 0; i < 2; i++) {
        CHECK(dataset_keep(bench->dataset, NULL, &bench->error) == 0);
        CHECK(realpath(bench->folder, folder) != NULL);
        snprintf(what, sizeof(what), "renamed to %.100s/b.nc", folder);
        check_line(bench, what, NULL);
    }
    CHECK(!bench_exists(bench, "a.nc.ours"));
    bench_check_text(bench, "a.nc", "a stranger");
    rename_file(bench, "b.nc", "a.nc");
    CHECK(dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    CHECK(strstr(bench->error.text,
              ": its path changed while its sweep ran, so the sweep has stopped; all results "
              "are there; run the same command again to continue") != NULL);
    finish(bench, "a.nc");
}

static void count_breath(void *context)
{
    ++*(int *)context;
}

IN_BENCH(dataset_that_is_replaced_is_copied, SEEDS)
{
    int breaths = 0;
    const struct breath breath = {count_breath, &breaths};
    struct stat status;

    begin(bench);
    CHECK(chmod(bench->path, 0640) == 0);
    bench_put(bench, "b.nc", "a stranger", 10);
    bench_put(bench, "a.nc.ours", "an earlier copy", 15);
    rename_file(bench, "b.nc", "a.nc");
    CHECK(dataset_is_moved(bench->dataset));
    CHECK(dataset_keep(bench->dataset, &breath, &bench->error) == 0 && breaths > 0);
    check_line(bench, "replaced by another file", "a.nc.ours.1");
    breaths = 0;
    CHECK(dataset_keep(bench->dataset, &breath, &bench->error) == 0 && breaths == 0);
    check_line(bench, "replaced by another file", "a.nc.ours.1");
    bench_check_text(bench, "a.nc", "a stranger");
    bench_check_text(bench, "a.nc.ours", "an earlier copy");
    char path[BENCH_PATH];
    CHECK(unlink(bench_path(bench, "a.nc.ours", path)) == 0);
    CHECK(stat(bench_path(bench, "a.nc.ours.1", path), &status) == 0 && (status.st_mode & 0777) == 0640);
    finish(bench, "a.nc.ours.1");
}

/* What cannot be copied now can be later, and leaves nothing behind. */
IN_BENCH(dataset_that_is_removed_is_copied_as_soon_as_that_succeeds, SEEDS)
{
    static const struct failing_kind causes[] = {
        {"pwrite", ENOSPC}, {"pread", EIO}, {"fsync", EIO}, {"open", EACCES}, {"renameat2", EROFS}};
    char path[BENCH_PATH], text[512];

    begin(bench);
    CHECK(unlink(bench->path) == 0);
    CHECK(dataset_is_moved(bench->dataset));
    for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
        CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
        failing_next(causes[i].calls, causes[i].cause);
        CHECK(dataset_keep(bench->dataset, NULL, &bench->error) != 0);
        CHECK(failing_end());
        snprintf(text, sizeof(text), "%s: was removed while its sweep ran, and its results cannot be copied",
            bench->path);
        CHECK(strncmp(bench->error.text, text, strlen(text)) == 0);
        CHECK(strstr(bench->error.text, strerror(causes[i].cause)) != NULL);
        CHECK(rmdir(bench->folder) == 0 && mkdir(bench->folder, 0700) == 0); /* it is empty */
    }
    CHECK(dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    check_line(bench, "removed", "a.nc.ours");
    CHECK(access(bench_path(bench, "a.nc.ours", path), F_OK) == 0);
    finish(bench, "a.nc.ours");
}

/* Rows that the disk does not take are written to the copy. */
IN_BENCH(dataset_copy_has_what_could_not_be_written, SEEDS)
{
    begin(bench);
    CHECK(unlink(bench->path) == 0);
    failing_next("pwrite", EIO);
    CHECK(dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    CHECK(failing_end());
    finish(bench, "a.nc.ours");
}

IN_BENCH(dataset_is_not_moved_where_that_is_unknown, SEEDS)
{
    begin(bench);
    CHECK(unlink(bench->path) == 0);
    failing_next("stat", EIO);
    failing_next("stat", ESTALE);
    CHECK(!dataset_is_moved(bench->dataset));
    CHECK(failing_end());
    CHECK(dataset_is_moved(bench->dataset));
    CHECK(dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    finish(bench, "a.nc.ours");
}

/* The output is a link: the copy lies beside the file, and the line says so. */
IN_BENCH(dataset_behind_a_link_is_found_or_copied, SEEDS)
{
    char link[BENCH_PATH], folder[PATH_MAX], text[PATH_MAX];

    begin(bench);
    bench_close(bench);
    rename_file(bench, "a.nc", "b.nc");
    CHECK(symlink("b.nc", bench->path) == 0 && realpath(bench->folder, folder) != NULL);
    if (!bench_opens(bench, SEEDS))
        return;
    CHECK(!dataset_is_moved(bench->dataset));
    CHECK(unlink(bench->path) == 0);
    CHECK(dataset_is_moved(bench->dataset) && dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    snprintf(text, sizeof(text), "led away from %.100s/b.nc", folder);
    check_line(bench, text, NULL);
    CHECK(symlink("b.nc", bench->path) == 0 && unlink(bench_path(bench, "b.nc", link)) == 0);
    CHECK(dataset_is_moved(bench->dataset) && dataset_keep(bench->dataset, NULL, &bench->error) == 0);
    check_line(bench, "removed", "b.nc.ours");
    CHECK(unlink(bench->path) == 0);
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    finish(bench, "b.nc.ours");
}

/* Between the steps of a start no process has the file. A start that has had it makes no other, and writes to
 * no other. */
IN_BENCH(dataset_that_a_start_knows_is_not_made_again, SEEDS)
{
    struct output_file known = {0}, unseen = {0};
    const struct dataset_options of_it = {.known = &known}, of_any = {.known = &unseen};
    char copy[BENCH_PATH], shell[3 * BENCH_PATH], line[BENCH_PATH + 256];
    struct stat status;

    bench_close(bench);
    CHECK(stat(bench->path, &status) == 0);
    known = (struct output_file){(long long)status.st_dev, (long long)status.st_ino};
    CHECK(bench_open(bench, SEEDS, &of_it) == 0);
    bench_close(bench);
    rename_file(bench, "a.nc", "b.nc");
    for (int i = 0; i < 2; i++) {
        CHECK(bench_open(bench, SEEDS, i ? &of_any : &of_it) == -1);
        snprintf(line, sizeof(line),
            "%s: was renamed or removed while its sweep ran, so the sweep has stopped; to continue, put it "
            "back and run the same command again",
            bench->path);
        CHECK(bench->error.status == ERROR_ENVIRONMENT);
        CHECK_TEXT(bench->error.text, line);
        CHECK(!bench_exists(bench, "a.nc") && !bench_exists(bench, "a.nc.new"));
    }
    char away[BENCH_PATH + 8];
    snprintf(away, sizeof(away), "%s.away", bench->folder);
    CHECK(rename(bench->folder, away) == 0);
    CHECK(bench_open(bench, SEEDS, &of_it) == -1 && bench->error.status == ERROR_ENVIRONMENT);
    CHECK_TEXT(bench->error.text, line);
    CHECK(rename(away, bench->folder) == 0);
    snprintf(shell, sizeof(shell), "cp %s %s", bench_path(bench, "b.nc", copy), bench->path);
    CHECK(system(shell) == 0);
    CHECK(bench_open(bench, SEEDS, &of_it) == -1);
    CHECK(strstr(bench->error.text, ": was replaced by another file while its sweep ran") != NULL);
    CHECK(bench_open(bench, SEEDS, &of_any) == 0);
    bench_close(bench);
    rename_file(bench, "b.nc", "a.nc");
    CHECK(bench_open(bench, SEEDS, &of_it) == 0);
}
