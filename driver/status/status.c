/*
 * The survey of a sweep, for normsweep status. As lines of text: what stays unread is an error at the end,
 * and the lines before it are printed. As one JSON object, which docs/status.schema.json describes: a walk
 * over the list of fields, made as a whole and written at once, so that a reader never sees half of it; the
 * log has parts of it in its lines.
 */
#include "driver/status/inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FAILURES_MOST = 20,
    JSON_FAILURES_MOST = 100,
    SESSIONS_MOST = 10,
    QUIET_SECONDS = 600,
    NOTES_MOST = 10, /* lines */
    EXPORT_LEAST = 1 << 20, /* bytes of a dataset: a copy has 250 KB of its own beside the numbers */
};

void survey_print_name(FILE *out, const struct survey *survey)
{
    const char *title = survey->title;

    lines_print(out, 0, "%s%s%s", survey->view.name, title ? ": " : "", title ? title : "");
}

void survey_print_failures(FILE *out, const struct survey *survey, int64_t most, int columns, int *cause)
{
    const struct view *view = &survey->view;
    int64_t left = survey->count[OUTCOME_FAILED];
    char label[LABEL_SIZE];

    for (int64_t cell = -1; most > 0 && (cell = survey_next_failed(survey, cell + 1)) >= 0; most--, left--) {
        char *reason = survey_reason(survey, cell, cause);
        if (columns)
            label_fit(view->axis_count, view->axis, cell, columns, label);
        else
            label_named(view->axis_count, view->axis, cell, NAMING_WHOLE, label);
        lines_print(out, 0, "failed: %s: %s", label, reason && reason[0] ? reason : "no reason given");
        free(reason);
    }
    if (left > 0)
        fprintf(out, "and %" PRId64 " more failed\n", left);
}

/* What people have written about the sweep, each line as one of its own. */
static void print_notes(const char *text)
{
    char *own = memory_copy(text), *notes = own;
    const char *name = "notes";

    for (char *tab = notes; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    for (int i = 0; i < NOTES_MOST && *notes; i++) {
        int length = (int)strcspn(notes, "\n");
        lines_print(stdout, 0, "%-*s%.*s", length ? 10 : 0, name, length, notes);
        notes += length + (notes[length] == '\n');
        name = "";
    }
    int left = lines_count(notes) + (*notes && notes[strlen(notes) - 1] != '\n');
    if (left > 0)
        printf("%-10sand %d more line%s\n", "", left, left == 1 ? "" : "s");
    free(own);
}

static void print_counts(const struct survey *survey)
{
    double all = survey->expected > 0 ? (double)survey->expected : 1;
    bool searches = survey->expected < survey->runs;

    printf("ended     %" PRId64 " of %s%" PRId64 " runs, %.1f %%\n", survey->ended, searches ? "about " : "",
        survey->expected, 100 * (double)survey->ended / all);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (searches && i == OUTCOME_PENDING)
            printf("  %-9s%" PRId64 " cells; the search will skip most of them\n", outcome_words[i],
                survey->count[i]);
        else if (survey->count[i] && i != OUTCOME_SKIPPED)
            printf("  %-9s%" PRId64 ", %.1f %%\n", outcome_words[i], survey->count[i],
                100 * (double)survey->count[i] / all);
    if (survey->count[OUTCOME_SKIPPED])
        printf(
            "  %-9s%" PRId64 ", no runs\n", outcome_words[OUTCOME_SKIPPED], survey->count[OUTCOME_SKIPPED]);
}

/* A field on a line of its own, if it is known. */
static void print_field(const struct survey *survey, enum survey_field field)
{
    char text[SAID_SIZE];

    if (survey_say(survey, field, LOOK_TEXT, text)[0])
        puts(text);
}

static void print_times(const struct survey *survey)
{
    bool stopped = survey->folder != NULL; /* where a stopped sweep keeps its runs */
    bool going = survey_is_going(survey), alive = survey->running > 0 && survey->written < QUIET_SECONDS;
    char text[SAID_SIZE];

    if (stopped) {
        puts("stopped   nothing runs; run the same command again to continue");
        if (survey->missing)
            lines_print(stdout, 0, "missing   part %s: run --part with each number", survey->missing);
        if (survey->saved > 0)
            lines_print(stdout, 0, "saved     %" PRId64 " run%s under way, in %s", survey->saved,
                survey->saved == 1 ? "" : "s", survey->folder);
    }
    /* Of all workers together, as `run` says it, if they work; and of one run, without what else takes its
     * time: a run of one second may train for half of it. */
    if (isfinite(survey->mean_rate)) {
        fputs("speed     ", stdout);
        if (going && alive && survey->rate > 0)
            printf("%s; ", survey_say(survey, FIELD_RATE, LOOK_TEXT, text));
        print_field(survey, FIELD_MEAN_RATE);
    }
    print_field(survey, FIELD_MEAN_SECONDS);
    if (survey->ended < survey->runs)
        print_field(survey, FIELD_WRITTEN);
    if (alive)
        print_field(survey, FIELD_SESSION);
    if (going && alive)
        print_field(survey, FIELD_LEFT);
}

static void print_sessions(const struct survey *survey, int *cause)
{
    static const enum session_variable terse[] = {SESSION_VARIABLE_version, SESSION_VARIABLE_blas_kernel,
        SESSION_VARIABLE_vector_level, SESSION_VARIABLE_host};
    int64_t end = survey->session + 1, first = end <= SESSIONS_MOST ? 0 : end - SESSIONS_MOST;

    if (survey->sessions > end - first)
        printf("%" PRId64 " %s sessions\n", survey->sessions - (end - first),
            survey->reason ? "other" : "earlier");
    for (int64_t session = first; session < end; session++) {
        char *text =
            view_string(&survey->view, session_variable_table[SESSION_VARIABLE_start].name, session, cause);
        printf("session %" PRId64 " %s", session, text ? text : "");
        free(text);
        for (size_t i = 0; i < sizeof(terse) / sizeof(*terse); i++) {
            const char *name = session_variable_table[terse[i]].name;
            text = view_string(&survey->view, name, session, cause);
            if (text && text[0])
                printf(", %s %s", name + strlen("session_"), text);
            free(text);
        }
        putchar('\n');
    }
}

static void print_lines(const struct survey *survey, int *cause)
{
    const struct view *view = &survey->view;
    bool large = view->bytes >= EXPORT_LEAST;

    survey_print_name(stdout, survey);
    printf("file      %s, %" PRId64 " bytes, format %" PRId64 "\n",
        view->copy ? "a netCDF-4 copy, to be read only" : "intact", view->bytes, view->format);
    fputs("grid      ", stdout);
    for (int64_t i = 0; i < view->axis_count; i++)
        printf("%s%" PRId64 " %s", i ? " x " : "", view->axis[i].length, view->axis[i].name);
    printf("%s%" PRId64 " cell%s\n", view->axis_count ? ", " : "", view->cells, view->cells == 1 ? "" : "s");
    if (survey->notes && survey->notes[0])
        print_notes(survey->notes);
    if (survey->fault)
        lines_print(stdout, 0, "altered   %s", survey->fault);
    print_counts(survey);
    print_times(survey);
    print_sessions(survey, cause);
    survey_print_failures(stdout, survey, FAILURES_MOST, 0, cause);
    if (view->copy || (large && !survey->reason && survey->ended == survey->runs)) {
        char *command = view->copy ? conversion_back(view->name, false) : conversion_to_copy(view->name);
        printf("%s%s   %s; nccopy is in Debian's netcdf-bin\n", view->copy ? "continue  " : "export    ",
            command, view->copy ? "a dataset that run can continue" : "a compressed netCDF-4 copy");
        free(command);
    }
}

/* ---- JSON ---- */

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

static void put_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_writer_null(writer, name);
    else
        json_writer_whole(writer, name, value);
}

