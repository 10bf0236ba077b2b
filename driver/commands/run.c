/*
 * normsweep run, in its three roles. Started by the user it takes the lease, creates or extends the dataset,
 * and either trains here (-j 0) or starts mpirun and watches over it. Started by mpirun or srun it joins as a
 * rank: rank 0 is the coordinator, the others are workers. With a launcher above it, rank 0 joins the
 * launcher's lease and leaves the last word, summary and exit status, to it.
 *
 * The way of a sweep is in run_plainly() for the user's process, in run_rank() and coordinate() for a rank:
 * sweep file and log, texts, lease and dataset, training, summary. Each part may fail with one error, and
 * whatever happens once the lease is held is the last line of the log before the lease is given up.
 */
#include "driver/commands/inside.h"
#include "driver/log/log.h"
#include "driver/status/status.h"
#include "model/kernels/kernels.h"
#include "worker/wire/wire.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Trains what is pending: on the other ranks of the wire, or here if there are none; wire NULL: without MPI.
 * Sets *together if MPI can be finalized. Returns the exit status; -1: error.
 */
static int train_pending(
    struct start *start, struct wire *wire, struct peers *peers, bool *together, struct error *error)
{
    struct output_file file = lease_file(start->lease);
    struct dataset_options options = {.known = &file};
    struct dispatch_end end = {.together = true};
    char host[HOST_SIZE];
    const struct session session = {
        .version = version_number,
        .commit = version_commit,
        .compiler = version_compiler,
        .blas = environment_blas(),
        .blas_kernel = environment_blas_kernel(),
        .vector_level = kernels_level_in_use(),
        .mpi = wire ? wire_library() : "",
        .host = environment_host(host, sizeof(host)),
        .bad_hosts = "",
    };
    struct display display = {0};
    const struct job_observer observer[JOB_OBSERVERS] = {
        display_observer(&display), log_observer(start->journal)};
    struct job job;

    if (job_open(&job, &start->sweep, &start->corpus, start->lease, &session, &options, peers->workers,
            observer, error) != 0) {
        if (wire)
            dispatch_dismiss(wire);
        return -1;
    }
    if (!wire || wire_size(wire) == 1) {
        local_run(&job);
    } else if (job_mark(&job, error) == 0) {
        end = dispatch_run(&job, wire, peers);
    } else {
        job_fail(&job, error);
        dispatch_dismiss(wire);
    }
    *together = end.together;
    int status = job.tally.failed > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
    if (job_pending(&job) > 0)
        status = STATUS_STOPPED;
    if (job_pending(&job) > 0 && end.abandoned) {
        if (getenv(LEASE_VARIABLE))
            status = STATUS_ABANDONED; /* the launcher starts again */
        else
            lines_print(stderr, 0, "%s: no worker is left; run the same command again to continue",
                start->sweep.output);
    }
    return job_close(&job, error) != 0 ? -1 : status;
}

/* ---- as a rank ---- */

/*
 * Rank 0: opens the job and drives the other ranks. A launcher has opened the output already, and passes a
 * token; its lease is joined before the texts are read, so that it sees a coordinator early. Returns the exit
 * status of the process.
 */
static int coordinate(struct start *start, struct wire *wire, bool *together, struct error *error)
{
    const char *token = getenv(LEASE_VARIABLE), *told = token ? getenv(SPARES_VARIABLE) : NULL;
    int spares = start->arguments->spares;
    struct peers peers = {0};
    int64_t pending = -1;

#ifdef M_MMAP_THRESHOLD /* arrays over a million cells go back to the system, not into a heap with holes */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
    int status = start_begin(start, error);
    if (status == 0 && token)
        status = lease_join(&start->lease, start->sweep.output, token, error);
    if (status == 0 && token) {
        start->held = true;
        lease_keep(start->lease);
        struct process owner = lease_owner(start->lease);
        journal_keep_process(start->journal, &owner);
    }
    if (status == 0)
        status = start_load_corpus(start, error);
    if (status == 0)
        pending = token ? 1 : start_open_output(start, error);
    status = pending < 0 ? -1 : 0;
    if (told) /* else the user says how many ranks of each host are spares */
        spares = (int)strtol(told, NULL, 10);
    else if (spares < 0 || !mpirun_is_open_mpi(wire_library()))
        spares = 0;
    if (pending > 0) {
        peers_init(&peers, wire_size(wire) - 1, spares, 0);
        peers_await(&peers, wire, 0);
        if (!token) {
            starter_warn_of_jobs(start->sweep.output, start->arguments->jobs, peers.workers);
            report_start(&start->sweep, peers.workers > 0 ? peers.workers : 1, false);
        }
        status = train_pending(start, wire, &peers, together, error);
    } else {
        dispatch_dismiss(wire);
    }
    peers_release(&peers);
    if (status >= 0 && !token)
        status = report_end(&start->sweep, pending > 0 ? clock_now() - start->begun : -1, error);
    if (status < 0)
        status = command_fail(error);
    if (!token || !start->lease)
        return status;
    if (lease_tell(start->lease, STAGE_ENDED, status) != 0) /* the disk is full or gone */
        fprintf(stderr, PUMP_STATUS "%d\n", status);
    return 0; /* mpirun prints a long message for any other; the launcher reads the status in the lease */
}

