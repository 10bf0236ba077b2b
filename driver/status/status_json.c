/*
 * The survey of a sweep as one JSON object, which docs/status.schema.json describes: a walk over the list of
 * fields. The object is made as a whole and written at once, so that a reader never sees half of it. The log
 * has parts of it in its lines.
 */
#include "driver/status/inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAILURES_MOST = 100 };

void status_json_path(struct json_writer *writer, const char *path)
{
    char *whole = NULL;

    if (path)
        output_resolve(path, &whole);
    if (path && !whole) { /* its folder is not there */
        char *current = path[0] == '/' ? NULL : getcwd(NULL, 0);
        whole = memory_format("%s%s%s", current ? current : "", current ? "/" : "", path);
        free(current);
    }
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

/* ---- the object ---- */

static void put_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_writer_null(writer, name);
    else
        json_writer_whole(writer, name, value);
}

static void put_runs(struct json_writer *writer, const struct survey *survey)
{
    for (int64_t i = 0; i < survey->running; i++) {
        const struct survey_run *run = &survey->run[i];
        json_writer_open(writer, NULL, '{');
        cell_json(writer, survey->view.axis_count, survey->view.axis, run->cell);
        json_writer_whole(writer, "step", run->step);
        put_known(writer, "last_step", run->last_step);
        json_writer_real(writer, "loss", run->loss);
        json_writer_text(writer, "host", run->host);
        json_writer_close(writer, '}');
    }
}

static void put_failures(struct json_writer *writer, const struct survey *survey, int *cause)
{
    int64_t cell = survey_next_failed(survey, 0);

    for (int i = 0; i < FAILURES_MOST && cell >= 0; i++) {
        char *reason = survey_reason(survey, cell, cause);
        json_writer_open(writer, NULL, '{');
        cell_json(writer, survey->view.axis_count, survey->view.axis, cell);
        json_writer_text(writer, "reason", reason ? reason : "");
        json_writer_close(writer, '}');
        free(reason);
        cell = survey_next_failed(survey, cell + 1);
    }
}

/* The fields that have a form of their own. */
static void put_own(
    struct json_writer *writer, const struct survey *survey, enum survey_field field, int *cause)
{
    if (field == FIELD_COUNTS) {
        status_json_counts(writer, survey->count);
    } else if (field == FIELD_SESSION && survey->session < 0) {
        json_writer_null(writer, "session");
    } else if (field == FIELD_SESSION) {
        status_json_session(writer, &survey->view, survey->session, survey->age, cause);
    } else {
        json_writer_open(writer, survey_table[field].name, '[');
        for (int64_t i = 0; field == FIELD_GRID && i < survey->view.axis_count; i++) {
            json_writer_open(writer, NULL, '{');
            json_writer_text(writer, "name", survey->view.axis[i].name);
            json_writer_whole(writer, "length", survey->view.axis[i].length);
            json_writer_close(writer, '}');
        }
        if (field == FIELD_RUNS_UNDER_WAY)
            put_runs(writer, survey);
        else if (field != FIELD_GRID)
            put_failures(writer, survey, cause);
        json_writer_close(writer, ']');
    }
}

static void put_field(
    struct json_writer *writer, const struct survey *survey, enum survey_field field, int *cause)
{
    const struct survey_row *row = &survey_table[field];
    const void *value = (const char *)survey + row->offset;

    switch (row->kind) {
    case KIND_TEXT:
        json_writer_text(writer, row->name, *(char *const *)value);
        break;
    case KIND_TRUTH:
        json_writer_truth(writer, row->name, *(const bool *)value);
        break;
    case KIND_WHOLE:
        put_known(writer, row->name, *(const int64_t *)value);
        break;
    case KIND_SECONDS:
    case KIND_RATE:
        json_writer_real(writer, row->name, *(const double *)value);
        break;
    case KIND_OPEN:
        json_writer_open(writer, row->name, '{');
        break;
    case KIND_CLOSE:
        json_writer_close(writer, '}');
        break;
    case KIND_OWN:
        put_own(writer, survey, field, cause);
        break;
    }
}

void survey_print_json(const struct survey *survey, int *cause)
{
    char *text = NULL;
    size_t size;
    FILE *out = memory_stream(&text, &size);
    struct json_writer writer = {.out = out};
    char time[JSON_TIME];

    json_writer_open(&writer, NULL, '{');
    json_writer_whole(&writer, "version", STATUS_JSON_VERSION);
    json_writer_text(&writer, "time", json_time(time));
    status_json_path(&writer, survey->view.name);
    for (enum survey_field field = 0; field < FIELD_COUNT; field++)
        put_field(&writer, survey, field, cause);
    json_writer_close(&writer, '}');
    fputc('\n', out);
    memory_stream_close(out, &text);
    if (*cause == 0)
        fputs(text, stdout);
    free(text);
}
