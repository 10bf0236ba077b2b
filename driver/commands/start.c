/*
 * The parts of a start, in their order: the sweep and the log, the lease, the texts, the dataset; and its
 * end, the last line of the log. Until the lease is held nothing is written but the log; from then on
 * whatever happens happened to this sweep, and the log says so before the lease is given up.
 */
#include "driver/commands/inside.h"
#include "driver/job/job.h"
#include "driver/log/log.h"
#include "driver/output/output.h"
#include "driver/ranks/ranks.h"
#include "driver/status/status.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "worker/host/host.h"
#include "worker/wire/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load_sweep(struct start *start, struct error *error)
{
    const char *chosen = getenv(LEASE_VARIABLE) ? getenv(CHOSEN_VARIABLE) : NULL;

    if (arguments_load_sweep(&start->arguments, &start->sweep, error) != 0)
        return -1;
    start->has_sweep = true;
    return chosen ? sweep_keep_chosen(&start->sweep, chosen, error) : 0;
}

int start_load_corpus(struct start *start, struct error *error)
{
    if (start->lease) {
        start->breath = lease_breath(start->lease);
        start->sweep.source.breath = &start->breath;
    }
    if (sweep_load_corpus(&start->sweep, &start->corpus, error) != 0)
        return -1;
    start->has_corpus = true;
    return 0;
}

void start_release(struct start *start)
{
    if (start->has_corpus)
        corpus_release(&start->corpus);
    if (start->has_sweep)
        sweep_release(&start->sweep);
    lease_release(start->lease);
    journal_close(start->journal);
    arguments_release(&start->arguments);
}

/* The log must not take the place of a dataset that is yet to be made. */
static int open_log(struct start *start, struct error *error)
{
    const char *path = start->arguments.log;

    if (!path)
        return 0;
    char *log, *output = NULL;
    output_resolve(path, &log);
    if (start->has_sweep)
        output_resolve(start->sweep.output, &output);
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

/* Where no mpirun is started; launching_check does the rest. */
static void warn_of_spares(const struct start *start)
{
    struct starter starter = starter_find();
    int asked = start->arguments.spares;

    if (getenv(LEASE_VARIABLE))
        return;
    if (start->arguments.jobs == 0 && (starter.rank < 0 || starter.size == 1))
        starter_warn_of_spares(start->sweep.output, asked, "-j 0 starts no ranks");
    else if (starter.rank >= 0 && !mpirun_is_open_mpi(wire_library()))
        starter_warn_of_spares(start->sweep.output, asked, "spares need Open MPI's mpirun");
}

int start_begin(struct start *start, struct error *error)
{
    struct error ignored;

    if (load_sweep(start, error) != 0) {
        open_log(start, &ignored); /* the first error counts */
        return -1;
    }
    if (open_log(start, error) != 0)
        return -1;
    warn_of_spares(start);
    prepare_last_line(
        start, "interrupted before the start had the dataset, nothing is lost; run the same command again");
    return 0;
}

int start_join(struct start *start, const char *token, struct error *error)
{
    if (lease_join(&start->lease, start->sweep.output, token, error) != 0)
        return -1;
    start->held = true;
    lease_keep(start->lease);
    struct process owner = lease_owner(start->lease);
    journal_keep_process(start->journal, &owner);
    return 0;
}

/* If this process has the lease, it must still hold it: another's numbers would be told. */
static int read_end(const struct start *start, const char *output, struct survey *survey)
{
    double now = clock_now();
    struct error ignored;

    if (start->lease && lease_renew(start->lease, &ignored) == 0)
        return survey_read_own(survey, output, now, &ignored);
    return survey_read(survey, output, NULL, now, &ignored);
}

/* Surveys the dataset and writes the last line of the log. */
static void log_end(const struct start *start, int status, const struct error *error)
{
    const char *output = start->has_sweep ? start->sweep.output : start->arguments.output;
    bool failed = status == ERROR_INPUT || status == ERROR_ENVIRONMENT;
    enum log_event event = status == STATUS_STOPPED ? LOG_SWEEP_STOPPED : LOG_SWEEP_ENDED;
    if (failed)
        event = start->held ? LOG_SWEEP_FAILED : LOG_START_REFUSED;
    struct json_writer *writer = journal_begin(start->journal, event);
    struct survey found;
    struct error lost;

    if (!writer)
        return;
    status_json_path(writer, output);
    json_writer_whole(writer, "exit_status", status);
    json_writer_text(writer, "message", failed ? error->text : NULL);
    json_writer_real(writer, "seconds", clock_now() - start->begun);
    if (output && read_end(start, output, &found) == 0) {
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

void start_tell_refusal(struct start *start, int status, const struct error *error)
{
    struct error ignored;

    start_begin(start, &ignored); /* for the log, and the dataset that it names */
    start_tell_end(start, status, error);
}

static struct dataset_options options_of(const struct arguments *arguments)
{
    return (struct dataset_options){.fresh = arguments_has(arguments, OPTION_FRESH),
        .retry_failed = arguments_has(arguments, OPTION_RETRY_FAILED)};
}

/* The number of runs to train, as far as is known; -1: error. */
static int64_t count_chosen(const struct start *start, struct dataset *dataset, struct error *error)
{
    struct chooser *chooser = chooser_new(&start->sweep, dataset);
    int64_t count = 0;

    if (!chooser)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", start->sweep.output);
    while (chooser_next(chooser) >= 0)
        count++;
    int status = chooser_check(chooser, error);
    chooser_free(chooser);
    return status == 0 ? count : -1;
}

static void say_grown(const struct sweep *sweep, const struct grown_steps *grown)
{
    char *old = set_aside_name(sweep->output, grown->old_steps);

    lines_print(stdout, 0,
        "%s: steps grows from %" PRId64 " to %" PRId64 ": %" PRId64 " of %" PRId64
        " runs carry on from their states in %s.d; the dataset of the shorter sweep is now %s",
        sweep->output, grown->old_steps, sweep->base.steps, grown->kept, grown->runs, sweep->output,
        old ? old : "");
    free(old);
}

int64_t start_open_output(struct start *start, struct error *error)
{
    struct dataset_options options = options_of(&start->arguments);
    struct dataset *dataset;

    if (lease_take(&start->lease, start->sweep.output, error) != 0)
        return -1;
    start->held = true;
    prepare_last_line(start,
        "interrupted: runs under way may lose their steps since their last checkpoints, all else is kept; "
        "run the same command again to continue");
    lease_keep(start->lease); /* creating a large dataset takes minutes */
    if (dataset_open(&dataset, start->sweep.output, &start->sweep, &start->corpus, NULL, &options, error) !=
        0)
        return -1;
    if (dataset_grown(dataset)->old_steps)
        say_grown(&start->sweep, dataset_grown(dataset));
    struct error closing;
    int64_t pending = count_chosen(start, dataset, error);
    int closed = dataset_close(dataset, pending < 0 ? &closing : error);
    return closed != 0 ? -1 : pending;
}
