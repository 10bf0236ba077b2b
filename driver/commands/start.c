/*
 * The parts of a start, in their order: the sweep and the log, the lease, the texts, the dataset; and its
 * end, the last line of the log. Until the lease is held nothing is written but the log; from then on
 * whatever happens happened to this sweep, and the log says so before the lease is given up.
 *
 * What a start needs of mpirun is checked before anything is written: that it is there, that its release is
 * known, that ranks may be started, how many workers and spares there will be. A finished sweep needs none of
 * it, so that the same command still prints its summary where no MPI is installed.
 */
#include "driver/commands/inside.h"
#include "driver/log/log.h"
#include "driver/picture/picture.h"
#include "driver/status/status.h"
#include "worker/wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int start_load(struct start *start, struct error *error)
{
    const struct arguments *arguments = start->arguments;

    if (sweep_load(&start->sweep, arguments->operand[0], arguments->setting.text, arguments->setting.count,
            error) != 0)
        return -1;
    if (arguments->output) {
        free(start->sweep.output);
        start->sweep.output = memory_copy(arguments->output);
    }
    const struct choice_of_cells choice = {.name = start->sweep.path,
        .option = "--only",
        .axis_count = start->sweep.axis_count,
        .axis = start->sweep.axis,
        .base = &start->sweep.base,
        .text = arguments->only.text,
        .count = arguments->only.count};
    if (choice.count > 0 && selection_cells(&choice, &start->sweep.only, error) != 0)
        return -1;
    if (!arguments->part)
        return 0;
    if (sweep_take_part(&start->sweep, arguments->part, error) != 0)
        return -1;
    int parts = survey_parts(start->sweep.parts_folder, error);
    if (parts > 0 && parts != start->sweep.parts)
        return error_set(error, ERROR_INPUT,
            "%s: has parts of %d and not of %d; give --part I/%d, or move these parts elsewhere",
            start->sweep.parts_folder, parts, start->sweep.parts, parts);
    return parts < 0 ? -1 : 0;
}

int start_load_corpus(struct start *start, struct error *error)
{
    if (start->lease) {
        start->breath = lease_breath(start->lease);
        start->sweep.source.breath = &start->breath;
    }
    int result = sweep_load_corpus(&start->sweep, &start->corpus, error);
    if (result != 0 || !start->sweep.parts)
        return result;
    job_divide(&start->sweep, &start->corpus);
    /* A dataset that is there says itself what differs. */
    if (arguments_has(start->arguments, OPTION_FRESH) || access(start->sweep.output, F_OK) == 0)
        return 0;
    return survey_check_division(start->sweep.parts_folder, start->sweep.part_text, error);
}

void start_release(struct start *start)
{
    corpus_release(&start->corpus);
    sweep_release(&start->sweep);
    lease_release(start->lease);
    journal_close(start->journal);
}

/* The log must not take the place of a dataset that is yet to be made. */
static int open_log(struct start *start, struct error *error)
{
    const char *path = start->arguments->log, *dataset = start->sweep.output;

    if (!path)
        return 0;
    char *log, *output = NULL;
    output_resolve(path, &log);
    if (dataset)
        output_resolve(dataset, &output);
    bool same = log && output && strcmp(log, output) == 0;
    free(log);
    free(output);
    if (same)
        return error_set(error, ERROR_INPUT, "--log: %s is this sweep's dataset; give another file", path);
    return journal_open(&start->journal, path, error);
}

/* The line of a second SIGINT. Ranks of a launcher get none; it tells for them. */
static void prepare_last_line(const struct start *start, const char *words)
{
    struct error line;

    if (getenv(LEASE_VARIABLE))
        return;
    error_set(&line, ERROR_ENVIRONMENT, "%s: %s", start->sweep.output, words);
    signals_last_line(line.text);
}

int start_begin(struct start *start, struct error *error)
{
    const char *launcher = getenv(LEASE_VARIABLE), *chosen = launcher ? getenv(CHOSEN_VARIABLE) : NULL;
    int spares = start->arguments->spares;
    struct starter starter = starter_find();
    struct error ignored;

    if (start_load(start, error) != 0 || (chosen && sweep_keep_chosen(&start->sweep, chosen, error) != 0)) {
        open_log(start, &ignored); /* the first error counts */
        return -1;
    }
    if (open_log(start, error) != 0)
        return -1;
    /* Where no mpirun is started; launching_check does the rest. */
    if (!launcher && start->arguments->jobs == 0 && (starter.rank < 0 || starter.size == 1))
        starter_warn_of_spares(start->sweep.output, spares, "-j 0 starts no ranks");
    else if (!launcher && starter.rank >= 0 && !mpirun_is_open_mpi(wire_library()))
        starter_warn_of_spares(start->sweep.output, spares, "spares need Open MPI's mpirun");
    prepare_last_line(
        start, "interrupted before the start had the dataset, nothing is lost; run the same command again");
    return 0;
}

/* Surveys the dataset and writes the last line of the log. */
static void log_end(const struct start *start, int status, const struct error *error)
{
    const char *output = start->sweep.output ? start->sweep.output : start->arguments->output;
    bool failed = status == ERROR_INPUT || status == ERROR_ENVIRONMENT;
    enum log_event event = status == STATUS_STOPPED ? LOG_SWEEP_STOPPED : LOG_SWEEP_ENDED;
    if (failed)
        event = start->held ? LOG_SWEEP_FAILED : LOG_START_REFUSED;
    struct json_writer *writer = journal_begin(start->journal, event);
    struct survey found;
    struct error lost, ignored;

    if (!writer)
        return;
    status_json_path(writer, output);
    json_writer_whole(writer, "exit_status", status);
    json_writer_text(writer, "message", failed ? error->text : NULL);
    json_writer_real(writer, "seconds", clock_now() - start->begun);
    /* A process that has the lease must still hold it: another's numbers would be told. */
    bool own = start->lease && lease_renew(start->lease, &ignored) == 0;
    if (output && (own ? survey_make(&found, output, false, NULL, clock_now(), &ignored)
                       : survey_read(&found, output, NULL, clock_now(), &ignored)) == 0) {
        json_writer_whole(writer, "cells", found.view.cells);
        json_writer_whole(writer, "runs", found.runs);
        json_writer_whole(writer, "ended", found.ended);
        status_json_counts(writer, found.count);
        survey_release(&found);
    }
    journal_end(start->journal, false);
    if (journal_complains(start->journal, false, &lost))
        fprintf(stderr, "%s\n", lost.text);
}

