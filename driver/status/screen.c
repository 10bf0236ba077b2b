/*
 * The two screens of a sweep: of status --watch, from a survey, and of run, from what the job tells. They
 * share the map of the grid and the lines of runs under way. Of the lines that a terminal has,
 * those of runs come first, and the map gets the rest. Nothing here fails: what cannot be read is left out.
 * If lines of runs do not fit, names are shortened first, then notes and losses left out; a display keeps the
 * shortest names that it has needed, so that lines do not jump.
 *
 * The display of run is drawn a few times a second on a terminal, elsewhere as a line every 30 s. Rates are
 * those of the last seconds, since what users want to see is a change; the time left is the job's.
 */
#include "driver/status/inside.h"
#include "model/core/printable.h"
#include "worker/host/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints the map in at most `rows` lines, none if these are too few. Returns its lines. */
static int put_map(FILE *out, const struct canvas *canvas, int rows, const struct picture_runs *runs)
{
    struct terminal terminal = canvas->terminal;

    terminal.columns = canvas_columns(canvas);
    return rows >= PICTURE_MAP_ROWS ? picture_map(out, &terminal, rows, runs) : 0;
}

/* ---- runs under way ---- */

enum {
    NOTE_COLUMNS = 60, /* width from which notes are shown */
    LOSS_COLUMNS = 40, /* width from which losses are shown */
    LOSS_WIDTH = 10, /* of "loss 3.215", the usual width */
    LOSS_SIZE = 32,
    TAIL = 128,
};

/* "loss 3.215"; "" if there is no loss, or no room. Returns its width. */
static int put_loss(const struct run_line *line, int columns, char loss[LOSS_SIZE])
{
    if (isnan(line->loss) || columns < LOSS_COLUMNS)
        return snprintf(loss, LOSS_SIZE, "%s", "");
    return snprintf(loss, LOSS_SIZE, "loss %.4g", line->loss);
}

/* The part of a line after the run's name. */
static void put_tail(const struct run_line *line, int columns, int loss_width, char tail[TAIL])
{
    char loss[LOSS_SIZE];
    const char *note = columns >= NOTE_COLUMNS ? line->note : "";

    put_loss(line, columns, loss);
    int written =
        snprintf(tail, TAIL, "  %*" PRId64, snprintf(NULL, 0, "%" PRId64, line->last_step), line->step);
    if (line->last_step >= 0)
        written += snprintf(tail + written, TAIL - (size_t)written, "/%" PRId64, line->last_step);
    if (loss[0] || note[0])
        written += snprintf(tail + written, TAIL - (size_t)written, "  %s", loss);
    if (note[0])
        snprintf(tail + written, TAIL - (size_t)written, "%*s  %s", loss_width - lines_width(loss), "", note);
}

static int longest(
    int64_t axis_count, const struct axis *axis, enum naming naming, const struct run_line *line, int count)
{
    char label[LABEL_SIZE];
    int most = 0;

    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        int columns = lines_width(label_named(axis_count, axis, line[i].cell, naming, label));
        most = columns > most ? columns : most;
    }
    return most;
}

void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming)
{
    enum naming how = naming->columns == columns ? naming->naming : NAMING_WHOLE;
    int head = 0, loss_width = LOSS_WIDTH, room = columns, name;
    char loss[LOSS_SIZE], tail[TAIL], label[LABEL_SIZE];

    for (int i = 0; i < count; i++) {
        int width = lines_width(line[i].head),
            lost = line[i].cell < 0 ? 0 : put_loss(&line[i], columns, loss);
        head = width > head ? width : head;
        loss_width = lost > loss_width ? lost : loss_width; /* so that the notes line up */
    }
    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        put_tail(&line[i], columns, loss_width, tail);
        int left = columns - head - 2 - lines_width(tail);
        room = left < room ? left : room;
    }
    room = room > 0 ? room : 0;
    while ((name = longest(axis_count, axis, how, line, count)) > room && how < NAMING_NONE)
        how++;
    name = name < room ? name : room;
    *naming = (struct run_naming){how, columns};
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%*s  ", line[i].head, head - lines_width(line[i].head), "");
        if (line[i].cell < 0) {
            fputs("idle\n", out);
            continue;
        }
        put_tail(&line[i], columns, loss_width, tail);
        label_named(axis_count, axis, line[i].cell, how, label);
        label_shorten(label, name);
        fprintf(out, "%s%*s%s\n", label, name - lines_width(label), "", tail);
    }
}

/* ---- status --watch ---- */

/* Numbers of lines. The map gets what the head, RUNS_LEAST and FAILURES_LEAST leave, or nothing if that is
 * below PICTURE_MAP_ROWS; runs and failures share the rest. */
enum { HEAD_LINES = 4, RUNS_LEAST = 4, FAILURES_LEAST = 2 };

