/*
 * Each run is trained in a process that is forked for it. The parent reads what the dataset has of the run
 * before the fork, so children need no file: netCDF's would share its position among them. The parent trains
 * nothing itself: it listens to the children.
 */
#include "driver/job/inside.h"
#include "driver/sweep/sweep.h"
#include "worker/host/host.h"
#include "worker/train/train.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_SECONDS 0.2 /* between two reports of a child */

/* What a child sends; in one write, so that the parent reads it as a whole. */
struct repeat_report {
    bool ended;
    double part; /* of the run's steps, taken */
    struct difference difference; /* if it ended */
    char reason[REASON_SIZE]; /* why the run cannot be trained here; "": it can */
};

struct repeat_child {
    pid_t pid;
    int64_t at; /* index of its run */
    double part;
    bool ended; /* its last report has come */
};

/* The parent, or in a child what it has inherited. */
struct crew {
    const struct sweep *sweep;
    const struct corpus *corpus;
    const struct view *view;
    struct repeat *repeat;
    int64_t count, next, ended; /* runs: all, begun, compared */
    int workers, busy; /* at once: at most, now */
    int places;
    struct repeat_child *child; /* [places] */
    struct pollfd *end; /* [places] the pipe from each child; fd -1: there is none */
    struct record stored, again; /* of the run that is begun next */
    struct waiting *waiting;
};

/* ---- a child ---- */

struct repeating {
    struct record *again;
    struct metric_form form;
    int end;
    double reported;
};

static void send_report(int end, const struct repeat_report *report)
{
    if (write(end, report, sizeof(*report)) != (ssize_t)sizeof(*report))
        _exit(1);
}

static void take_row(void *context, int64_t step, const double *values, size_t count)
{
    struct repeating *repeating = context;

    (void)count;
    record_row(repeating->again, &repeating->form, step, values);
}

static enum verdict tell_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct repeating *repeating = context;
    double now = clock_now();

    (void)tokens;
    if (now - repeating->reported >= REPORT_SECONDS) {
        const struct repeat_report report = {.part = (double)step / (double)last_step};
        send_report(repeating->end, &report);
        repeating->reported = now;
    }
    return VERDICT_CARRY_ON;
}

/* Trains the run and compares it with its record. */
static void repeat_here(struct crew *crew, const struct run *run, int end)
{
    const struct measure *measure = &crew->sweep->measure;
    struct repeating repeating = {&crew->again, metric_form(run, measure), end, clock_now()};
    const struct observer observer = {.context = &repeating, .row = take_row, .carry_on = tell_step};
    struct repeat_report report = {.ended = true};
    struct arena arena = {0};
    struct result result;

    train(run, crew->corpus, measure, &observer, &arena, &result);
    record_result(&crew->again, &result);
    if (result.outcome == OUTCOME_FAILED)
        memcpy(report.reason, result.reason, sizeof(report.reason));
    else
        report.difference = record_compare(&crew->stored, &crew->again);
    send_report(end, &report);
}

/* ---- the parent ---- */

static void crew_say(const struct crew *crew)
{
    double part = (double)crew->ended;

    for (int i = 0; i < crew->places; i++)
        part += crew->end[i].fd >= 0 ? crew->child[i].part : 0;
    waiting_say(crew->waiting, "verify: %lld of %lld runs trained again, %.0f %%", (long long)crew->ended,
        (long long)crew->count, 100 * part / (double)crew->count);
}

/* An error about the run with index `at`. */
static int run_error(const struct crew *crew, int64_t at, const char *reason, struct error *error)
{
    char label[LABEL_SIZE];

    return error_set(error, ERROR_ENVIRONMENT, "verify: %s: %s",
        label_cell(crew->sweep, crew->repeat[at].cell, label), reason);
}

/* Reads the record of the next run. It was done or diverged when it was chosen. */
static int read_stored(struct crew *crew, const struct run *run, struct error *error)
{
    const struct measure *measure = &crew->sweep->measure;

    if (record_fits(&crew->stored, run, measure, run_last_step(run, crew->corpus), error) != 0 ||
        record_read(&crew->stored, crew->repeat[crew->next].place, error) != 0)
        return -1;
    int64_t outcome = crew->stored.number[RUN_VARIABLE_outcome];
    if (outcome == OUTCOME_DONE || outcome == OUTCOME_DIVERGED)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "%s: was replaced while it was read; run the same command again", crew->view->name);
}