/* The fields that have a form of their own. */
static void put_own(
    struct json_writer *writer, const struct survey *survey, enum survey_field field, int *cause)
{
    const struct view *view = &survey->view;
    int64_t failed = field == FIELD_FAILURES ? survey_next_failed(survey, 0) : -1;

    if (field == FIELD_COUNTS) {
        status_json_counts(writer, survey->count);
        return;
    }
    if (field == FIELD_SESSION) {
        if (survey->session < 0)
            json_writer_null(writer, "session");
        else
            status_json_session(writer, view, survey->session, survey->age, cause);
        return;
    }
    json_writer_open(writer, survey_table[field].name, '[');
    for (int64_t i = 0; field == FIELD_GRID && i < view->axis_count; i++) {
        json_writer_open(writer, NULL, '{');
        json_writer_text(writer, "name", view->axis[i].name);
        json_writer_whole(writer, "length", view->axis[i].length);
        json_writer_close(writer, '}');
    }
    for (int64_t i = 0; field == FIELD_RUNS_UNDER_WAY && i < survey->running; i++) {
        const struct survey_run *run = &survey->run[i];
        json_writer_open(writer, NULL, '{');
        cell_json(writer, view->axis_count, view->axis, run->cell);
        json_writer_whole(writer, "step", run->step);
        put_known(writer, "last_step", run->last_step);
        json_writer_real(writer, "loss", run->loss);
        json_writer_text(writer, "host", run->host);
        json_writer_close(writer, '}');
    }
    for (int i = 0; i < JSON_FAILURES_MOST && failed >= 0; i++) {
        char *reason = survey_reason(survey, failed, cause);
        json_writer_open(writer, NULL, '{');
        cell_json(writer, view->axis_count, view->axis, failed);
        json_writer_text(writer, "reason", reason ? reason : "");
        json_writer_close(writer, '}');
        free(reason);
        failed = survey_next_failed(survey, failed + 1);
    }
    json_writer_close(writer, ']');
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

/* A change that existing readers could trip over raises the version. */
enum { STATUS_JSON_VERSION = 1 };

static void print_json(const struct survey *survey, int *cause)
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

int survey_print(const struct survey *survey, bool json, struct error *error)
{
    int cause = 0;

    if (json)
        print_json(survey, &cause);
    else
        print_lines(survey, &cause);
    return cause ? error_set(error, ERROR_ENVIRONMENT, "%s: %s", survey->view.name, strerror(cause)) : 0;
}
