/* The file of an open dataset is renamed, replaced or removed by somebody else. */
#include "driver/dataset/dataset.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEDS BASE "seed: [1, 2, 3]\n"

enum { PATH_SIZE = 128 };

static char *path_of(const struct bench *bench, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", bench->folder, name);
    return path;
}

static void put_file(const struct bench *bench, const char *name, const char *text)
{
    char path[PATH_SIZE];
    int file = open(path_of(bench, name, path), O_WRONLY | O_CREAT | O_TRUNC, 0666);

    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
}

static void check_text(const struct bench *bench, const char *name, const char *text)
{
    char path[PATH_SIZE], found[64] = "";
    int file = open(path_of(bench, name, path), O_RDONLY);

    CHECK(file >= 0 && read(file, found, sizeof(found) - 1) >= 0 && close(file) == 0);
    CHECK_TEXT(found, text);
}

static void rename_file(const struct bench *bench, const char *from, const char *to)
{
    char old[PATH_SIZE], new[PATH_SIZE];

    CHECK(rename(path_of(bench, from, old), path_of(bench, to, new)) == 0);
}

/* A dataset with one committed run, and one that waits. */
static bool begin(struct bench *bench)
{
    bench_init(bench);
    if (!bench_opens(bench, SEEDS))
        return false;
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(!dataset_is_displaced(bench->dataset));
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    return true;
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
    bench_release(bench);
}

/* The line begins with the output. `ours`: the file in the folder that has the results; NULL: the line names
 * it before. */
static void check_line(const struct bench *bench, const char *what, const char *ours)
{
    char line[PATH_SIZE + 1024], folder[PATH_MAX];

    CHECK(bench->error.status == ERROR_ENVIRONMENT && realpath(bench->folder, folder) != NULL);
    snprintf(line, sizeof(line), "%s: was %s while its sweep ran", bench->path, what);
    CHECK(strncmp(bench->error.text, line, strlen(line)) == 0);
    snprintf(line, sizeof(line), "; all results are there; to continue, ");
    if (ours)
        snprintf(line, sizeof(line), "; all results are in %.100s/%s; to continue, ", folder, ours);
    CHECK(strstr(bench->error.text, line) != NULL);
}

