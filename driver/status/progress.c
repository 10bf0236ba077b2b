/*
 * The display of a running sweep. A job tells it what happens, and it draws that a few times a second on a
 * terminal, otherwise as a line every 30 s. Of the lines that a terminal has, those of the workers come
 * first; the map of the grid gets the rest. Rates are those of the last seconds, since what users want to see
 * is a change; the time left follows from the whole start.
 */
#include "driver/picture/picture.h"
#include "driver/status/inside.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 512 };

#define LIVE_SECONDS 0.25
#define PLAIN_SECONDS 30

struct worker_progress {
    bool busy;
    int64_t cell;
    double loss; /* NaN: none yet */
    int64_t loss_step;
    int64_t step, last_step;
    struct meter shown; /* read with that of all workers, so that the rates of workers add up to theirs */
};

struct progress {
    struct canvas canvas; /* rows 0: plain lines */
    bool follows; /* adapts to the terminal's size */
    struct live_map map;
    struct speed speed;
    int workers;
    struct worker_progress *worker; /* [workers] */
    struct run_line *line; /* [workers] */
    struct run_naming naming;
    struct meter shown; /* of all workers */
    bool stopping, news; /* news: this is not shown yet */
};

struct progress *progress_new(
    FILE *file, const struct terminal *terminal, int workers, const struct picture_runs *runs, double now)
{
    struct progress *p = memory_new(1, sizeof(*p));

    *p = (struct progress){.canvas = {.file = file, .terminal = *terminal},
        .workers = workers,
        .shown = {.read = terminal->rows ? -INFINITY : now}};
    live_map_init(&p->map, runs);
    p->worker = memory_zero((size_t)workers, sizeof(*p->worker));
    p->line = memory_zero((size_t)workers, sizeof(*p->line));
    for (int i = 0; i < workers; i++)
        p->worker[i].shown.read = p->shown.read;
    speed_init(&p->speed, memory_zero((size_t)workers, sizeof(*p->speed.worker)), workers, now);
    return p;
}

void progress_free(struct progress *p)
{
    if (!p)
        return;
    canvas_release(&p->canvas);
    live_map_release(&p->map);
    speed_release(&p->speed);
    free(p->worker);
    free(p->line);
    free(p);
}

void progress_follow(struct progress *p)
{
    p->follows = p->canvas.terminal.rows > 0;
}

void progress_begin(struct progress *p, int worker, int64_t cell, double cost)
{
    struct worker_progress *w = &p->worker[worker];

    speed_begin(&p->speed, worker, cost);
    *w = (struct worker_progress){.busy = true, .cell = cell, .loss = NAN, .shown = w->shown};
    progress_remap(p);
}

void progress_step(struct progress *p, int worker, int64_t step, int64_t last_step, int64_t tokens)
{
    struct worker_progress *w = &p->worker[worker];
    int64_t new = speed_step(&p->speed, worker, step, last_step, tokens);

    if (new < 0)
        return;
    w->shown.tokens += (double)new;
    p->shown.tokens += (double)new;
    w->step = step;
    w->last_step = last_step;
}

void progress_loss(struct progress *p, int worker, int64_t step, double loss)
{
    p->worker[worker].loss = loss;
    p->worker[worker].loss_step = step;
}

void progress_end(struct progress *p, int worker)
{
    speed_end(&p->speed, worker);
    p->worker[worker].busy = false;
}

void progress_stop(struct progress *p)
{
    p->news = p->news || !p->stopping;
    p->stopping = true;
}

void progress_remap(struct progress *p)
{
    p->map.changed = true;
}

/* A part of the sweep's line. If the line is too long, parts with the smallest weight are left out. */
struct part {
    char text[48];
    int weight;
};

__attribute__((format(printf, 3, 4))) static void put_part(
    struct part *part, int weight, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(part->text, sizeof(part->text), format, arguments);
    va_end(arguments);
    part->weight = weight;
}

