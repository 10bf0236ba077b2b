#include "driver/job/inside.h"
#include "driver/picture/picture.h"
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
#define RATE_SECONDS 10 /* over which rates are smoothed */
#define ROUNDING 1e-12 /* relative rounding error of sums of costs */

/* Tokens per second over the last RATE_SECONDS or so, in which older ones count less. Each reader has its own
 * meter, as reading resets it. */
struct meter {
    double tokens; /* since the last reading */
    double counted, seconds; /* tokens before, and the time that they took; both fade */
    double read; /* time of the last reading; -INFINITY: never */
};

struct worker_progress {
    bool busy, begun; /* begun: its first step was reported */
    int64_t cell;
    double cost, credit; /* credit: cost of the steps taken so far */
    double loss; /* NaN: none yet */
    int64_t loss_step;
    int64_t step, last_step, tokens;
    struct meter shown; /* read with that of all workers, so that the rates of workers add up to theirs */
};

struct progress {
    struct canvas canvas; /* rows 0: plain lines */
    bool follows; /* adapts to the terminal's size */
    struct live_map map;
    int workers;
    struct worker_progress *worker; /* [workers] */
    struct run_line *line; /* [workers] */
    struct run_naming naming;
    double credit; /* sum over all workers */
    double given; /* credit of resumed runs for steps taken before this start */
    struct meter shown, told; /* of all workers: for the screen; for the dataset */
    bool stopping, news; /* news: this is not shown yet */
    double begun;
    double cost_first; /* cost left when the sweep began; NaN: not yet known */
};

struct terminal progress_terminal(void)
{
    const char *handed = getenv(SCREEN_VARIABLE);
    struct terminal terminal = {.columns = 80};

    return handed && terminal_parse(&terminal, handed) ? terminal : terminal_find(stderr);
}

struct progress *progress_new(
    FILE *file, const struct terminal *terminal, int workers, const struct picture_runs *runs, double now)
{
    struct progress *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct progress){.canvas = {.file = file, .terminal = *terminal},
        .workers = workers,
        .shown = {.read = terminal->rows ? -INFINITY : now},
        .told = {.read = now},
        .begun = now,
        .cost_first = NAN};
    live_map_init(&p->map, runs);
    p->worker = calloc((size_t)workers + 1, sizeof(*p->worker));
    p->line = calloc((size_t)workers + 1, sizeof(*p->line));
    for (int i = 0; p->worker && i < workers; i++)
        p->worker[i].shown.read = p->shown.read;
    if (p->worker && p->line)
        return p;
    progress_free(p);
    return NULL;
}

void progress_free(struct progress *p)
{
    if (!p)
        return;
    canvas_release(&p->canvas);
    live_map_release(&p->map);
    free(p->worker);
    free(p->line);
    free(p);
}

void progress_follow(struct progress *p)
{
    p->follows = p->canvas.terminal.rows > 0;
}

static void set_credit(struct progress *p, struct worker_progress *w, double credit)
{
    p->credit += credit - w->credit;
    w->credit = credit;
}

void progress_begin(struct progress *p, int worker, int64_t cell, double cost)
{
    struct worker_progress *w = &p->worker[worker];

    set_credit(p, w, 0);
    *w = (struct worker_progress){.busy = true, .cell = cell, .cost = cost, .loss = NAN, .shown = w->shown};
    progress_remap(p);
}

static void read_meter(struct meter *meter, double now)
{
    double since = now - meter->read;

    if (isfinite(since) && since > 0) {
        double rest = exp(-since / RATE_SECONDS);
        meter->counted = meter->counted * rest + meter->tokens;
        meter->seconds = meter->seconds * rest + since;
        meter->tokens = 0;
    }
    meter->read = now;
}

/* NaN: not yet known. */
static double meter_rate(const struct meter *meter)
{
    return meter->seconds > 0 ? meter->counted / meter->seconds : NAN;
}

static void read_shown(struct progress *p, double now)
{
    read_meter(&p->shown, now);
    for (int i = 0; i < p->workers; i++)
        read_meter(&p->worker[i].shown, now);
}

void progress_step(struct progress *p, int worker, int64_t step, int64_t last_step, int64_t tokens)
{
    struct worker_progress *w = &p->worker[worker];
    double credit = last_step > 0 ? w->cost * (double)step / (double)last_step : 0;

    if (!w->busy || tokens < w->tokens)
        return;
    if (!w->begun) {
        w->begun = true;
        w->tokens = tokens;
        p->given += credit;
    }
    w->shown.tokens += (double)(tokens - w->tokens);
    p->shown.tokens += (double)(tokens - w->tokens);
    p->told.tokens += (double)(tokens - w->tokens);
    w->step = step;
    w->last_step = last_step;
    w->tokens = tokens;
    set_credit(p, w, credit);
}

void progress_loss(struct progress *p, int worker, int64_t step, double loss)
{
    p->worker[worker].loss = loss;
    p->worker[worker].loss_step = step;
}

void progress_end(struct progress *p, int worker)
{
    set_credit(p, &p->worker[worker], 0);
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

/* Seconds to the end at the average pace so far; NaN: not yet known. */
static double time_left(const struct progress *p, const struct tally *tally, double now)
{
    double left = tally->cost_left - p->credit, elapsed = now - p->begun;
    double behind = p->cost_first - p->given - left;

    return elapsed >= 1 && behind > ROUNDING * p->cost_first ? fmax(left, 0) / behind * elapsed : NAN;
}

struct pace progress_pace(struct progress *p, const struct tally *tally, double now)
{
    read_meter(&p->told, now);
    return (struct pace){
        time_left(p, tally, now), meter_rate(&p->told), p->workers, (double)(tally->runs + tally->to_come)};
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
    const struct progress *p, const struct tally *tally, double now, int columns, char line[LINE_SIZE])
{
    enum { STOPPING, DONE, RUNNING, DIVERGED, FAILED, RATE, LEFT, PARTS };
    struct part part[PARTS] = {0};
    double left = time_left(p, tally, now), rate = meter_rate(&p->shown);
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
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return; /* no memory: skip this drawing */
    follow_size(p);
    put_block(p, out, tally, now);
    if (fclose(out) == 0)
        canvas_draw(&p->canvas, text);
    free(text);
}

void progress_show(struct progress *p, const struct tally *tally, double now)
{
    char line[LINE_SIZE];
    bool live = p->canvas.terminal.rows > 0;

    if (isnan(p->cost_first))
        p->cost_first = tally->cost_left;
    if (now - p->shown.read < (live ? LIVE_SECONDS : PLAIN_SECONDS) && !p->news)
        return;
    p->news = false;
    read_shown(p, now);
    if (live) {
        draw_block(p, tally, now);
    } else {
        sweep_line(p, tally, now, LINE_SIZE, line);
        fprintf(p->canvas.file, "%s\n", line);
        fflush(p->canvas.file);
    }
}
