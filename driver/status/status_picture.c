/* The screen of status --watch: counts, times, the map of the grid, runs under way, failures. */
#include "driver/dataset/read/read.h"
#include "driver/picture/picture.h"
#include "driver/status/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/core/printable.h"
#include "worker/host/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Numbers of lines. The map gets what the head, RUNS_LEAST and FAILURES_LEAST leave, or nothing if that is
 * below PICTURE_MAP_ROWS; runs and failures share the rest. */
enum { HEAD_LINES = 4, RUNS_LEAST = 4, FAILURES_LEAST = 2 };

enum { BAR_MOST = 40, RUNS_MOST = 200, HOST_MOST = 16, QUIET_SECONDS = 10 };

struct status_view {
    const struct status *status;
    const struct canvas *canvas;
    struct run_naming *naming;
};

static void put_bar(const struct status_view *picture, FILE *out)
{
    const struct survey *survey = &picture->status->survey;
    double part = survey->runs ? (double)survey->ended / (double)survey->runs : 1;
    int columns = canvas_columns(picture->canvas) - 40;
    int length = columns < BAR_MOST ? columns : BAR_MOST, full = (int)(part * length);
    bool unicode = picture->canvas->terminal.unicode;

    for (int i = 0; i < length; i++)
        fputs(i < full ? (unicode ? "\xe2\x96\x88" : "#") : (unicode ? "\xe2\x96\x91" : "."), out);
    fprintf(out, "%s%" PRId64 " of %" PRId64 " runs have ended, %.1f %%\n", length > 0 ? "  " : "",
        survey->ended, survey->runs, 100 * part);
}

static void put_counts(const struct status_view *picture, FILE *out)
{
    static const enum outcome order[] = {
        OUTCOME_DONE, OUTCOME_DIVERGED, OUTCOME_FAILED, OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_SKIPPED};
    const char *gap = "";

    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        int64_t count = picture->status->survey.count[order[i]];
        if (count == 0)
            continue;
        fprintf(out, "%s%" PRId64 " %s", gap, count, outcome_words[order[i]]);
        gap = ", ";
    }
    fputc('\n', out);
}

static void put_going(const struct status_view *picture, FILE *out)
{
    const struct survey *survey = &picture->status->survey;
    char time[32], rate[32];

    if (isfinite(survey->left))
        fprintf(out, "about %s left, ", duration_format(survey->left, time, sizeof(time)));
    if (isfinite(survey->rate) && survey->rate > 0)
        fprintf(out, "%s tokens/s in all, ", rate_format(survey->rate, rate, sizeof(rate)));
    if (isfinite(survey->age))
        fprintf(out, "begun %s ago", duration_format(survey->age, time, sizeof(time)));
    if (picture->status->written >= QUIET_SECONDS)
        fprintf(out, ", silent for %s", duration_format(picture->status->written, time, sizeof(time)));
    fputc('\n', out);
}

static void put_times(const struct status_view *picture, FILE *out)
{
    const struct survey *survey = &picture->status->survey;
    char time[32], rate[32];

    if (status_is_going(picture->status)) {
        put_going(picture, out);
    } else if (survey->ended < survey->runs && picture->status->view.copy) {
        fputs("stopped: this is a netCDF-4 copy, in which nothing runs\n", out);
    } else if (survey->ended < survey->runs) {
        fputs("stopped: nothing runs; run the same command again to continue\n", out);
    } else {
        if (isfinite(survey->seconds) && isfinite(survey->speed))
            fprintf(out, "per run, on average: %s, of this training steps at %s tokens/s",
                duration_format(survey->seconds, time, sizeof(time)),
                rate_format(survey->speed, rate, sizeof(rate)));
        fputc('\n', out);
    }
}

static void put_head(const struct status_view *picture, FILE *out)
{
    char *title = view_text(&picture->status->view, ATTRIBUTE_SWEEP_TITLE, NULL);

    lines_print(out, 0, "%s%s%s", picture->status->view.name, title ? ": " : "", title ? title : "");
    free(title);
    put_bar(picture, out);
    put_counts(picture, out);
    put_times(picture, out);
}