TEST(dataset_that_is_renamed_stays_where_it_is)
{
    char what[PATH_SIZE + 16], folder[PATH_MAX];
    struct bench bench;

    if (!begin(&bench))
        return;
    rename_file(&bench, "a.nc", "b.nc");
    CHECK(dataset_is_displaced(bench.dataset));
    put_file(&bench, "a.nc", "a stranger");
    CHECK(dataset_is_displaced(bench.dataset));
    for (int i = 0; i < 2; i++) {
        CHECK(dataset_keep(bench.dataset, NULL, &bench.error) == 0);
        CHECK(realpath(bench.folder, folder) != NULL);
        snprintf(what, sizeof(what), "renamed to %.100s/b.nc", folder);
        check_line(&bench, what, NULL);
    }
    CHECK(!bench_exists(&bench, "a.nc.ours"));
    check_text(&bench, "a.nc", "a stranger");
    rename_file(&bench, "b.nc", "a.nc");
    CHECK(dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    CHECK(strstr(bench.error.text,
              ": its path changed while its sweep ran, so the sweep has stopped; all results "
              "are there; run the same command again to continue") != NULL);
    finish(&bench, "a.nc");
}

static void count_breath(void *context)
{
    ++*(int *)context;
}

TEST(dataset_that_is_replaced_is_copied)
{
    int breaths = 0;
    const struct breath breath = {count_breath, &breaths};
    struct bench bench;
    struct stat status;

    if (!begin(&bench))
        return;
    CHECK(chmod(bench.path, 0640) == 0);
    put_file(&bench, "b.nc", "a stranger");
    put_file(&bench, "a.nc.ours", "an earlier copy");
    rename_file(&bench, "b.nc", "a.nc");
    CHECK(dataset_is_displaced(bench.dataset));
    CHECK(dataset_keep(bench.dataset, &breath, &bench.error) == 0 && breaths > 0);
    check_line(&bench, "replaced by another file", "a.nc.ours.1");
    breaths = 0;
    CHECK(dataset_keep(bench.dataset, &breath, &bench.error) == 0 && breaths == 0);
    check_line(&bench, "replaced by another file", "a.nc.ours.1");
    check_text(&bench, "a.nc", "a stranger");
    check_text(&bench, "a.nc.ours", "an earlier copy");
    char path[PATH_SIZE];
    CHECK(unlink(path_of(&bench, "a.nc.ours", path)) == 0);
    CHECK(stat(path_of(&bench, "a.nc.ours.1", path), &status) == 0 && (status.st_mode & 0777) == 0640);
    finish(&bench, "a.nc.ours.1");
}

/* What cannot be copied now can be later, and leaves nothing behind. */
TEST(dataset_that_is_removed_is_copied_as_soon_as_that_succeeds)
{
    static const struct failing_kind causes[] = {
        {"pwrite", ENOSPC}, {"pread", EIO}, {"fsync", EIO}, {"open", EACCES}, {"renameat2", EROFS}};
    struct bench bench;
    char path[PATH_SIZE], text[512];

    if (!begin(&bench))
        return;
    CHECK(unlink(bench.path) == 0);
    CHECK(dataset_is_displaced(bench.dataset));
    for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
        CHECK(dataset_flush(bench.dataset, &bench.error) == 0);
        failing_next(causes[i].calls, causes[i].cause);
        CHECK(dataset_keep(bench.dataset, NULL, &bench.error) != 0);
        CHECK(failing_end());
        snprintf(text, sizeof(text), "%s: was removed while its sweep ran, and its results cannot be copied",
            bench.path);
        CHECK(strncmp(bench.error.text, text, strlen(text)) == 0);
        CHECK(strstr(bench.error.text, strerror(causes[i].cause)) != NULL);
        CHECK(rmdir(bench.folder) == 0 && mkdir(bench.folder, 0700) == 0); /* it is empty */
    }
    CHECK(dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    check_line(&bench, "removed", "a.nc.ours");
    CHECK(access(path_of(&bench, "a.nc.ours", path), F_OK) == 0);
    finish(&bench, "a.nc.ours");
}

/* Rows that the disk does not take are written to the copy. */
TEST(dataset_copy_has_what_could_not_be_written)
{
    struct bench bench;

    if (!begin(&bench))
        return;
    CHECK(unlink(bench.path) == 0);
    failing_next("pwrite", EIO);
    CHECK(dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    CHECK(failing_end());
    finish(&bench, "a.nc.ours");
}

TEST(dataset_is_not_displaced_where_that_is_unknown)
{
    struct bench bench;

    if (!begin(&bench))
        return;
    CHECK(unlink(bench.path) == 0);
    failing_next("stat", EIO);
    failing_next("stat", ESTALE);
    CHECK(!dataset_is_displaced(bench.dataset));
    CHECK(failing_end());
    CHECK(dataset_is_displaced(bench.dataset));
    CHECK(dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    finish(&bench, "a.nc.ours");
}

/* The output is a link: the copy lies beside the file, and the line says so. */
TEST(dataset_behind_a_link_is_found_or_copied)
{
    char link[PATH_SIZE], folder[PATH_MAX], text[PATH_MAX];
    struct bench bench;

    if (!begin(&bench))
        return;
    bench_close(&bench);
    rename_file(&bench, "a.nc", "b.nc");
    CHECK(symlink("b.nc", bench.path) == 0 && realpath(bench.folder, folder) != NULL);
    if (!bench_opens(&bench, SEEDS))
        return;
    CHECK(!dataset_is_displaced(bench.dataset));
    CHECK(unlink(bench.path) == 0);
    CHECK(dataset_is_displaced(bench.dataset) && dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    snprintf(text, sizeof(text), "led away from %.100s/b.nc", folder);
    check_line(&bench, text, NULL);
    CHECK(symlink("b.nc", bench.path) == 0 && unlink(path_of(&bench, "b.nc", link)) == 0);
    CHECK(dataset_is_displaced(bench.dataset) && dataset_keep(bench.dataset, NULL, &bench.error) == 0);
    check_line(&bench, "removed", "b.nc.ours");
    CHECK(unlink(bench.path) == 0);
    bench_write_run(&bench, 1, OUTCOME_DONE, 1000);
    finish(&bench, "b.nc.ours");
}

/* Between the steps of a start no process has the file. A start that has had it makes no other, and writes to
 * no other. */
TEST(dataset_that_a_start_knows_is_not_made_again)
{
    struct output_file known = {0}, unseen = {0};
    const struct dataset_options of_it = {.known = &known}, of_any = {.known = &unseen};
    char copy[PATH_SIZE], shell[3 * PATH_SIZE], line[PATH_SIZE + 256];
    struct bench bench;
    struct stat status;

    bench_init(&bench);
    if (!bench_opens(&bench, SEEDS))
        return;
    bench_close(&bench);
    CHECK(stat(bench.path, &status) == 0);
    known = (struct output_file){(long long)status.st_dev, (long long)status.st_ino};
    CHECK(bench_open(&bench, SEEDS, &of_it) == 0);
    bench_close(&bench);
    rename_file(&bench, "a.nc", "b.nc");
    for (int i = 0; i < 2; i++) {
        CHECK(bench_open(&bench, SEEDS, i ? &of_any : &of_it) == -1);
        snprintf(line, sizeof(line),
            "%s: was renamed or removed while its sweep ran, so the sweep has stopped; to continue, put it "
            "back and run the same command again",
            bench.path);
        CHECK(bench.error.status == ERROR_ENVIRONMENT);
        CHECK_TEXT(bench.error.text, line);
        CHECK(!bench_exists(&bench, "a.nc") && !bench_exists(&bench, "a.nc.new"));
    }
    snprintf(shell, sizeof(shell), "cp %s %s", path_of(&bench, "b.nc", copy), bench.path);
    CHECK(system(shell) == 0);
    CHECK(bench_open(&bench, SEEDS, &of_it) == -1);
    CHECK(strstr(bench.error.text, ": was replaced by another file while its sweep ran") != NULL);
    CHECK(bench_open(&bench, SEEDS, &of_any) == 0);
    bench_close(&bench);
    rename_file(&bench, "b.nc", "a.nc");
    CHECK(bench_open(&bench, SEEDS, &of_it) == 0);
    bench_close(&bench);
    bench_release(&bench);
}
