/* What happens in a job, as lines of its log: docs/log.schema.json has the fields. Workers are numbered from
 * 1 there, as in messages. The result of a run waits for its commit; so do all lines behind it. */
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/log/log.h"
#include "driver/status/status.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"

#include <stdio.h>

/* The sweep begins: its outcomes so far, and this start's session as the dataset has it. */
static void put_sweep(struct json_writer *writer, const struct job *job, int workers)
{
    const signed char *outcome = dataset_outcomes(job->dataset);
    int64_t count[OUTCOME_COUNT] = {0};
    struct error ignored;
    struct view view;
    int cause = 0;

    for (int64_t cell = 0; cell < job->sweep->cells; cell++)
        count[outcome[cell]]++;
    status_json_path(writer, job->sweep->output);
    json_writer_whole(writer, "workers", workers);
    json_writer_whole(writer, "cells", job->sweep->cells);
    json_writer_whole(writer, "runs_left", job_pending(job) + job->tally.to_come);
    status_json_counts(writer, count);
    if (view_open(&view, job->sweep->output, &ignored) != 0) {
        json_writer_null(writer, "session");
        return;
    }
    status_json_session(writer, &view, dataset_session(job->dataset), 0, &cause);
    view_close(&view);
}

static void put_run(struct json_writer *writer, const struct job *job, const struct job_event *event)
{
    cell_json(writer, job->sweep->axis_count, job->sweep->axis, event->cell);
    json_writer_whole(writer, "worker", event->worker + 1);
}

static void put_worker(struct json_writer *writer, const struct job_event *event)
{
    json_writer_whole(writer, "worker", event->worker + 1);
    json_writer_text(writer, "host", event->host);
    json_writer_whole(writer, "rank", event->rank);
}

/* Writes the fields of an event; false: it has no line. */
static bool put_event(struct journal *journal, const struct job *job, const struct job_event *event)
{
    struct json_writer *writer;
    bool first;

    switch (event->kind) {
    case JOB_BEGUN:
        first = dataset_session(job->dataset) == 0;
        writer = journal_begin(journal, first ? LOG_SWEEP_STARTED : LOG_SWEEP_RESUMED);
        if (writer)
            put_sweep(writer, job, event->workers);
        return writer;
    case JOB_RUN_BEGUN:
        writer = journal_begin(journal, event->step > 0 ? LOG_RUN_RESUMED : LOG_RUN_STARTED);
        if (!writer)
            return false;
        put_run(writer, job, event);
        json_writer_text(writer, "host", event->host);
        json_writer_whole(writer, "step", event->step);
        json_writer_whole(writer, "last_step", event->last_step);
        return true;
    case JOB_RUN_ENDED:
        writer = journal_begin(journal, LOG_RUN_ENDED);
        if (!writer)
            return false;
        put_run(writer, job, event);
        json_writer_text(writer, "outcome", outcome_words[event->result->outcome]);
        json_writer_whole(writer, "last_step", event->result->last_step);
        json_writer_real(writer, "norm_growth", event->result->norm_growth);
        json_writer_real(writer, "seconds", event->result->seconds);
        json_writer_text(
            writer, "reason", event->result->outcome == OUTCOME_FAILED ? event->result->reason : NULL);
        return true;
    case JOB_RUN_RETURNED:
        writer = journal_begin(journal, LOG_RUN_RETURNED);
        if (writer)
            put_run(writer, job, event);
        return writer;
    case JOB_WORKER_LOST:
        writer = journal_begin(journal, LOG_WORKER_LOST);
        if (!writer)
            return false;
        put_worker(writer, event);
        if (event->cell >= 0)
            cell_json(writer, job->sweep->axis_count, job->sweep->axis, event->cell);
        json_writer_text(writer, "message", event->why);
        return true;
    case JOB_WORKER_REPLACED:
        writer = journal_begin(journal, LOG_WORKER_REPLACED);
        if (writer)
            put_worker(writer, event);
        return writer;
    default:
        return false;
    }
}

static void see(void *context, const struct job *job, const struct job_event *event)
{
    struct journal *journal = context;
    struct error error;

    if (event->kind == JOB_COMMITTED)
        journal_commit(journal, event->results >= 0);
    if (!put_event(journal, job, event))
        return;
    journal_end(journal, event->kind == JOB_RUN_ENDED);
    if (!journal_complains(journal, true, &error)) /* a lost line is not an error of the sweep */
        return;
    JOB_TELL(job, .kind = JOB_SPEAKS);
    fprintf(stderr, "%s\n", error.text);
}

struct job_observer log_observer(struct journal *journal)
{
    return (struct job_observer){journal, journal ? see : NULL};
}