enum { BAR_MOST = 40, RUNS_MOST = 200, HOST_MOST = 16, QUIET_SECONDS = 10 };

/* What is known of these fields, on one line. */
static void put_fields(FILE *out, const struct survey *survey, const enum survey_field *field, int count)
{
    char text[SAID_SIZE];
    const char *gap = "";

    for (int i = 0; i < count; i++)
        if (survey_say(survey, field[i], LOOK_SCREEN, text)[0]) {
            fprintf(out, "%s%s", gap, text);
            gap = ", ";
        }
    fputc('\n', out);
}

static void put_times(FILE *out, const struct survey *survey)
{
    static const enum survey_field mean[] = {FIELD_MEAN_SECONDS, FIELD_MEAN_RATE};
    enum survey_field going[4];
    int count = 0;

    if (survey_is_going(survey)) {
        going[count++] = FIELD_LEFT;
        if (survey->rate > 0)
            going[count++] = FIELD_RATE;
        going[count++] = FIELD_SESSION;
        if (survey->written >= QUIET_SECONDS)
            going[count++] = FIELD_WRITTEN;
        put_fields(out, survey, going, count);
    } else if (survey->ended < survey->runs) {
        fputs(survey->view.copy ? "stopped: this is a netCDF-4 copy, in which nothing runs\n"
                                : "stopped: nothing runs; run the same command again to continue\n",
            out);
        if (survey->missing)
            lines_print(out, 0, "missing: part %s", survey->missing);
    } else {
        put_fields(out, survey, mean, isfinite(survey->mean_seconds) && isfinite(survey->mean_rate) ? 2 : 0);
    }
}

/* Prints the runs under way, at most `rows` lines. */
static void put_runs(
    FILE *out, const struct survey *survey, const struct canvas *canvas, int rows, struct run_naming *naming)
{
    static struct run_line line[RUNS_MOST];
    int most = rows < RUNS_MOST ? rows : RUNS_MOST;
    int count = survey->running <= most ? (int)survey->running : most - 1;
    char time[32];

    if (rows <= 0)
        return;
    for (int i = 0; i < count; i++) {
        const struct survey_run *run = &survey->run[i];
        double silent = clock_now() - run->heard;
        line[i] = (struct run_line){
            .cell = run->cell, .step = run->step, .last_step = run->last_step, .loss = run->loss};
        label_shorten(printable(run->host, line[i].head, sizeof(line[i].head)), HOST_MOST);
        if (silent >= QUIET_SECONDS)
            snprintf(line[i].note, sizeof(line[i].note), "heard %s ago",
                duration_format(silent, time, sizeof(time)));
    }
    if (count > 0)
        run_lines_print(
            out, canvas_columns(canvas), survey->view.axis_count, survey->view.axis, line, count, naming);
    if (count < survey->running)
        fprintf(out, "and %" PRId64 " more runs under way\n", survey->running - count);
}

static int at_most(int64_t count, int most)
{
    return count < most ? (int)count : most;
}

void survey_screen(
    FILE *out, const struct survey *survey, const struct canvas *canvas, struct run_naming *naming)
{
    const struct picture_runs grid = {.axis_count = survey->view.axis_count,
        .axis = survey->view.axis,
        .outcome = survey->outcome,
        .growth = survey->growth,
        .phase = survey->phase,
        .live = survey_is_going(survey)};
    static const enum outcome order[] = {
        OUTCOME_DONE, OUTCOME_DIVERGED, OUTCOME_FAILED, OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_SKIPPED};
    double part = survey->runs ? (double)survey->ended / (double)survey->runs : 1;
    int columns = canvas_columns(canvas) - 40;
    int bar = columns < BAR_MOST ? columns : BAR_MOST, full = (int)(part * bar);
    bool unicode = canvas->terminal.unicode;
    int64_t failed = survey->count[OUTCOME_FAILED];
    int failures = at_most(failed, FAILURES_LEAST), room = canvas_rows(canvas) - HEAD_LINES;
    const char *gap = "";

    survey_print_name(out, survey);
    for (int i = 0; i < bar; i++)
        fputs(i < full ? (unicode ? "\xe2\x96\x88" : "#") : (unicode ? "\xe2\x96\x91" : "."), out);
    fprintf(out, "%s%" PRId64 " of %" PRId64 " runs have ended, %.1f %%\n", bar > 0 ? "  " : "",
        survey->ended, survey->runs, 100 * part);
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (survey->count[order[i]] > 0) {
            fprintf(out, "%s%" PRId64 " %s", gap, survey->count[order[i]], outcome_words[order[i]]);
            gap = ", ";
        }
    fputc('\n', out);
    put_times(out, survey);
    room -= put_map(out, canvas, room - at_most(survey->running, RUNS_LEAST) - failures, &grid);
    int runs = at_most(survey->running, room - failures);
    put_runs(out, survey, canvas, runs, naming);
    room -= runs > 0 ? runs : 0;
    if (room > 0)
        survey_print_failures(
            out, survey, failed <= room ? failed : room - 1, canvas_columns(canvas) / 2, NULL);
}

