/*
 * What happens in a job, for its log: docs/log.schema.json has the fields. Workers are numbered from 1 there,
 * as in messages. All do nothing if the job keeps no log.
 */
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/inside.h"
#include "driver/status/status.h"
#include "driver/sweep/sweep.h"

#include <stdio.h>

static struct json_writer *begin(struct job *job, enum log_event event)
{
    return journal_begin(job->journal, event);
}

/* A lost line is no error of the sweep. */
static void end(struct job *job, bool waits)
{
    struct error error;

    journal_end(job->journal, waits);
    if (!journal_complains(job->journal, true, &error))
        return;
    progress_clear(job->progress);
    fprintf(stderr, "%s\n", error.text);
}

static void put_run(struct json_writer *writer, const struct job *job, int worker, int64_t cell)
{
    cell_json(writer, job->sweep->axis_count, job->sweep->axis, cell);
    json_writer_whole(writer, "worker", worker + 1);
}

/* The session as the dataset has it. */
static void put_session(struct json_writer *writer, const struct job *job)
{
    struct error ignored;
    struct view view;
    int cause = 0;

    if (view_open(&view, job->sweep->output, &ignored) != 0) {
        json_writer_null(writer, "session");
        return;
    }
    status_json_session(writer, &view, dataset_session(job->dataset), 0, &cause);
    view_close(&view);
}

void events_sweep_begun(struct job *job, int workers, int64_t runs_left)
{
    const signed char *outcome = dataset_outcomes(job->dataset);
    bool first = dataset_session(job->dataset) == 0;
    struct json_writer *writer = begin(job, first ? LOG_SWEEP_STARTED : LOG_SWEEP_RESUMED);
    int64_t count[OUTCOME_COUNT] = {0};

    if (!writer)
        return;
    for (int64_t cell = 0; cell < job->sweep->cells; cell++)
        count[outcome[cell]]++;
    status_json_path(writer, job->sweep->output);
    json_writer_whole(writer, "workers", workers);
    json_writer_whole(writer, "cells", job->sweep->cells);
    json_writer_whole(writer, "runs_left", runs_left);
    status_json_counts(writer, count);
    put_session(writer, job);
    end(job, false);
}

void events_run_begun(
    struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step)
{
    struct json_writer *writer = begin(job, step > 0 ? LOG_RUN_RESUMED : LOG_RUN_STARTED);

    if (!writer)
        return;
    put_run(writer, job, worker, cell);
    json_writer_text(writer, "host", host);
    json_writer_whole(writer, "step", step);
    json_writer_whole(writer, "last_step", last_step);
    end(job, false);
}

void events_run_ended(struct job *job, int worker, int64_t cell, const struct result *result)
{
    struct json_writer *writer = begin(job, LOG_RUN_ENDED);

    if (!writer)
        return;
    put_run(writer, job, worker, cell);
    json_writer_text(writer, "outcome", outcome_words[result->outcome]);
    json_writer_whole(writer, "last_step", result->last_step);
    json_writer_real(writer, "norm_growth", result->norm_growth);
    json_writer_real(writer, "seconds", result->seconds);
    json_writer_text(writer, "reason", result->outcome == OUTCOME_FAILED ? result->reason : NULL);
    end(job, true);
}

void events_run_returned(struct job *job, int worker, int64_t cell)
{
    struct json_writer *writer = begin(job, LOG_RUN_RETURNED);

    if (!writer)
        return;
    put_run(writer, job, worker, cell);
    end(job, false);
}

void events_worker_lost(
    struct job *job, int worker, const char *host, int rank, int64_t cell, const char *why)
{
    struct json_writer *writer = begin(job, LOG_WORKER_LOST);

    if (!writer)
        return;
    json_writer_whole(writer, "worker", worker + 1);
    json_writer_text(writer, "host", host);
    json_writer_whole(writer, "rank", rank);
    if (cell >= 0)
        cell_json(writer, job->sweep->axis_count, job->sweep->axis, cell);
    json_writer_text(writer, "message", why);
    end(job, false);
}

void events_worker_replaced(struct job *job, int worker, const char *host, int rank)
{
    struct json_writer *writer = begin(job, LOG_WORKER_REPLACED);

    if (!writer)
        return;
    json_writer_whole(writer, "worker", worker + 1);
    json_writer_text(writer, "host", host);
    json_writer_whole(writer, "rank", rank);
    end(job, false);
}
