/* Values that were written are read back, whatever happens in between. */
#include "tests/driver/dataset/bench.h"

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"

#include <netcdf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static void check_values(const struct bench *bench)
{
    static const int64_t written[] = {0, 3, 5}; /* the last one has failed, and so has no fits */

    for (int i = 0; i < METRIC_COUNT; i++)
        for (int j = 0; j < (strncmp(metric_table[i].name, "fit_", 4) == 0 ? 2 : 3); j++)
            CHECK(metric_is_of_run(i) || metric_table[i].shape == METRIC_PER_STACK_OF_TWO ||
                  bench_count_wrong(bench, i, written[j]) == 0);
    CHECK(isnan(bench_read_value(bench, "norm_growth", 5)));
    CHECK(isnan(bench_read_value(bench, "fit_aligned_norm", 3 * 5)));
    CHECK_CLOSE(bench_read_value(bench, "norm_growth", 3), bench_growth(bench, 3), 0);
    CHECK_CLOSE(bench_read_value(bench, "tokens_per_second", 0), 1000, 0);
    CHECK_CLOSE(bench_read_value(bench, "diverged_step", 3), 7, 0);
    CHECK(isnan(bench_read_value(bench, "diverged_step", 0)));
    CHECK_CLOSE(bench_read_value(bench, "attempts", 1), 1, 0);
}

static void check_phases(const struct bench *bench)
{
    CHECK_CLOSE(bench_read_value(bench, "phase", 0), PHASE_GROWING, 0);
    CHECK_CLOSE(bench_read_value(bench, "phase", 1), PHASE_NONE, 0);
    CHECK_CLOSE(bench_read_value(bench, "phase", 3), PHASE_DIVERGED, 0);
    CHECK_CLOSE(bench_read_value(bench, "phase", 5), PHASE_NONE, 0);
}

#define SIX BASE "learning_rate: [0.1, 0.01, 0.001]\nseed: [4, 5]\n"

IN_BENCH(dataset_keeps_what_it_is_given, SIX)
{
    static const signed char before[] = {
        OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_PENDING};
    static const signed char after[] = {
        OUTCOME_DONE, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_DIVERGED, OUTCOME_PENDING, OUTCOME_FAILED};

    CHECK(!bench_exists(bench, "a.nc.new"));
    CHECK(memcmp(dataset_outcomes(bench->dataset), before, sizeof(before)) == 0);
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    bench_write_run(bench, 3, OUTCOME_DIVERGED, 7);
    bench_write_run(bench, 5, OUTCOME_FAILED, 1);
    CHECK(dataset_outcomes(bench->dataset)[3] == OUTCOME_RUNNING);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(dataset_outcomes(bench->dataset)[3] == OUTCOME_DIVERGED);
    CHECK(dataset_start(bench->dataset, 1, "there", 1, 0, &bench->error) == 0);
    if (!bench_reopens(bench, SIX))
        return;
    CHECK(memcmp(dataset_outcomes(bench->dataset), after, sizeof(after)) == 0);
    check_values(bench);
    check_phases(bench);
}

/* Words of an odd length, and a number of cells that is not a multiple of 8, would shift the values after
 * them. Only coordinates, which are never written again, come behind such variables. */
IN_BENCH(
    dataset_has_its_numbers_at_multiples_of_8, BASE "norm_placement: [out, pre, post]\nseed: [1, 2, 3]\n")
{
    char name[NC_MAX_NAME + 1];
    int file, dimension, count = 0;
    nc_type type;

    char *path;
    CHECK(output_resolve(bench->path, &path) == 0);
    struct extent *extent = NULL;
    int64_t bytes;
    CHECK(layout_check_file(path, &bytes, &extent, &bench->error) == 0 && extent != NULL);
    if (!extent || nc_open(path, NC_NOWRITE, &file) != NC_NOERR) {
        test_fail(__FILE__, __LINE__, "%s cannot be opened", path);
        return;
    }
    CHECK(nc_inq_nvars(file, &count) == NC_NOERR);
    for (int i = 0; i < count; i++)
        if (nc_inq_vartype(file, i, &type) == NC_NOERR && (type == NC_DOUBLE || type == NC_INT64) &&
            extent[i].bytes >= 8 * bench->sweep.cells && nc_inq_varname(file, i, name) == NC_NOERR &&
            nc_inq_dimid(file, name, &dimension) != NC_NOERR)
            CHECK(extent[i].begin % 8 == 0);
    nc_close(file);
    free(extent);
    free(path);
}