/* ---- run ---- */

enum { LINE_SIZE = 1024 };

#define LIVE_SECONDS 0.25
#define PLAIN_SECONDS 30
#define MAP_REST 100 /* pause after a drawing of the map, in times that the drawing took */
#define MAP_REST_LEAST 1 /* seconds, the shortest pause */

void display_begin(struct display *d, FILE *file, const struct terminal *terminal, int workers,
    const struct picture_runs *runs, double now)
{
    *d = (struct display){.canvas = {.file = file, .terminal = *terminal},
        .runs = *runs,
        .growth = d->growth,
        .map_changed = true,
        .workers = workers,
        .line = memory_zero((size_t)workers, sizeof(*d->line)),
        .worker = memory_zero((size_t)workers, sizeof(*d->worker)),
        .all = {.read = terminal->rows ? -INFINITY : now}};
    for (int i = 0; i < workers; i++) {
        d->worker[i].read = d->all.read;
        d->line[i].cell = -1;
        snprintf(d->line[i].head, sizeof(d->line[i].head), "%3d", i + 1);
    }
}

/* Draws the map anew after changes, but so rarely that this takes less than 1 % of the time, however large
 * the grid is. When its room changes it is drawn at once, because lines made for a larger terminal would push
 * the workers' lines off a smaller one. */
static void draw_map(struct display *d, int rows, double now)
{
    double begin = clock_now();
    int columns = canvas_columns(&d->canvas);
    bool fits = d->map_rows == rows && d->map_columns == columns;
    size_t size;

    if (!d->runs.outcome || (fits && (!d->map_changed || now < d->map_next)))
        return;
    free(d->map);
    FILE *out = memory_stream(&d->map, &size);
    put_map(out, &d->canvas, rows, &d->runs);
    memory_stream_close(out, &d->map);
    d->map_rows = rows;
    d->map_columns = columns;
    d->map_changed = false;
    d->map_next = now + fmax(MAP_REST * (clock_now() - begin), MAP_REST_LEAST);
}

/* The line about the whole sweep, at most `columns` wide. If it is too long, parts with the smallest weight
 * are left out. */
static void sweep_line(
    const struct display *d, const struct tally *tally, double left, int columns, char line[LINE_SIZE])
{
    const struct survey survey = {
        .left = d->stopping ? NAN : left, .rate = d->stopping ? NAN : meter_rate(&d->all)};
    enum { STOPPING, DONE, RUNNING, DIVERGED, FAILED, RATE, LEFT, PARTS };
    _Static_assert((int)PARTS * (SAID_SIZE + 2) <= (int)LINE_SIZE, "a line has room for all parts");
    int weight[PARTS] = {10, 9, 3, tally->diverged ? 4 : 2, tally->failed ? 7 : 1, 5, 8};
    char part[PARTS][SAID_SIZE];

    snprintf(part[STOPPING], SAID_SIZE, "%s", d->stopping ? "stopping, saving" : "");
    snprintf(part[DONE], SAID_SIZE, "%" PRId64 "/%s%" PRId64 " done", tally->done,
        tally->to_come ? "about " : "", tally->runs + tally->to_come);
    snprintf(part[RUNNING], SAID_SIZE, "%" PRId64 " running", tally->running);
    snprintf(part[DIVERGED], SAID_SIZE, "%" PRId64 " diverged", tally->diverged);
    snprintf(part[FAILED], SAID_SIZE, "%" PRId64 " failed", tally->failed);
    survey_say(&survey, FIELD_RATE, LOOK_RUN, part[RATE]);
    survey_say(&survey, FIELD_LEFT, LOOK_RUN, part[LEFT]);
    for (int left_out = 0;; left_out++) {
        size_t length = 0;
        int least = -1;
        line[0] = '\0';
        for (int i = 0; i < PARTS; i++) {
            if (!part[i][0])
                continue;
            length +=
                (size_t)snprintf(line + length, LINE_SIZE - length, "%s%s", length ? ", " : "", part[i]);
            least = least < 0 || weight[i] < weight[least] ? i : least;
        }
        if (lines_width(line) <= columns || left_out == PARTS - 2)
            return;
        part[least][0] = '\0';
    }
}

