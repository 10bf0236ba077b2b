/* Runs that are trained again: what becomes of their processes when something fails. */
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/sweep/sweep.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"
#include "worker/host/host.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define YAML_OF BASE "heads: 1\nfeedforward: 4\nlayers: [1, 2]\nlearning_rate: [0.1, 0.01]\n"
#define YAML YAML_OF "width: 8\n"
enum { RUNS = 4, PENDING = 3 };

/* A dataset of made-up values, three of whose four runs are done, and the sweep that it is of. */
struct repeated {
    struct bench bench;
    struct corpus corpus;
    struct view view;
    struct waiting waiting;
    struct repeat repeat[RUNS];
    struct error error;
};

static bool repeated_init(struct repeated *repeated, const char *yaml)
{
    const struct terminal terminal = {.columns = 80};
    struct bench *bench = &repeated->bench;

    *repeated = (struct repeated){.view = {.file = -1}};
    bench_init(bench);
    if (!bench_opens(bench, yaml))
        return false;
    for (int64_t cell = 0; cell < RUNS; cell++) {
        if (cell != PENDING)
            bench_write_run(bench, cell, OUTCOME_DONE, 1000);
        repeated->repeat[cell] = (struct repeat){.cell = cell, .place = cell};
    }
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    waiting_begin(&repeated->waiting, stderr, &terminal);
    CHECK(sweep_load_corpus(&bench->sweep, &repeated->corpus, &repeated->error) == 0);
    CHECK(view_open(&repeated->view, bench->path, &repeated->error) == 0);
    return true;
}

static void repeated_release(struct repeated *repeated)
{
    view_close(&repeated->view);
    corpus_release(&repeated->corpus);
    bench_close(&repeated->bench);
    bench_release(&repeated->bench);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static int repeat_first(struct repeated *repeated, int64_t count, int workers)
{
    return repeat_runs(repeated->repeat, count, &repeated->bench.sweep, &repeated->corpus, &repeated->view,
        workers, &repeated->waiting, &repeated->error);
}

/* The values are made up, so nearly all differ; but the steps of the runs are those of the sweep. */
static void check_differences(const struct repeated *repeated, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const struct difference *difference = &repeated->repeat[i].difference;
        char text[DIFFERENCE_TEXT];
        CHECK(difference->values > 500 && difference->different > difference->values / 2);
        CHECK(difference->different < difference->values && difference->metric == METRIC_train_loss);
        CHECK(strstr(difference_text(difference, &repeated->view, text), "train_loss at step 0: ") == text);
    }
}

TEST(repeat_compares_each_run_with_its_own_cell)
{
    struct repeated repeated;

    if (!repeated_init(&repeated, YAML))
        return;
    for (int workers = 1; workers < 5; workers++) {
        CHECK(repeat_first(&repeated, PENDING, workers) == 0);
        check_differences(&repeated, PENDING);
        CHECK(repeated.repeat[0].difference.stored > repeated.repeat[1].difference.stored);
        CHECK(repeated.repeat[0].difference.stored == repeated.repeat[2].difference.stored);
        for (int i = 0; i < PENDING; i++)
            repeated.repeat[i].difference = (struct difference){0};
    }
    repeated_release(&repeated);
}

TEST(repeat_refuses_a_run_that_has_not_finished)
{
    struct repeated repeated;

    if (!repeated_init(&repeated, YAML))
        return;
    CHECK(repeat_first(&repeated, RUNS, 2) == -1 && repeated.error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(repeated.error.text, "a.nc: was replaced while it was read; run the same command again"));
    repeated_release(&repeated);
}

TEST(repeat_goes_on_with_the_processes_that_it_gets)
{
    struct repeated repeated;

    if (!repeated_init(&repeated, YAML))
        return;
    failing_after(1, "fork", EAGAIN);
    CHECK(repeat_first(&repeated, PENDING, 3) == 0 && failing_end());
    check_differences(&repeated, PENDING);
    repeated_release(&repeated);
}

TEST(repeat_says_which_call_failed)
{
    static const struct {
        const char *name;
        int calls, cause;
        const char *said;
    } failures[] = {
        {"fork", 0, EAGAIN, "verify: fork: Resource temporarily unavailable"},
        {"pipe", 0, EMFILE, "verify: pipe: Too many open files"},
        {"pipe", 1, EMFILE, "verify: pipe: Too many open files"},
        {"poll", 0, ENOMEM, "verify: poll: Cannot allocate memory"},
        {"calloc", 0, ENOMEM, "verify: no memory"},
        {"nc_get_vara_double", 9, EIO, "a.nc: Input/output error"},
    };
    struct repeated repeated;

    if (!repeated_init(&repeated, YAML))
        return;
    for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
        failing_after(failures[i].calls, failures[i].name, failures[i].cause);
        CHECK(repeat_first(&repeated, PENDING, 2) == -1 && failing_end());
        CHECK(repeated.error.status == ERROR_ENVIRONMENT && strstr(repeated.error.text, failures[i].said));
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    }
    failing_next("poll", EINTR);
    CHECK(repeat_first(&repeated, PENDING, 2) == 0 && failing_end());
    failing_next("read", EINTR);
    CHECK(repeat_first(&repeated, PENDING, 2) == 0 && failing_end());
    repeated_release(&repeated);
}

static void kill_child(void *context, long pid, long parent)
{
    int *killed = context;

    if (parent == getpid())
        *killed += kill((pid_t)pid, SIGKILL) == 0;
}

static void kill_children(void *context)
{
    process_walk(getpid(), kill_child, context);
}

/* The child may have ended before it is killed; then another is. */
TEST(repeat_says_which_run_was_killed)
{
    struct repeated repeated;
    int killed = 0, result = 0;

    if (!repeated_init(&repeated, YAML))
        return;
    for (int tries = 0; result == 0 && tries < 1000; tries++) {
        failing_before(0, "poll", kill_children, &killed);
        result = repeat_first(&repeated, 1, 1);
        CHECK(failing_end() && killed == tries + 1);
    }
    CHECK(result == -1 && repeated.error.status == ERROR_ENVIRONMENT);
    CHECK_TEXT(repeated.error.text,
        "verify: layers=1 learning_rate=0.1: its process was killed; too little memory?");
    repeated_release(&repeated);
}

TEST(repeat_says_which_run_does_not_fit_into_memory)
{
    struct repeated repeated;

    if (!repeated_init(&repeated, YAML_OF "width: 2000000\n"))
        return;
    CHECK(repeat_first(&repeated, 1, 1) == -1 && repeated.error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(repeated.error.text, "verify: layers=1 learning_rate=0.1: no memory: the run needs ") ==
          repeated.error.text);
    repeated_release(&repeated);
}