static void check_end(struct bench *bench, int64_t cell, bool there, bool fits)
{
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(isnan(bench_read_value(bench, "norm_growth", cell)) == !there);
    CHECK(isnan(bench_read_value(bench, "fit_aligned_k", cell)) == !there);
    for (int64_t row = 0; row < 3; row++) {
        CHECK(isnan(bench_read_value(bench, "fit_aligned_norm", 3 * cell + row)) == !fits);
        CHECK(isnan(bench_read_value(bench, "fit_adam_like_norm", 3 * cell + row)) == !fits);
        CHECK(!isnan(bench_read_value(bench, "param_norm", 3 * cell + row)));
    }
}

/* Its worker may be lost, or fail to save the weights, after it has sent everything. */
IN_BENCH(dataset_has_values_of_a_whole_run_only_once_it_has_ended, BASE "seed: [1, 2, 3]\n")
{
    const struct result failed = {.outcome = OUTCOME_FAILED, .diverged_step = -1, .norm_growth = NAN};
    const struct result done = {.outcome = OUTCOME_DONE, .last_step = 10, .diverged_step = -1};

    for (int64_t cell = 0; cell < 3; cell++) {
        CHECK(dataset_start(bench->dataset, cell, "here", 1, 0, &bench->error) == 0);
        for (int64_t step = 0; step <= 10; step += 5)
            bench_write_row(bench, cell, step, 1000);
        bench_write_row(bench, cell, STEP_OF_RUN, 7);
        check_end(bench, cell, false, true);
    }
    CHECK(dataset_return(bench->dataset, 0, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, 1, &failed, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, 2, &done, &bench->error) == 0);
    check_end(bench, 2, false, true);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    check_end(bench, 0, false, false);
    check_end(bench, 1, false, false);
    check_end(bench, 2, true, true);
    CHECK_CLOSE(bench_read_value(bench, "norm_growth", 2), bench_growth(bench, 2), 0);
    CHECK(dataset_start(bench->dataset, 0, "there", 1, 10, &bench->error) == 0);
    bench_write_row(bench, 0, 10, 1000);
    CHECK(dataset_result(bench->dataset, 0, &done, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(isnan(bench_read_value(bench, "norm_growth", 0)));
}

/* When a run resumes, readers still see its rows at earlier steps. */
IN_BENCH(dataset_keeps_what_comes_again, BASE "seed: [1, 2, 3]\nlayers: 3\n")
{
    static const int64_t from[] = {10, 6, 5, 1, 0};

    CHECK(dataset_session(bench->dataset) == 0);
    for (int64_t cell = 0; cell < 3; cell++)
        bench_write_run(bench, cell, OUTCOME_DONE, 1000);
    for (int64_t i = 0; i < 5; i++) {
        CHECK(dataset_return(bench->dataset, 1, &bench->error) == 0);
        CHECK(dataset_start(bench->dataset, 1, "there", 1, from[i], &bench->error) == 0);
        CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
        for (int64_t row = 0; row < 3; row++)
            CHECK(isnan(bench_read_value(bench, "param_norm", 3 + row)) == (5 * row >= from[i]));
        CHECK_CLOSE(bench_read_value(bench, "attempts", 1), 2 + (double)i, 0);
        for (int64_t cell = 0; cell < 3; cell += 2)
            CHECK(bench_count_wrong(bench, METRIC_tensor_norm, cell) == 0);
    }
}

/* Worker 7 resumes the run of cell 1, and ends it. */
static void end_again(struct bench *bench, const struct result *done)
{
    CHECK(dataset_start(bench->dataset, 1, "here", 7, 5, &bench->error) == 0);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(isnan(bench_read_value(bench, "end", 1)));
    CHECK(dataset_result(bench->dataset, 1, done, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
}

/* Runs of a worker follow each other on the sweep's clock, which goes on from session to session; a run that
 * was started again has the times of its last attempt. */
IN_BENCH(dataset_says_who_trained_what_and_when, BASE "seed: [1, 2, 3]\n")
{
    static const char *const times[] = {"begin", "end"};
    const struct result done = {.outcome = OUTCOME_DONE, .last_step = 10, .diverged_step = -1};
    double first[2], second[2], again[2], session[2];

    CHECK(dataset_start(bench->dataset, 0, "here", 2, 0, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, 0, &done, &bench->error) == 0);
    CHECK(dataset_start(bench->dataset, 1, "there", 2, 0, &bench->error) == 0);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(bench_read_value(bench, "begin", 1) >= 0 && isnan(bench_read_value(bench, "end", 1)));
    CHECK(dataset_return(bench->dataset, 1, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    for (int i = 0; i < 2; i++) {
        first[i] = bench_read_value(bench, times[i], 0);
        second[i] = bench_read_value(bench, times[i], 1);
        CHECK(isnan(bench_read_value(bench, times[i], 2)));
    }
    CHECK(first[0] >= 0 && first[1] > first[0] && second[0] > first[1] && second[1] > second[0]);
    CHECK_CLOSE(bench_read_value(bench, "worker", 1), 2, 0);
    CHECK(isnan(bench_read_value(bench, "worker", 2)));
    CHECK_CLOSE(bench_read_value(bench, "session_end", 0), second[1], 0);
    CHECK(bench_read_value(bench, "session_begin", 0) >= 0 &&
          bench_read_value(bench, "session_begin", 0) <= first[0]);

    if (!bench_reopens(bench, BASE "seed: [1, 2, 3]\n"))
        return;
    end_again(bench, &done);
    for (int i = 0; i < 2; i++) {
        again[i] = bench_read_value(bench, times[i], 1);
        session[i] = bench_read_value(bench, i ? "session_end" : "session_begin", 1);
        CHECK_CLOSE(bench_read_value(bench, times[i], 0), first[i], 0);
    }
    CHECK(session[0] > second[1] && again[0] > session[0] && again[1] > again[0]);
    CHECK_CLOSE(session[1], again[1], 0);
    CHECK_CLOSE(bench_read_value(bench, "worker", 1), 7, 0);
}

/* The clock goes on after the end of the last session, even if that was written by a host whose clock is
 * ahead; a file with more cells keeps it. */
IN_BENCH(dataset_has_a_clock_that_never_goes_back, BASE "seed: [1, 2]\n")
{
    static const double ahead = 1e6;
    const size_t session = 0;
    int file, variable;

    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    CHECK(nc_open(bench->path, NC_WRITE, &file) == NC_NOERR);
    CHECK(nc_inq_varid(file, "session_end", &variable) == NC_NOERR);
    CHECK(nc_put_var1_double(file, variable, &session, &ahead) == NC_NOERR && nc_close(file) == NC_NOERR);
    if (!bench_opens(bench, BASE "seed: [1, 2, 3]\n"))
        return;
    CHECK_CLOSE(bench_read_value(bench, "session_end", 0), ahead, 0);
    double begin = bench_read_value(bench, "session_begin", 1);
    CHECK(begin >= ahead && begin < ahead + 1000);
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(bench_read_value(bench, "begin", 1) >= begin && bench_read_value(bench, "begin", 0) < 1000);
}

IN_BENCH(dataset_has_room_for_many_sessions, NULL)
{
    struct view view;

    for (int i = 0; i <= SESSIONS_FIRST; i++) {
        if (!bench_opens(bench, BASE))
            return;
        if (i == 1) {
            bench_write_run(bench, 0, OUTCOME_DONE, 100);
            CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
        }
        CHECK(dataset_outcomes(bench->dataset)[0] == (i ? OUTCOME_DONE : OUTCOME_PENDING));
        bench_close(bench);
    }
    CHECK_CLOSE(bench_read_value(bench, "session", 0), 1, 0);
    CHECK(view_open(&view, bench->path, &bench->error) == 0);
    CHECK(view.sessions == 2 * SESSIONS_FIRST);
    for (int64_t i = 0; i < view.sessions; i++) {
        char *kernel = view_string(&view, "session_blas_kernel", i, NULL);
        CHECK_TEXT(kernel, i <= SESSIONS_FIRST ? "a kernel" : "");
        free(kernel);
    }
    view_close(&view);
}

IN_BENCH(dataset_size_is_the_files, NULL)
{
    static const char *const yamls[] = {BASE, BASE "seed: [1, 2]\nlayers: [1, 7]\n",
        BASE
        "learning_rate: {log: [1e-1, 1e-5], points: 20}\nweight_decay: {log: [1e-1, 1e-5], points: 20}\n"};

    for (int i = 0; i < 3; i++) {
        struct stat stat_;
        if (!bench_opens(bench, yamls[i]))
            return;
        CHECK(stat(bench->path, &stat_) == 0);
        CHECK(sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0);
        CHECK_CLOSE(dataset_size(&bench->sweep, &bench->corpus), (double)stat_.st_size, 0);
        corpus_release(&bench->corpus);
        bench_close(bench);
        unlink(bench->path);
    }
}

IN_BENCH(dataset_cuts_reasons_between_characters, BASE "seed: [1, 2]\n")
{
    struct result result = {.outcome = OUTCOME_FAILED};
    struct view view;

    result.reason[0] = '\xff';
    for (int i = 1; i + 2 < REASON_SIZE; i += 2)
        memcpy(result.reason + i, "\xc3\xa4", 2);
    CHECK(dataset_start(bench->dataset, 1, "here", 1, 0, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, 1, &result, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(view_open(&view, bench->path, &bench->error) == 0);
    char *reason = view_string(&view, "reason", 1, NULL);
    result.reason[0] = '?';
    CHECK_TEXT(reason, result.reason);
    free(reason);
    view_close(&view);
}

/* A run may fail for lack of memory before its first step. */
IN_BENCH(dataset_counts_an_attempt_of_a_run_that_never_began, BASE "seed: [1, 2]\n")
{
    const struct result result = {.outcome = OUTCOME_FAILED, .reason = "no memory"};

    CHECK(dataset_result(bench->dataset, 1, &result, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    CHECK(bench_read_value(bench, "attempts", 1) == 1);
    CHECK(bench_opens(bench, BASE "seed: [1, 2]\n"));
}

TEST(dataset_reserves_its_names)
{
    static const char *const reserved[] = {"step", "layer", "tensor", "sessions", "session", "outcome",
        "phase", "norm_growth", "tensor_norm", "session_start", "string64", "reason"};

    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        CHECK(dataset_reserves(reserved[i]));
    CHECK(!dataset_reserves("model") && !dataset_reserves("string") && !dataset_reserves("strings"));
}

/* Writes run after run until it is killed; *committed is the number of durable ones. */
static void write_until_killed(struct bench *bench, const char *yaml, volatile int64_t *committed)
{
    if (bench_open(bench, yaml, NULL) != 0)
        _exit(1);
    for (int64_t cell = 0; cell < bench->sweep.cells; cell++) {
        bench_write_run(bench, cell, OUTCOME_DONE, 11);
        if (cell % 3 != 2)
            continue;
        if (dataset_commit(bench->dataset, &bench->error) != 0)
            _exit(1);
        *committed = cell + 1;
    }
    for (;;)
        pause();
}

/* Kills the child some time after so many runs are durable. False: the child has ended by itself. */
static bool kill_after(pid_t child, const volatile int64_t *committed, int64_t runs, long microseconds)
{
    const struct timespec moment = {0, 100000}, rest = {0, 1000 * microseconds};
    int status;

    while (*committed < runs) {
        if (waitpid(child, &status, WNOHANG) != 0)
            return false;
        nanosleep(&moment, NULL);
    }
    nanosleep(&rest, NULL);
    return kill(child, SIGKILL) == 0;
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
        bool killed = kill_after(child, committed, 9 * round, 300 * round);
        CHECK(killed && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        if (!bench_opens(&bench, yaml))
            return;
        for (int64_t cell = 0; cell < bench.sweep.cells; cell++) {
            bool done = dataset_outcomes(bench.dataset)[cell] == OUTCOME_DONE;
            CHECK(done || cell >= *committed);
            if (done && cell % 5 == 0)
                CHECK(bench_count_wrong(&bench, METRIC_param_norm, cell) == 0);
            if (done && cell % 5 == 1)
                CHECK_CLOSE(bench_read_value(&bench, "last_step", cell), 10, 0);
        }
        most = *committed > most ? *committed : most;
        bench_close(&bench);
        bench_release(&bench);
    }
    CHECK(most > 0);
    munmap((void *)committed, sizeof(*committed));
}
