/*
 * normsweep run, in its three roles. Started by the user it takes the lease, creates or extends the dataset,
 * and either trains here (-j 0) or starts mpirun and watches over it. Started by mpirun or srun it joins as a
 * rank: rank 0 is the coordinator, the others are workers. With a launcher above it, rank 0 joins the
 * launcher's lease and leaves the last word, summary and exit status, to it.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/job/job.h"
#include "driver/log/log.h"
#include "driver/output/output.h"
#include "driver/ranks/ranks.h"
#include "driver/status/status.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"
#include "worker/host/host.h"
#include "worker/wire/wire.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- as a rank ---- */

/* The exit status of a job on ranks. */
static int status_of(const struct job *job, const struct dispatch_end *end)
{
    if (job_pending(job) > 0 && end->abandoned && getenv(LEASE_VARIABLE))
        return STATUS_ABANDONED; /* the launcher starts again */
    if (job_pending(job) > 0 && end->abandoned)
        lines_print(
            stderr, 0, "%s: no worker is left; run the same command again to continue", job->sweep->output);
    if (job_pending(job) > 0)
        return STATUS_STOPPED;
    return job->tally.failed > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
}

/* Opens the job and runs it on the other ranks, or here if there are none. -1: error. */
static int coordinate_job(
    struct start *start, struct wire *wire, struct peers *peers, bool *together, struct error *error)
{
    struct output_file file = lease_file(start->lease);
    struct dataset_options options = {.known = &file};
    struct dispatch_end end = {.together = true};
    char host[HOST_SIZE];
    struct session session = present_session(wire_library(), environment_host(host, sizeof(host)));
    struct display display = {0};
    const struct job_observer observer[JOB_OBSERVERS] = {
        display_observer(&display), log_observer(start->journal)};
    struct job job;

    if (job_open(&job, &start->sweep, &start->corpus, start->lease, &session, &options, peers->workers,
            observer, error) != 0) {
        dispatch_dismiss(wire);
        return -1;
    }
    if (wire_size(wire) == 1) {
        local_run(&job);
    } else if (job_mark(&job, error) == 0) {
        end = dispatch_run(&job, wire, peers);
    } else {
        job_fail(&job, error);
        dispatch_dismiss(wire);
    }
    *together = end.together;
    int status = status_of(&job, &end);
    return job_close(&job, error) != 0 ? -1 : status;
}

/*
 * Loads the sweep and opens its output. With a launcher (a token), which has opened the output, joins its
 * lease first, so that the launcher sees a coordinator early. Returns the number of pending runs (with a
 * launcher: 1), or -1.
 */
static int64_t begin_job(struct start *start, const char *token, struct error *error)
{
    if (start_begin(start, error) != 0 || (token && start_join(start, token, error) != 0) ||
        start_load_corpus(start, error) != 0)
        return -1;
    return token ? 1 : start_open_output(start, error);
}

/* How many ranks of each host are spares: as the launcher says, or the user who has started them otherwise.
 */
static int count_spares(const struct start *start)
{
    const char *text = getenv(LEASE_VARIABLE) ? getenv(SPARES_VARIABLE) : NULL;

    if (text)
        return (int)strtol(text, NULL, 10);
    return start->arguments.spares > 0 && mpirun_is_open_mpi(wire_library()) ? start->arguments.spares : 0;
}

static int coordinate(struct start *start, struct wire *wire, bool *together, struct error *error)
{
    const char *token = getenv(LEASE_VARIABLE);
    int64_t pending = begin_job(start, token, error);
    int status = pending < 0 ? -1 : 0;
    struct peers peers = {0};

    if (pending > 0 && peers_init(&peers, wire_size(wire) - 1, count_spares(start), 0) != 0)
        pending = status = error_set(error, ERROR_ENVIRONMENT, "%s: no memory", start->sweep.output);
    if (pending > 0)
        peers_await(&peers, wire, 0);
    if (pending > 0 && !token) {
        starter_warn_of_jobs(start->sweep.output, start->arguments.jobs, peers.workers);
        announce(&start->sweep, peers.workers > 0 ? peers.workers : 1, false);
    }
    if (pending > 0)
        status = coordinate_job(start, wire, &peers, together, error);
    else
        dispatch_dismiss(wire);
    peers_release(&peers);
    if (status >= 0 && !token)
        status = summary_print(&start->sweep, pending > 0 ? clock_now() - start->begun : -1, error);
    if (status < 0)
        status = command_fail(error);
    if (!token || !start->lease)
        return status;
    if (lease_tell(start->lease, STAGE_ENDED, status) != 0) /* the disk is full or gone */
        fprintf(stderr, PUMP_STATUS "%d\n", status);
    return 0; /* mpirun prints a long message for any other; the launcher reads the status in the lease */
}

/* MPI cannot be started, or has not connected the processes that were. The first of them tells so. `wire`:
 * NULL if MPI does not run. */
static int refuse_rank(
    struct start *start, struct wire *wire, int rank, int status, const struct error *error)
{
    if (rank <= 0 && !getenv(LEASE_VARIABLE)) /* else the launcher tells */
        start_tell_refusal(start, status, error);
    start_release(start);
    if (wire)
        wire_close(wire, true, status);
    return status;
}

/* Flushes what was printed, and keeps why that failed. Returns the exit status. */
static int flush(int status, struct error *error)
{
    int flushed = command_flush(status);

    if (flushed != status)
        error_set(error, ERROR_ENVIRONMENT, "normsweep: the standard output cannot be written");
    return flushed;
}

/* What refuses one process refuses all; only the first says so. */
static int refuse_starter(struct start *start, struct wire *wire, int rank, const struct error *error)
{
    return refuse_rank(start, wire, rank, rank > 0 ? 0 : command_fail(error), error);
}