/* The block of a terminal: map, workers, sweep. */
static void put_block(struct display *d, FILE *out, const struct tally *tally, double left, double now)
{
    int room = canvas_rows(&d->canvas) - 1, columns = canvas_columns(&d->canvas);
    int count = d->workers <= room ? d->workers : room - 1;
    char line[LINE_SIZE], rate[16];

    draw_map(d, room - d->workers, now);
    fputs(d->map ? d->map : "", out);
    for (int i = 0; i < count; i++) {
        double pace = meter_rate(&d->worker[i]);
        snprintf(d->line[i].note, sizeof(d->line[i].note), "%s%s",
            isnan(pace) ? "" : rate_format(pace, rate, sizeof(rate)), isnan(pace) ? "" : " tokens/s");
    }
    if (room > 0)
        run_lines_print(out, columns, d->runs.axis_count, d->runs.axis, d->line, count, &d->naming);
    if (room > 0 && count < d->workers)
        fprintf(out, "  ... and %d workers more\n", d->workers - count);
    sweep_line(d, tally, left, columns, line);
    fprintf(out, "%s\n", line);
}

/* Draws if due. */
static void show(struct display *d, const struct tally *tally, double left, double now)
{
    bool live = d->canvas.terminal.rows > 0;
    struct terminal terminal = d->canvas.terminal;
    char line[LINE_SIZE], *text;
    size_t size;

    if (now - d->all.read < (live ? LIVE_SECONDS : PLAIN_SECONDS) && !d->news)
        return;
    d->news = false;
    meter_read(&d->all, now);
    for (int i = 0; i < d->workers; i++)
        meter_read(&d->worker[i], now);
    if (!live) {
        sweep_line(d, tally, left, LINE_SIZE, line);
        fprintf(d->canvas.file, "%s\n", line);
        fflush(d->canvas.file);
        return;
    }
    if (d->follows && terminal_resize(&terminal)) {
        canvas_resize(&d->canvas, &terminal);
        d->map_changed = true;
    }
    FILE *out = memory_stream(&text, &size);
    put_block(d, out, tally, left, now);
    memory_stream_close(out, &text);
    canvas_draw(&d->canvas, text);
    free(text);
}

/* The display of a job that begins, on the terminal of stderr, if it has one. */
static void begin(struct display *d, const struct job *job, const struct job_event *event)
{
    const struct sweep *sweep = job->sweep;
    struct terminal terminal = terminal_handed();
    struct error ignored;
    struct view view;

    /* norm_growth of runs that ended in earlier starts; if it cannot be read, the map lacks it. */
    if (terminal.rows > 0 && view_open(&view, sweep->output, &ignored) == 0) {
        if (view.cells == sweep->cells)
            d->growth = view_cells(&view, metric_table[METRIC_norm_growth].name, &ignored);
        view_close(&view);
    }
    const struct picture_runs runs = {.axis_count = sweep->axis_count,
        .axis = sweep->axis,
        .outcome = dataset_outcomes(job->dataset),
        .growth = d->growth,
        .live = true};
    display_begin(d, stderr, &terminal, event->workers, &runs, event->now);
    d->follows = terminal.rows > 0;
}

static void see(void *context, const struct job *job, const struct job_event *event)
{
    struct display *d = context;

    if (event->kind == JOB_BEGUN)
        begin(d, job, event);
    if (!d->canvas.file)
        return;
    struct run_line *line = &d->line[event->worker];
    switch (event->kind) {
    case JOB_RUN_BEGUN:
        line->cell = event->cell;
        line->step = line->last_step = 0;
        line->loss = NAN;
        d->map_changed = true;
        break;
    case JOB_RUN_STEP:
        d->worker[event->worker].tokens += (double)event->tokens;
        d->all.tokens += (double)event->tokens;
        line->step = event->step > line->step ? event->step : line->step;
        line->last_step = event->last_step;
        break;
    case JOB_RUN_LOSS: /* rows arrive when they are measured, steps at intervals: the later of both counts */
        line->step = event->step > line->step ? event->step : line->step;
        line->loss = event->loss;
        break;
    case JOB_RUN_LEFT:
        line->cell = -1;
        break;
    case JOB_RUN_ENDED:
        if (d->growth)
            d->growth[event->cell] = event->result->norm_growth;
        break;
    case JOB_COMMITTED:
        d->map_changed = d->map_changed || event->results > 0;
        break;
    case JOB_STOPS: /* is shown at once, the first time */
        d->news = d->news || !d->stopping;
        d->stopping = true;
        break;
    case JOB_SPEAKS:
        canvas_clear(&d->canvas);
        break;
    case JOB_TICK:
        show(d, &job->tally, event->left, event->now);
        break;
    case JOB_CLOSED:
        canvas_clear(&d->canvas);
        free(d->growth);
        free(d->map);
        free(d->line);
        free(d->worker);
        *d = (struct display){0};
        break;
    default:
        break;
    }
}

struct job_observer display_observer(struct display *display)
{
    return (struct job_observer){display, see};
}