/* Prints the map if there is room; *lines becomes its number of lines. */
static void put_map(const struct status_view *picture, FILE *out, int rows, int *lines)
{
    const struct status *status = picture->status;
    struct picture_runs runs = {.axis_count = status->view.axis_count,
        .axis = status->view.axis,
        .outcome = status->survey.outcome,
        .growth = status->survey.growth,
        .phase = status->survey.phase,
        .live = status_is_going(status)};
    struct terminal terminal = picture->canvas->terminal;

    *lines = 0;
    terminal.columns = canvas_columns(picture->canvas);
    if (rows >= PICTURE_MAP_ROWS)
        *lines = picture_map(out, &terminal, rows, &runs);
}

static void describe_run(const struct survey_run *run, struct run_line *line)
{
    double silent = clock_now() - run->heard;
    char time[32];

    *line = (struct run_line){
        .cell = run->cell, .step = run->step, .last_step = run->last_step, .loss = run->loss};
    label_shorten(printable(run->host, line->head, sizeof(line->head)), HOST_MOST);
    if (silent >= QUIET_SECONDS)
        snprintf(line->note, sizeof(line->note), "heard %s ago", duration_format(silent, time, sizeof(time)));
}

/* Prints the runs under way, at most `rows` lines. */
static void put_runs(const struct status_view *picture, FILE *out, int rows)
{
    static struct run_line line[RUNS_MOST];
    const struct survey *survey = &picture->status->survey;
    int most = rows < RUNS_MOST ? rows : RUNS_MOST;
    bool all = survey->running <= most;
    int count = all ? (int)survey->running : most - 1;

    if (rows <= 0)
        return;
    for (int i = 0; i < count; i++)
        describe_run(&survey->run[i], &line[i]);
    if (count > 0)
        run_lines_print(out, canvas_columns(picture->canvas), picture->status->view.axis_count,
            picture->status->view.axis, line, count, picture->naming);
    if (!all)
        fprintf(out, "and %" PRId64 " more runs under way\n", survey->running - count);
}

static void put_failure(const struct status_view *picture, FILE *out, int64_t cell)
{
    const struct view *view = &picture->status->view;
    char *reason = view_string(view, run_variable_table[RUN_VARIABLE_reason].name, cell, NULL),
         label[LABEL_SIZE];

    label_fit(view->axis_count, view->axis, cell, canvas_columns(picture->canvas) / 2, label);
    lines_print(out, 0, "failed: %s: %s", label, reason && reason[0] ? reason : "no reason given");
    free(reason);
}

static void put_failures(const struct status_view *picture, FILE *out, int rows)
{
    const struct survey *survey = &picture->status->survey;
    int64_t failed = survey->count[OUTCOME_FAILED], count = failed <= rows ? failed : rows - 1, put = 0;

    for (int64_t cell = 0; cell < survey->cells && put < count; cell++) {
        if (survey->outcome[cell] != OUTCOME_FAILED)
            continue;
        put_failure(picture, out, cell);
        put++;
    }
    if (failed > put && rows > 0)
        fprintf(out, "and %" PRId64 " more failed\n", failed - put);
}

static int at_most_runs(int64_t count, int most)
{
    return count < most ? (int)count : most;
}

void status_picture(
    FILE *out, const struct status *status, const struct canvas *canvas, struct run_naming *naming)
{
    const struct status_view picture = {status, canvas, naming};
    const struct survey *survey = &status->survey;
    int failures = at_most_runs(survey->count[OUTCOME_FAILED], FAILURES_LEAST), map = 0;
    int room = canvas_rows(canvas) - HEAD_LINES;

    put_head(&picture, out);
    put_map(&picture, out, room - at_most_runs(survey->running, RUNS_LEAST) - failures, &map);
    room -= map > 0 ? map : 0;
    int runs = at_most_runs(survey->running, room - failures);
    put_runs(&picture, out, runs);
    put_failures(&picture, out, room - (runs > 0 ? runs : 0));
}
