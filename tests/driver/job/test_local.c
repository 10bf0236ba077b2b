/* A job in one process whose owner withdraws runs while one of them trains. */
#include "driver/job/local.h"
#include "driver/output/lease.h"
#include "driver/sweep/texts.h"
#include "tests/driver/dataset/bench.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs of a hundred million steps come first, as they are the longest. Cells: the runs of 3 steps, then
 * these. */
#define ENDLESS                                                                                              \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nlayers: 1\nwidth: 8\n"         \
    "heads: 1\nfeedforward: 8\nmeasure: {every: 10000000}\nsteps: [3, 100000000]\n"                          \
    "seed: [1, 2, 3, 4, 5, 6]\n"

enum { SHORT = 6, CELLS = 2 * SHORT, UNSTOPPED_SECONDS = 300 };

/* The stream of the progress display, which is written while a run trains: here the owner decides. */
struct owner {
    struct job *job;
    int withdrawn;
};

static ssize_t decide(void *context, const char *text, size_t size)
{
    struct owner *owner = context;

    (void)text;
    if (owner->job->tally.running > 0)
        for (int64_t cell = SHORT; cell < CELLS; cell++)
            owner->withdrawn += coordinator_withdraw(owner->job->coordinator, cell);
    return (ssize_t)size;
}

/* Replaces the display of the job. */
static FILE *watch_job(struct job *job, struct owner *owner)
{
    const cookie_io_functions_t functions = {.write = decide};
    const struct terminal terminal = {.columns = 80, .rows = 24};
    const struct diagram_runs runs = {.axis_count = job->sweep->axis_count,
        .axis = job->sweep->axis,
        .cells = job->sweep->cells,
        .outcome = dataset_outcomes(job->dataset),
        .live = true};
    FILE *file = fopencookie(owner, "w", functions);

    progress_free(job->progress);
    job->progress = file ? progress_new(file, &terminal, 1, &runs, 0) : NULL;
    CHECK(job->progress != NULL);
    return file;
}

static void check_state(const struct job *job)
{
    struct coordinator_state state;

    coordinator_state(job->coordinator, &state);
    CHECK(state.ended == SHORT && state.pending == 0 && state.running == 0);
    CHECK(job->tally.done == SHORT && job->tally.running == 0 && !job->failed);
}

/* The file says that the run in training was begun, and that it has to be trained again. */
static void check_file(const struct bench *bench)
{
    int begun = 0;

    for (int64_t cell = 0; cell < CELLS; cell++) {
        enum outcome expected = cell < SHORT ? OUTCOME_DONE : OUTCOME_PENDING;
        CHECK(bench_read_value(bench, "outcome", cell) == (double)expected);
        begun += bench_read_value(bench, "attempts", cell) == 1;
    }
    CHECK(begun == SHORT + 1);
}

static void run_job(struct bench *bench, struct job *job)
{
    struct owner owner = {.job = job};
    FILE *file = watch_job(job, &owner);

    alarm(UNSTOPPED_SECONDS); /* ends the program if the run trains on */
    local_run(job);
    alarm(0);
    CHECK(owner.withdrawn == CELLS - SHORT);
    check_state(job);
    CHECK(job_close(job, &bench->error) == 0);
    fclose(file);
    check_file(bench);
}

TEST(local_ends_a_run_that_is_withdrawn_while_it_trains)
{
    static const struct session session = {"1", "c", "c", "b", "k", "l", "m", "h"};
    static const struct dataset_options options;
    struct lease *lease = NULL;
    struct bench bench;
    struct job job;

    bench_init(&bench);
    CHECK(sweep_parse(&bench.sweep, "a.yaml", ".", ENDLESS, strlen(ENDLESS), NULL, 0, &bench.error) == 0);
    free(bench.sweep.output);
    bench.sweep.output = strdup(bench.path);
    CHECK(sweep_load_corpus(&bench.sweep, &bench.corpus, &bench.error) == 0);
    CHECK(lease_take(&lease, bench.path, &bench.error) == 0);
    bool opened =
        job_open(&job, &bench.sweep, &bench.corpus, lease, &session, &options, 1, &bench.error) == 0;
    CHECK(opened);
    if (opened)
        run_job(&bench, &job);
    lease_release(lease);
    corpus_release(&bench.corpus);
    sweep_release(&bench.sweep);
    bench_release(&bench);
}