static int run_rank(struct start *start, const struct starter *starter)
{
    struct error error = {.text = ""};
    bool together = true;

    if (starter->hopeless && starter_check(starter, 1, &error) != 0)
        return refuse_starter(start, NULL, starter->rank, &error);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a rank must not outlive mpirun */
    struct wire *wire = wire_open(&start->argc, &start->argv);
    if (!wire) {
        error_set(&error, ERROR_ENVIRONMENT, "normsweep: MPI cannot be started");
        return refuse_rank(start, NULL, starter->rank, command_fail(&error), &error);
    }
    if (!wire_is_coordinator(wire)) {
        start_release(start);
        return worker_loop(wire);
    }
    if (starter_check(starter, wire_size(wire), &error) != 0)
        return refuse_starter(start, wire, starter->rank, &error);
    int status = flush(coordinate(start, wire, &together, &error), &error);
    if (!getenv(LEASE_VARIABLE)) /* else the launcher tells */
        start_tell_end(start, status, &error); /* before wire_close, which an alarm may end */
    lease_release(start->lease);
    start->lease = NULL;
    wire_close(wire, together, status);
    start_release(start);
    if (!together)
        _exit(status);
    return status;
}

/* ---- as started by the user ---- */

static int run_here(struct start *start, struct error *error)
{
    struct output_file file = lease_file(start->lease);
    struct dataset_options options = {.known = &file};
    char host[HOST_SIZE];
    struct session session = present_session("", environment_host(host, sizeof(host)));
    struct display display = {0};
    const struct job_observer observer[JOB_OBSERVERS] = {
        display_observer(&display), log_observer(start->journal)};
    struct job job;

    if (!start->quiet)
        announce(&start->sweep, 1, true);
    if (job_open(&job, &start->sweep, &start->corpus, start->lease, &session, &options, 0, observer, error) !=
        0)
        return -1;
    local_run(&job);
    bool stopped = job_pending(&job) > 0;
    if (job_close(&job, error) != 0)
        return -1;
    return stopped ? STATUS_STOPPED : STATUS_DONE; /* failed runs are reported by the summary */
}

static int run_launched(struct start *start, int64_t pending, struct error *error)
{
    int workers = launching_workers(&start->launching, pending);

    if (launching_prepare(&start->launching, pending, error) != 0)
        return -1;
    if (start->corpus.file < 0) { /* ranks read their own corpus, unless this one can be shared */
        corpus_release(&start->corpus);
        start->has_corpus = false;
    }
    if (!start->quiet)
        announce(&start->sweep, workers, !getenv("SLURM_JOB_ID"));
    struct launch launch = {.lease = start->lease,
        .output = start->sweep.output,
        .mpirun = &start->launching.mpirun,
        .argc = start->argc,
        .argv = start->argv,
        .workers = workers,
        .spares = launching_spares(&start->launching),
        .observer = {start->journal, SCREEN_VARIABLE, terminal_hand_on, log_restart}};
    return launcher_run(&launch, error);
}

/* Prints the summary, of the dataset at its path. If all runs have ended, removes files that a worker which
 * was given up may have left. */
static int conclude(const struct start *start, bool ended, double seconds, struct error *error)
{
    struct error ignored;
    mode_t kind;

    if (ended)
        folder_clear(start->sweep.output, &ignored);
    int status = summary_print(&start->sweep, seconds, error);
    if (status < 0 && output_kind(start->sweep.output, &kind) == 0 && !kind)
        return dataset_gone(start->sweep.output, false, error);
    return status;
}

int run_output(struct start *start, int64_t *pending, struct error *error)
{
    bool here = start->arguments.jobs == 0;

    if (!here && launching_check(&start->launching, false, error) != 0)
        return -1;
    *pending = start_open_output(start, error);
    if (*pending <= 0)
        return *pending < 0 ? -1 : STATUS_DONE;
    return here ? run_here(start, error) : run_launched(start, *pending, error);
}

static int run_plainly(struct start *start, struct error *error)
{
    int64_t pending;

    if (start_begin(start, error) != 0 || start_load_corpus(start, error) != 0)
        return -1;
    int status = run_output(start, &pending, error);
    if (status >= 0 && pending == 0)
        return conclude(start, true, -1, error);
    if (status < 0 || status == STATUS_INTERRUPTED || status == ERROR_ENVIRONMENT || status == ERROR_INPUT)
        return status;
    return conclude(
        start, status == STATUS_DONE || status == STATUS_RUNS_FAILED, clock_now() - start->begun, error);
}

int command_run(int argc, char **argv)
{
    struct start start = {.argc = argc, .argv = argv, .begun = clock_now()};
    start.launching = (struct launching){.arguments = &start.arguments, .sweep = &start.sweep};
    struct starter starter = starter_find();
    struct error error = {.text = ""};
    int status;

    if (command_arguments(&start.arguments, argc, argv, &status))
        return starter.rank > 0 ? 0 : status; /* else mpirun could end rank 0 before it prints the line */
    if (arguments_has(&start.arguments, OPTION_DRY_RUN)) {
        status = starter.rank > 0 ? 0 : rehearsal(&start.arguments, &starter);
        arguments_release(&start.arguments);
        return command_flush(status);
    }
    if (starter.rank >= 0 && !(starter.size == 1 && start.arguments.jobs == 0))
        return run_rank(&start, &starter);
    status = run_plainly(&start, &error);
    if (status < 0)
        status = command_fail(&error);
    if (status == STATUS_INTERRUPTED)
        signals_tell_last();
    status = flush(status, &error);
    start_tell_end(&start, status, &error);
    start_release(&start);
    return status;
}