void start_tell_end(struct start *start, int status, const struct error *error)
{
    signals_last_line(NULL);
    if (status != STATUS_INTERRUPTED)
        log_end(start, status, error);
    lease_release(start->lease);
    start->lease = NULL;
}

struct dataset_options start_options(const struct start *start)
{
    return (struct dataset_options){.fresh = arguments_has(start->arguments, OPTION_FRESH),
        .retry_failed = arguments_has(start->arguments, OPTION_RETRY_FAILED)};
}

int64_t start_open_output(struct start *start, struct error *error)
{
    struct dataset_options options = start_options(start);
    const struct sweep *sweep = &start->sweep;
    struct dataset *dataset;

    if (sweep->parts_folder)
        mkdir(sweep->parts_folder, 0777); /* without it the lease cannot be taken, which says so */
    if (lease_take(&start->lease, sweep->output, error) != 0)
        return -1;
    start->held = true;
    prepare_last_line(start,
        "interrupted: runs under way may lose their steps since their last checkpoints, all else is kept; "
        "run the same command again to continue");
    lease_keep(start->lease); /* creating a large dataset takes minutes */
    if (dataset_open(&dataset, sweep->output, sweep, &start->corpus, NULL, &options, error) != 0)
        return -1;
    const struct grown_steps *grown = dataset_grown(dataset);
    if (grown->old_steps) {
        char *old = set_aside_name(sweep->output, grown->old_steps);
        lines_print(stdout, 0,
            "%s: steps grows from %" PRId64 " to %" PRId64 ": %" PRId64 " of %" PRId64
            " runs carry on from their states in %s.d; the dataset of the shorter sweep is now %s",
            sweep->output, grown->old_steps, sweep->base.steps, grown->kept, grown->runs, sweep->output,
            old ? old : "");
        free(old);
    }
    struct error closing;
    struct chooser *chooser = chooser_new(sweep, &start->corpus, dataset, NULL);
    int64_t pending = 0; /* as far as is known */
    while (chooser_next(chooser) >= 0)
        pending++;
    if (chooser_check(chooser, error) != 0)
        pending = -1;
    chooser_free(chooser);
    int closed = dataset_close(dataset, pending < 0 ? &closing : error);
    return closed != 0 ? -1 : pending;
}

/* ---- mpirun ---- */

enum { SPARES = 1 };

int launching_workers(const struct start *start, int64_t pending)
{
    int asked = start->arguments->jobs;

    if (asked < 0 && mpirun_has_allocation(&start->mpirun))
        return 0;
    int workers = asked > 0 ? asked : threads_workers(&start->sweep);
    return pending < workers ? (int)pending : workers;
}

int launching_spares(const struct start *start)
{
    int asked = start->arguments->spares;

    if (start->mpirun.release == 0)
        return 0;
    return asked >= 0 ? asked : SPARES;
}

/* Workers on this machine; in an allocation, one per processor. */
static int workers_here(const struct start *start, int64_t pending)
{
    int workers = launching_workers(start, pending);

    return workers > 0 ? workers : processors_count();
}

int launching_prepare(struct start *start, int64_t pending, struct error *error)
{
    if (!start->mpirun.command && mpirun_find(&start->mpirun, error) != 0)
        return -1;
    start->mpirun.hosts = start->arguments->hosts;
    return descriptors_reserve(workers_here(start, pending), launching_spares(start), error);
}

/* Have all runs of the sweep ended? False if its dataset cannot be read. */
static bool has_ended(const struct sweep *sweep)
{
    struct error ignored;
    struct view view;
    signed char *outcome = outcomes_read(&view, sweep->output, &ignored);
    int64_t ended = 0;

    if (!outcome)
        return false;
    for (int64_t cell = 0; cell < view.cells; cell++)
        ended += outcome[cell] >= OUTCOME_DONE;
    bool all = ended == view.cells && view.cells == sweep->cells;
    free(outcome);
    view_close(&view);
    return all;
}

int launching_check(struct start *start, bool look, struct error *error)
{
    const struct arguments *arguments = start->arguments;
    const struct sweep *sweep = &start->sweep;
    int64_t pending = sweep->cells - sweep->skipped;

    if (mpirun_check_root(error) != 0)
        return -1;
    if (!arguments_has(arguments, OPTION_FRESH) && !arguments_has(arguments, OPTION_RETRY_FAILED) &&
        has_ended(sweep))
        return 0;
    if (launching_prepare(start, pending, error) != 0)
        return -1;
    if (arguments->hosts && mpirun_check_hosts(&start->mpirun, error) != 0)
        return -1;
    int spares = launching_spares(start), ranks = workers_here(start, pending) + spares + 1;
    if (spares == 0)
        starter_warn_of_spares(sweep->output, arguments->spares, "spares need Open MPI's mpirun");
    return start->mpirun.kind == MPIRUN_OPEN_MPI ? mpirun_check_folder(ranks, look, error) : 0;
}