static int free_place(const struct crew *crew)
{
    int place = 0;

    while (crew->end[place].fd >= 0)
        place++;
    return place;
}

/* Forks a child for the next run. If the system allows no more processes, those that there are do all runs.
 */
static int begin_child(struct crew *crew, struct error *error)
{
    int ends[2], place = free_place(crew);
    struct run run;

    sweep_cell(crew->sweep, crew->repeat[crew->next].cell, &run);
    if (read_stored(crew, &run, error) != 0)
        return -1;
    if (pipe(ends) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "verify: pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else would end it */
        if (getppid() == parent)
            repeat_here(crew, &run, ends[1]);
        _exit(0);
    }
    int cause = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        crew->workers = crew->busy;
        return crew->busy ? 0 : error_set(error, ERROR_ENVIRONMENT, "verify: fork: %s", strerror(cause));
    }
    crew->end[place] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    crew->child[place] = (struct repeat_child){.pid = pid, .at = crew->next++};
    crew->busy++;
    return 0;
}

static void end_child(struct crew *crew, int place)
{
    close(crew->end[place].fd);
    crew->end[place].fd = -1;
    waitpid(crew->child[place].pid, NULL, 0);
    crew->busy--;
}

/* Takes a report, or the end of a child. */
static int hear_child(struct crew *crew, int place, struct error *error)
{
    struct repeat_child *child = &crew->child[place];
    struct repeat_report report;
    ssize_t count = read(crew->end[place].fd, &report, sizeof(report));

    if (count < 0 && errno == EINTR)
        return 0;
    if (count != (ssize_t)sizeof(report)) {
        end_child(crew, place);
        return child->ended ? 0
                            : run_error(crew, child->at, "its process was killed; too little memory?", error);
    }
    child->part = report.part;
    if (!report.ended)
        return 0;
    if (report.reason[0])
        return run_error(crew, child->at, report.reason, error);
    child->ended = true;
    crew->repeat[child->at].difference = report.difference;
    crew->ended++;
    return 0;
}

static int hear_children(struct crew *crew, struct error *error)
{
    int result = 0;

    if (poll(crew->end, (nfds_t)crew->places, -1) < 0)
        return errno == EINTR ? 0 : error_set(error, ERROR_ENVIRONMENT, "verify: poll: %s", strerror(errno));
    for (int i = 0; result == 0 && i < crew->places; i++)
        if (crew->end[i].fd >= 0 && crew->end[i].revents)
            result = hear_child(crew, i, error);
    if (waiting_is_due(crew->waiting))
        crew_say(crew);
    return result;
}

static int repeat_all(struct crew *crew, struct error *error)
{
    int result = 0;

    crew_say(crew);
    while (result == 0 && crew->ended < crew->count) {
        while (result == 0 && crew->busy < crew->workers && crew->next < crew->count)
            result = begin_child(crew, error);
        if (result == 0)
            result = hear_children(crew, error);
    }
    for (int i = 0; i < crew->places; i++) {
        if (crew->end[i].fd < 0)
            continue;
        kill(crew->child[i].pid, SIGKILL); /* after an error; otherwise it has nothing left to do */
        end_child(crew, i);
    }
    return result;
}

static int crew_init(struct crew *crew, struct error *error)
{
    crew->places = crew->workers;
    crew->child = calloc((size_t)crew->places, sizeof(*crew->child));
    crew->end = calloc((size_t)crew->places, sizeof(*crew->end));
    if (!crew->child || !crew->end)
        return error_set(error, ERROR_ENVIRONMENT, "verify: no memory");
    for (int i = 0; i < crew->places; i++)
        crew->end[i].fd = -1;
    if (record_init(&crew->stored, crew->view, &crew->sweep->measure, error) != 0)
        return -1;
    return record_init(&crew->again, crew->view, &crew->sweep->measure, error);
}

int repeat_runs(struct repeat *repeat, int64_t count, const struct sweep *sweep, const struct corpus *corpus,
    const struct view *view, int workers, struct waiting *waiting, struct error *error)
{
    struct crew crew = {.sweep = sweep,
        .corpus = corpus,
        .view = view,
        .repeat = repeat,
        .count = count,
        .workers = count < workers ? (int)count : workers,
        .waiting = waiting};
    int result = crew_init(&crew, error);

    if (result == 0)
        result = repeat_all(&crew, error);
    record_release(&crew.stored);
    record_release(&crew.again);
    free(crew.child);
    free(crew.end);
    return result;
}