static int run_rank(struct start *start, const struct starter *starter, struct error *error)
{
    bool launched = getenv(LEASE_VARIABLE) != NULL, together = true;
    struct wire *wire = NULL;
    int status = starter->hopeless ? starter_check(starter, 1, error) : 0;
    bool silent = starter->rank > 0; /* what refuses one process refuses all; only the first says so */

    if (status == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a rank must not outlive mpirun */
        wire = wire_open(&start->argc, &start->argv);
        if (wire && !wire_is_coordinator(wire)) {
            start_release(start);
            return worker_loop(wire);
        }
        if (wire) {
            status = starter_check(starter, wire_size(wire), error);
        } else {
            status = error_set(error, ERROR_ENVIRONMENT, "normsweep: MPI cannot be started");
            silent = false;
        }
    }
    if (status == 0) {
        status = command_flush(coordinate(start, wire, &together, error), error);
    } else {
        struct error ignored;
        status = silent ? 0 : command_fail(error);
        launched = launched || starter->rank > 0;
        if (!launched)
            start_begin(start, &ignored); /* for the log, and the dataset that it names */
    }
    if (!launched) /* else the launcher tells */
        start_tell_end(start, status, error); /* before wire_close, which an alarm may end */
    lease_release(start->lease);
    start->lease = NULL;
    if (wire)
        wire_close(wire, together, status);
    start_release(start);
    if (!together)
        _exit(status);
    return status;
}

/* ---- as started by the user ---- */

int run_output(struct start *start, int64_t *pending, struct error *error)
{
    bool here = start->arguments->jobs == 0, together;

    if (!here && launching_check(start, false, error) != 0)
        return -1;
    *pending = start_open_output(start, error);
    if (*pending <= 0)
        return *pending < 0 ? -1 : STATUS_DONE;
    int workers = here ? 1 : launching_workers(start, *pending);
    if (!here && launching_prepare(start, *pending, error) != 0)
        return -1;
    if (!start->quiet)
        report_start(&start->sweep, workers, here || !mpirun_has_allocation(&start->mpirun));
    if (here)
        return train_pending(start, NULL, &(struct peers){0}, &together, error);
    if (start->corpus.file < 0) /* ranks read their own corpus, unless this one can be shared */
        corpus_release(&start->corpus);
    struct launch launch = {.lease = start->lease,
        .output = start->sweep.output,
        .mpirun = &start->mpirun,
        .argc = start->argc,
        .argv = start->argv,
        .workers = workers,
        .spares = launching_spares(start),
        .observer = {start->journal, SCREEN_VARIABLE, terminal_hand_on, log_restart}};
    return launcher_run(&launch, error);
}

/* Returns the exit status, or -1. */
static int run_plainly(struct start *start, struct error *error)
{
    struct error ignored;
    int64_t pending;
    mode_t kind;

    if (start_begin(start, error) != 0 || start_load_corpus(start, error) != 0)
        return -1;
    int status = run_output(start, &pending, error);
    if (status < 0 || status == STATUS_INTERRUPTED || status == ERROR_ENVIRONMENT || status == ERROR_INPUT)
        return status;
    if ((status == STATUS_DONE || status == STATUS_RUNS_FAILED) && !start->sweep.only) /* of lost workers */
        folder_clear(start->sweep.output, start->sweep.base.save_weights != SAVE_STATE, &ignored);
    double seconds = pending > 0 ? clock_now() - start->begun : -1;
    status = report_end(&start->sweep, seconds, error);
    if (status >= 0 || output_kind(start->sweep.output, &kind) != 0)
        return status;
    return kind ? report_end(&start->sweep, seconds, error) /* it may have been away for a moment */
                : dataset_gone(start->sweep.output, false, error);
}

int command_run(const struct arguments *arguments, struct error *error)
{
    struct start start = {
        .arguments = arguments, .argc = arguments->argc, .argv = arguments->argv, .begun = clock_now()};
    struct starter starter = starter_find();

    if (arguments_has(arguments, OPTION_BUDGET) &&
        !getenv(LEASE_VARIABLE)) /* else the launcher keeps the time */
        signals_stop_in(arguments->budget);
    if (arguments_has(arguments, OPTION_DRY_RUN))
        return starter.rank > 0 ? 0 : dry_run(&start, &starter, error);
    if (starter.rank >= 0 && !(starter.size == 1 && arguments->jobs == 0))
        return run_rank(&start, &starter, error);
    int status = run_plainly(&start, error);
    if (status < 0)
        status = command_fail(error);
    if (status == STATUS_INTERRUPTED)
        signals_tell_last();
    status = command_flush(status, error);
    start_tell_end(&start, status, error);
    start_release(&start);
    return status;
}
