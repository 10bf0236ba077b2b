/*
 * The state of a sweep as one JSON object, which docs/status.schema.json describes. It is made as a whole and
 * written at once, so that a reader never sees half of it.
 */
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/output/output.h"
#include "driver/picture/picture.h"
#include "driver/status/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAILURES_MOST = 100 };

static char *join_current(const char *path)
{
    char *current = path[0] == '/' ? NULL : getcwd(NULL, 0), *whole;

    whole = memory_format("%s%s%s", current ? current : "", current ? "/" : "", path);
    free(current);
    return whole;
}

void status_json_path(struct json_writer *writer, const char *path)
{
    char *whole = NULL;

    if (path)
        output_resolve(path, &whole);
    if (path && !whole) /* its folder is not there */
        whole = join_current(path);
    json_writer_text(writer, "path", whole ? whole : path);
    free(whole);
}

void status_json_counts(struct json_writer *writer, const int64_t count[OUTCOME_COUNT])
{
    json_writer_open(writer, "counts", '{');
    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_writer_whole(writer, outcome_words[i], count[i]);
    json_writer_close(writer, '}');
}

void status_json_session(
    struct json_writer *writer, const struct view *view, int64_t session, double age, int *cause)
{
    json_writer_open(writer, "session", '{');
    json_writer_whole(writer, "number", session);
    for (int i = 0; i < SESSION_NUMBER_FIRST; i++) {
        const char *name = session_variable_table[i].name;
        char *text = view_string(view, name, session, cause);
        json_writer_text(writer, name + strlen("session_"), text);
        free(text);
    }
    json_writer_real(writer, "age_seconds", age);
    json_writer_close(writer, '}');
}

/* ---- parts of the object ---- */

/* A step, or a count, that may be unknown. */
static void put_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_writer_null(writer, name);
    else
        json_writer_whole(writer, name, value);
}

/* A global text. */
static void put_text(
    struct json_writer *writer, const char *name, const struct view *view, const char *attribute, int *cause)
{
    char *text = view_text(view, attribute, cause);

    json_writer_text(writer, name, text);
    free(text);
}

static void put_file(struct json_writer *writer, const struct status *status, int *cause)
{
    const struct view *view = &status->view;

    put_text(writer, "title", view, ATTRIBUTE_SWEEP_TITLE, cause);
    put_text(writer, "notes", view, ATTRIBUTE_SWEEP_NOTES, cause);
    json_writer_text(writer, "state", status_state(status));
    json_writer_text(writer, "fault", status->fault);
    json_writer_truth(writer, "copy", view->copy);
    json_writer_whole(writer, "bytes", view->bytes);
    json_writer_whole(writer, "format_version", view->format);
    json_writer_real(writer, "written_seconds", status->written);
}

static void put_grid(struct json_writer *writer, const struct view *view)
{
    json_writer_open(writer, "grid", '[');
    for (int64_t i = 0; i < view->axis_count; i++) {
        json_writer_open(writer, NULL, '{');
        json_writer_text(writer, "name", view->axis[i].name);
        json_writer_whole(writer, "length", view->axis[i].length);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
}

static void put_progress(struct json_writer *writer, const struct status *status)
{
    const struct survey *survey = &status->survey;

    json_writer_whole(writer, "cells", survey->cells);
    json_writer_whole(writer, "runs", survey->runs);
    json_writer_whole(writer, "expected_runs", (int64_t)survey_expected(survey));
    json_writer_whole(writer, "ended", survey->ended);
    status_json_counts(writer, survey->count);
    put_known(writer, "saved", status->folder ? status->saved.count : -1);
    json_writer_real(writer, "seconds_left", survey->left);
    json_writer_real(writer, "tokens_per_second", survey->rate);
    json_writer_open(writer, "mean", '{');
    json_writer_real(writer, "seconds", survey->seconds);
    json_writer_real(writer, "tokens_per_second", survey->speed);
    json_writer_close(writer, '}');
}

static void put_session(struct json_writer *writer, const struct status *status, int *cause)
{
    int64_t session = status->survey.session;

    json_writer_whole(writer, "sessions", session + 1);
    if (session < 0)
        json_writer_null(writer, "session");
    else
        status_json_session(writer, &status->view, session, status->survey.age, cause);
}

static void put_runs(struct json_writer *writer, const struct status *status)
{
    const struct view *view = &status->view;

    json_writer_open(writer, "under_way", '[');
    for (int64_t i = 0; i < status->survey.running; i++) {
        const struct survey_run *run = &status->survey.run[i];
        json_writer_open(writer, NULL, '{');
        cell_json(writer, view->axis_count, view->axis, run->cell);
        json_writer_whole(writer, "step", run->step);
        put_known(writer, "last_step", run->last_step);
        json_writer_real(writer, "loss", run->loss);
        json_writer_text(writer, "host", run->host);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
}

static void put_failure(struct json_writer *writer, const struct view *view, int64_t cell, int *cause)
{
    char *reason = view_string(view, run_variable_table[RUN_VARIABLE_reason].name, cell, cause);

    json_writer_open(writer, NULL, '{');
    cell_json(writer, view->axis_count, view->axis, cell);
    json_writer_text(writer, "reason", reason ? reason : "");
    json_writer_close(writer, '}');
    free(reason);
}

static void put_failures(struct json_writer *writer, const struct status *status, int *cause)
{
    const struct survey *survey = &status->survey;
    int count = 0;

    json_writer_open(writer, "failures", '[');
    for (int64_t cell = 0; cell < survey->cells && count < FAILURES_MOST; cell++) {
        if (survey->outcome[cell] != OUTCOME_FAILED)
            continue;
        put_failure(writer, &status->view, cell, cause);
        count++;
    }
    json_writer_close(writer, ']');
}

/* ---- the whole ---- */

int status_json_print(const struct status *status, struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *out = memory_stream(&text, &size);
    struct json_writer writer = {.out = out};
    char time[JSON_TIME];
    int cause = 0;

    json_writer_open(&writer, NULL, '{');
    json_writer_whole(&writer, "version", STATUS_JSON_VERSION);
    json_writer_text(&writer, "time", json_time(time));
    status_json_path(&writer, status->view.name);
    put_file(&writer, status, &cause);
    put_grid(&writer, &status->view);
    put_progress(&writer, status);
    put_session(&writer, status, &cause);
    put_runs(&writer, status);
    put_failures(&writer, status, &cause);
    json_writer_close(&writer, '}');
    fputc('\n', out);
    memory_stream_close(out);
    if (cause == 0)
        fputs(text, stdout);
    free(text);
    return cause == 0 ? 0 : error_set(error, ERROR_ENVIRONMENT, "%s: %s", status->view.name, strerror(cause));
}