static void join_parts(const struct part *part, int count, char line[LINE_SIZE])
{
    size_t length = 0;

    line[0] = '\0';
    for (int i = 0; i < count; i++)
        if (part[i].text[0])
            length +=
                (size_t)snprintf(line + length, LINE_SIZE - length, "%s%s", length ? ", " : "", part[i].text);
}

static void leave_out_least(struct part *part, int count)
{
    int least = 0;

    for (int i = 1; i < count; i++)
        if (part[i].text[0] && part[i].weight < part[least].weight)
            least = i;
    part[least].text[0] = '\0';
    part[least].weight = INT_MAX;
}

/* The line about the whole sweep, at most `columns` wide. */
static void sweep_line(
    struct progress *p, const struct tally *tally, double now, int columns, char line[LINE_SIZE])
{
    enum { STOPPING, DONE, RUNNING, DIVERGED, FAILED, RATE, LEFT, PARTS };
    struct part part[PARTS] = {0};
    double left = speed_left(&p->speed, tally->cost_left, now), rate = meter_rate(&p->shown);
    char text[32];

    if (p->stopping)
        put_part(&part[STOPPING], 10, "stopping, saving");
    put_part(&part[DONE], 9, "%" PRId64 "/%s%" PRId64 " done", tally->done, tally->to_come ? "about " : "",
        tally->runs + tally->to_come);
    put_part(&part[RUNNING], 3, "%" PRId64 " running", tally->running);
    put_part(&part[DIVERGED], tally->diverged ? 4 : 2, "%" PRId64 " diverged", tally->diverged);
    put_part(&part[FAILED], tally->failed ? 7 : 1, "%" PRId64 " failed", tally->failed);
    if (!isnan(rate) && !p->stopping)
        put_part(&part[RATE], 5, "%s tokens/s in all", rate_format(rate, text, sizeof(text)));
    if (!isnan(left) && !p->stopping)
        put_part(&part[LEFT], 8, "%s left", duration_format(left, text, sizeof(text)));
    join_parts(part, PARTS, line);
    for (int i = p->stopping ? 2 : 1; i < PARTS && lines_width(line) > columns; i++) {
        leave_out_least(part, PARTS);
        join_parts(part, PARTS, line);
    }
}

static void describe_worker(const struct progress *p, int worker, struct run_line *line)
{
    const struct worker_progress *w = &p->worker[worker];
    double speed = meter_rate(&w->shown);
    char rate[16];

    *line = (struct run_line){.cell = w->busy ? w->cell : -1,
        .step = w->step > w->loss_step ? w->step : w->loss_step,
        .last_step = w->last_step,
        .loss = w->loss};
    snprintf(line->head, sizeof(line->head), "%3d", worker + 1);
    if (!isnan(speed))
        snprintf(line->note, sizeof(line->note), "%s tokens/s", rate_format(speed, rate, sizeof(rate)));
}

void progress_clear(struct progress *p)
{
    canvas_clear(&p->canvas);
}

static void put_workers(struct progress *p, FILE *out, int count)
{
    for (int i = 0; i < count; i++)
        describe_worker(p, i, &p->line[i]);
    run_lines_print(out, canvas_columns(&p->canvas), p->map.runs.axis_count, p->map.runs.axis, p->line, count,
        &p->naming);
    if (count < p->workers)
        fprintf(out, "  ... and %d workers more\n", p->workers - count);
}

/* The workers' lines take precedence; the map gets the rest. */
static void put_block(struct progress *p, FILE *out, const struct tally *tally, double now)
{
    int room = canvas_rows(&p->canvas) - 1; /* the sweep's line */
    bool all = p->workers <= room;
    int count = all ? p->workers : room - 1;
    char line[LINE_SIZE];

    live_map_draw(&p->map, &p->canvas, room - p->workers, now);
    fputs(p->map.text ? p->map.text : "", out);
    if (room > 0)
        put_workers(p, out, count);
    sweep_line(p, tally, now, canvas_columns(&p->canvas), line);
    fprintf(out, "%s\n", line);
}

