/* A job in one process whose dataset is replaced while a run trains. */
#include "driver/job/inside.h"
#include "driver/output/inside.h"
#include "driver/sweep/inside.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "worker/host/host.h"

#include <fcntl.h>

/* Runs of a hundred million steps come first, as they are the longest. Cells: the runs of 3 steps, then
 * these. */
#define ENDLESS                                                                                              \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nlayers: 1\nwidth: 8\n"         \
    "heads: 1\nfeedforward: 8\nmeasure: {every: 10000000}\nsteps: [3, 100000000]\n"                          \
    "seed: [1, 2, 3, 4, 5, 6]\n"

enum { SHORT = 6, CELLS = 2 * SHORT, UNSTOPPED_SECONDS = 300 };

/* Opens a job of a sweep in a new folder; false: that failed. */
static bool open_job(struct bench *bench, struct job *job, struct lease **lease, const char *yaml)
{
    static const struct session session = {"1", "c", "c", "b", "k", "l", "m", "h", ""};
    static const struct dataset_options options;

    bench_init(bench);
    CHECK(sweep_parse(&bench->sweep, "a.yaml", ".", yaml, strlen(yaml), NULL, 0, &bench->error) == 0);
    free(bench->sweep.output);
    bench->sweep.output = strdup(bench->path);
    CHECK(sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0);
    CHECK(lease_take(lease, bench->path, &bench->error) == 0);
    bool opened =
        job_open(job, &bench->sweep, &bench->corpus, *lease, &session, &options, 0, NULL, &bench->error) == 0;
    CHECK(opened);
    return opened;
}

static void release(struct bench *bench, struct lease *lease)
{
    lease_release(lease);
    corpus_release(&bench->corpus);
    sweep_release(&bench->sweep);
    bench_release(bench);
}

/* Somebody copies the dataset while a run trains, and puts the copy in its place. */
struct stranger {
    struct bench *bench;
    char other[128];
    bool done;
};

static void replace(void *context, const struct job *job, const struct job_event *event)
{
    struct stranger *stranger = context;

    (void)event;
    if (stranger->done || job->tally.running == 0)
        return;
    stranger->done = true;
    FILE *file = fopen(stranger->other, "w");
    CHECK(file && fputs("a stranger", file) >= 0 && fclose(file) == 0);
    CHECK(rename(stranger->other, stranger->bench->path) == 0);
    failing_clock(2); /* the next look is due */
}

/* The file at the path is still the stranger's; the copy has the results that are `done`, and as many runs as
 * `saved` have checkpoints. */
static void check_kept(struct bench *bench, int done, int saved)
{
    struct checkpoint_set set = {0};
    char text[16] = "", path[128];
    FILE *file = fopen(bench->path, "r");
    int ended = 0;

    CHECK(file && fgets(text, sizeof(text), file) && fclose(file) == 0);
    CHECK_TEXT(text, "a stranger");
    snprintf(path, sizeof(path), "%s.ours", bench->path);
    CHECK(rename(path, bench->path) == 0);
    for (int64_t cell = 0; cell < bench->sweep.cells; cell++)
        ended += bench_read_value(bench, "outcome", cell) == OUTCOME_DONE;
    snprintf(path, sizeof(path), "%s.d", bench->path);
    CHECK(ended == done && checkpoint_set_init(&set, path, &bench->error) == 0 && set.count == saved);
    checkpoint_set_release(&set);
    CHECK(folder_clear(bench->path, false, &bench->error) == 0);
}

static void check_told(const struct bench *bench)
{
    char line[384];

    snprintf(line, sizeof(line),
        "%s: was replaced by another file while its sweep ran, so the sweep has stopped; all results are in "
        "%s.ours; ",
        bench->path, bench->path);
    CHECK(bench->error.status == ERROR_ENVIRONMENT);
    CHECK(strncmp(bench->error.text, line, strlen(line)) == 0);
}

TEST(local_stops_and_saves_when_its_dataset_is_replaced)
{
    struct lease *lease = NULL;
    struct bench bench;
    struct job job;

    if (open_job(&bench, &job, &lease, ENDLESS)) {
        struct stranger stranger = {.bench = &bench};
        snprintf(stranger.other, sizeof(stranger.other), "%s/b.nc", bench.folder);
        job.observer[0] = (struct job_observer){&stranger, replace};
        alarm(UNSTOPPED_SECONDS);
        local_run(&job);
        alarm(0);
        CHECK(stranger.done && job.moved && job_pending(&job) == CELLS);
        CHECK(job_close(&job, &bench.error) != 0);
        check_told(&bench);
        check_kept(&bench, 0, 1);
    }
    release(&bench, lease);
}

/* After the last look and before the end, too. */
TEST(local_tells_at_its_end_that_its_dataset_was_replaced)
{
    static const char yaml[] = "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\n"
                               "layers: 1\nwidth: 8\nheads: 1\nsteps: 3\nseed: [1, 2]\n";
    struct lease *lease = NULL;
    struct bench bench;
    struct job job;

    if (open_job(&bench, &job, &lease, yaml)) {
        struct stranger stranger = {.bench = &bench};
        snprintf(stranger.other, sizeof(stranger.other), "%s/b.nc", bench.folder);
        local_run(&job);
        CHECK(job_pending(&job) == 0);
        job.tally.running = 1;
        replace(&stranger, &job, NULL);
        CHECK(job_close(&job, &bench.error) != 0);
        check_told(&bench);
        check_kept(&bench, 2, 0);
    }
    release(&bench, lease);
}

/* The owner of the lease is now a process on another machine. */
static void lend(const char *path)
{
    const struct lease_record other = {.process = {.pid = 77, .start = 5, .place = "elsewhere/pid:[1]"}};
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    CHECK(file >= 0 && lease_record_put(file, LEASE_OWNER, &other) == 0 && close(file) == 0);
}

/* The job knows that all is another process's, and leaves it alone. */
static void check_lost(struct bench *bench, struct job *job, struct lease *lease)
{
    char path[128];

    snprintf(path, sizeof(path), "%s.lease", bench->path);
    lend(path);
    failing_clock(2 * LEASE_RENEW_SECONDS + 2);
    job_breathe(job, clock_now());
    CHECK(job->lost && job->failed && !job->moved);
    CHECK(job_close(job, &bench->error) != 0);
    failing_clock(0);
    CHECK(strstr(bench->error.text, ": the lease was lost to another process") != NULL);
    CHECK(!bench_exists(bench, "a.nc.ours"));
    CHECK(unlink(path) == 0);
    release(bench, lease);
}

/* While this process was paused, another start took its lease and put a new file at the path. */
TEST(job_whose_lease_was_taken_does_not_keep_its_dataset)
{
    struct lease *lease = NULL;
    struct bench bench;
    struct job job;

    if (!open_job(&bench, &job, &lease, ENDLESS))
        return;
    CHECK(unlink(bench.path) == 0);
    check_lost(&bench, &job, lease);
}

/* Somebody removes the dataset with its lease, so that another start can begin. */
TEST(job_whose_lease_is_gone_with_its_dataset_keeps_it_until_another_has_it)
{
    struct lease *lease = NULL;
    struct bench bench;
    struct job job;
    char path[128];

    if (!open_job(&bench, &job, &lease, ENDLESS))
        return;
    snprintf(path, sizeof(path), "%s.lease", bench.path);
    CHECK(unlink(bench.path) == 0 && unlink(path) == 0);
    failing_clock(LEASE_RENEW_SECONDS + 1);
    job_breathe(&job, clock_now());
    CHECK(job.moved && !job.failed);
    check_lost(&bench, &job, lease);
}
