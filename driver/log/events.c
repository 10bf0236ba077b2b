/*
 * What happens in a job, as lines of its log: docs/log.schema.json has the fields. Workers are numbered from
 * 1 there, as in messages. The result of a run waits for its commit; so do all lines behind it.
 */
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

/* The line of an event; LOG_EVENT_COUNT: it has none. */
static enum log_event line_of(const struct job *job, const struct job_event *event)
{
    switch (event->kind) {
    case JOB_BEGUN:
        return dataset_session(job->dataset) == 0 ? LOG_SWEEP_STARTED : LOG_SWEEP_RESUMED;
    case JOB_RUN_BEGUN:
        return event->step > 0 ? LOG_RUN_RESUMED : LOG_RUN_STARTED;
    case JOB_RUN_ENDED:
        return LOG_RUN_ENDED;
    case JOB_RUN_RETURNED:
        return LOG_RUN_RETURNED;
    case JOB_WORKER_LOST:
        return LOG_WORKER_LOST;
    case JOB_WORKER_REPLACED:
        return LOG_WORKER_REPLACED;
    case JOB_HOST_SHUT:
        return LOG_HOST_SHUT;
    case JOB_HOST_OPENED:
        return LOG_HOST_OPENED;
    default:
        return LOG_EVENT_COUNT;
    }
}

static void put_fields(struct json_writer *writer, const struct job *job, const struct job_event *event)
{
    const struct result *result = event->result;
    bool of_worker = event->kind == JOB_WORKER_LOST || event->kind == JOB_WORKER_REPLACED;

    if (event->kind == JOB_BEGUN) {
        put_sweep(writer, job, event->workers);
        return;
    }
    if (event->kind == JOB_HOST_SHUT || event->kind == JOB_HOST_OPENED) {
        json_writer_text(writer, "host", event->host);
        return;
    }
    if (!of_worker)
        cell_json(writer, job->sweep->axis_count, job->sweep->axis, event->cell);
    json_writer_whole(writer, "worker", event->worker + 1);
    if (of_worker) {
        json_writer_text(writer, "host", event->host);
        json_writer_whole(writer, "rank", event->rank);
    }
    if (event->kind == JOB_RUN_BEGUN) {
        json_writer_text(writer, "host", event->host);
        json_writer_whole(writer, "step", event->step);
        json_writer_whole(writer, "last_step", event->last_step);
    } else if (event->kind == JOB_RUN_ENDED) {
        json_writer_text(writer, "outcome", outcome_words[result->outcome]);
        json_writer_whole(writer, "last_step", result->last_step);
        json_writer_real(writer, "norm_growth", result->norm_growth);
        json_writer_real(writer, "seconds", result->seconds);
        json_writer_text(writer, "reason", result->outcome == OUTCOME_FAILED ? result->reason : NULL);
    } else if (event->kind == JOB_WORKER_LOST) {
        if (event->cell >= 0)
            cell_json(writer, job->sweep->axis_count, job->sweep->axis, event->cell);
        json_writer_text(writer, "message", event->why);
    }
}

static void see(void *context, const struct job *job, const struct job_event *event)
{
    struct journal *journal = context;
    enum log_event line = line_of(job, event);
    struct error error;

    if (event->kind == JOB_COMMITTED)
        journal_commit(journal, event->results >= 0);
    struct json_writer *writer = line == LOG_EVENT_COUNT ? NULL : journal_begin(journal, line);
    if (!writer)
        return;
    put_fields(writer, job, event);
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

void log_restart(void *journal, const char *why)
{
    struct json_writer *writer = journal_begin(journal, LOG_COORDINATOR_RESTARTED);

    if (!writer)
        return;
    json_writer_text(writer, "message", why);
    journal_end(journal, false);
}