static void follow_size(struct progress *p)
{
    struct terminal terminal = p->canvas.terminal;

    if (!p->follows || !terminal_resize(&terminal))
        return;
    canvas_resize(&p->canvas, &terminal);
    progress_remap(p);
}

static void draw_block(struct progress *p, const struct tally *tally, double now)
{
    char *text;
    size_t size;
    FILE *out = memory_stream(&text, &size);

    follow_size(p);
    put_block(p, out, tally, now);
    memory_stream_close(out);
    canvas_draw(&p->canvas, text);
    free(text);
}

void progress_show(struct progress *p, const struct tally *tally, double now)
{
    char line[LINE_SIZE];
    bool live = p->canvas.terminal.rows > 0;

    speed_left(&p->speed, tally->cost_left, now);
    if (now - p->shown.read < (live ? LIVE_SECONDS : PLAIN_SECONDS) && !p->news)
        return;
    p->news = false;
    meter_read(&p->shown, now);
    for (int i = 0; i < p->workers; i++)
        meter_read(&p->worker[i].shown, now);
    if (live) {
        draw_block(p, tally, now);
    } else {
        sweep_line(p, tally, now, LINE_SIZE, line);
        fprintf(p->canvas.file, "%s\n", line);
        fflush(p->canvas.file);
    }
}

/* ---- as an observer ---- */

/* norm_growth of runs that ended in earlier starts; NULL: it cannot be read, and the map lacks it. */
static double *read_growth(const struct sweep *sweep)
{
    struct error ignored;
    struct view view;
    double *growth = NULL;

    if (view_open(&view, sweep->output, &ignored) != 0)
        return NULL;
    if (view.cells == sweep->cells)
        growth = view_cells(&view, metric_table[METRIC_norm_growth].name, &ignored);
    view_close(&view);
    return growth;
}

static void begin(struct display *display, const struct job *job, const struct job_event *event)
{
    struct terminal terminal = terminal_handed();

    display->growth = terminal.rows > 0 ? read_growth(job->sweep) : NULL;
    const struct picture_runs runs = {.axis_count = job->sweep->axis_count,
        .axis = job->sweep->axis,
        .outcome = dataset_outcomes(job->dataset),
        .growth = display->growth,
        .live = true};
    display->progress = progress_new(stderr, &terminal, event->workers, &runs, event->now);
    progress_follow(display->progress);
}

static void see(void *context, const struct job *job, const struct job_event *event)
{
    struct display *display = context;
    struct progress *p = display->progress;

    if (event->kind == JOB_BEGUN)
        begin(display, job, event);
    if (!p)
        return;
    switch (event->kind) {
    case JOB_RUN_BEGUN:
        progress_begin(p, event->worker, event->cell, event->cost);
        break;
    case JOB_RUN_STEP:
        progress_step(p, event->worker, event->step, event->last_step, event->tokens);
        break;
    case JOB_RUN_LOSS:
        progress_loss(p, event->worker, event->step, event->loss);
        break;
    case JOB_RUN_LEFT:
        progress_end(p, event->worker);
        break;
    case JOB_RUN_ENDED:
        if (display->growth)
            display->growth[event->cell] = event->result->norm_growth;
        break;
    case JOB_COMMITTED:
        if (event->results > 0)
            progress_remap(p);
        break;
    case JOB_STOPS:
        progress_stop(p);
        break;
    case JOB_SPEAKS:
        progress_clear(p);
        break;
    case JOB_TICK:
        progress_show(p, &job->tally, event->now);
        break;
    case JOB_CLOSED:
        progress_clear(p);
        progress_free(p);
        free(display->growth);
        *display = (struct display){0};
        break;
    default:
        break;
    }
}

struct job_observer display_observer(struct display *display)
{
    return (struct job_observer){display, see};
}
