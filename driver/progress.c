#include "driver/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LABEL_MOST = 160, LINE_SIZE = 512 };

#define LIVE_SECONDS 0.25
#define PLAIN_SECONDS 30
#define RATE_SECONDS 10 /* over which rates are smoothed */
#define ROUNDING 1e-12 /* of sums of costs, as a part of them */

struct worker_progress {
    bool busy, begun; /* begun: its first step was heard */
    char label[LABEL_MOST];
    double cost, credit; /* credit: the part of the cost that is behind it */
    double loss; /* NaN: none yet */
    int64_t step, last_step, tokens;
    double heard; /* when `tokens` was */
    double rate; /* tokens per second; NaN: not known yet */
};

struct progress {
    FILE *file;
    struct screen screen;
    int workers;
    struct worker_progress *worker; /* [workers] */
    double credit; /* of all workers */
    double given; /* the part of all credit that runs came with when they were resumed */
    double tokens; /* since the last show */
    double rate; /* tokens per second of all; NaN: not known yet */
    double begun, shown;
    double cost_first; /* left when the sweep began; NaN: not known yet */
    int drawn; /* lines of the block on the terminal */
};

static struct screen screen_parse(const char *text)
{
    char *end;
    long width = strtol(text, &end, 10), height = *end == 'x' ? strtol(end + 1, NULL, 10) : 0;
    bool sensible = width > 0 && width < LINE_SIZE && height > 0 && height < 10000;

    return sensible ? (struct screen){(int)width, (int)height} : (struct screen){0, 0};
}

struct screen screen_find(void)
{
    const char *handed = getenv(SCREEN_VARIABLE), *terminal = getenv("TERM");
    struct screen screen = {0, 0};
    struct winsize size;

    if (handed)
        return screen_parse(handed);
    if (!isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0))
        return screen;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    return known ? (struct screen){size.ws_col, size.ws_row} : (struct screen){80, 24};
}

struct progress *progress_new(FILE *file, struct screen screen, int workers, double now)
{
    struct progress *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct progress){.file = file,
        .screen = screen,
        .workers = workers,
        .rate = NAN,
        .begun = now,
        .shown = screen.width ? -INFINITY : now,
        .cost_first = NAN};
    p->worker = calloc((size_t)workers + 1, sizeof(*p->worker));
    if (p->worker)
        return p;
    free(p);
    return NULL;
}

void progress_free(struct progress *p)
{
    if (!p)
        return;
    free(p->worker);
    free(p);
}

static void set_credit(struct progress *p, struct worker_progress *w, double credit)
{
    p->credit += credit - w->credit;
    w->credit = credit;
}

void progress_begin(struct progress *p, int worker, const char *label, double cost, double now)
{
    struct worker_progress *w = &p->worker[worker];

    set_credit(p, w, 0);
    *w = (struct worker_progress){.busy = true, .cost = cost, .loss = NAN, .heard = now, .rate = NAN};
    snprintf(w->label, sizeof(w->label), "%s", label);
}

/* An average that forgets what is older than RATE_SECONDS. */
static double smoothed(double rate, double latest, double seconds)
{
    double weight = 1 - exp(-seconds / RATE_SECONDS);
    return isnan(rate) ? latest : rate + weight * (latest - rate);
}

void progress_step(
    struct progress *p, int worker, int64_t step, int64_t last_step, int64_t tokens, double now)
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
    if (now > w->heard && tokens > w->tokens)
        w->rate = smoothed(w->rate, (double)(tokens - w->tokens) / (now - w->heard), now - w->heard);
    p->tokens += (double)(tokens - w->tokens);
    w->step = step;
    w->last_step = last_step;
    w->tokens = tokens;
    w->heard = now;
    set_credit(p, w, credit);
}

void progress_loss(struct progress *p, int worker, double loss)
{
    p->worker[worker].loss = loss;
}

void progress_end(struct progress *p, int worker)
{
    set_credit(p, &p->worker[worker], 0);
    p->worker[worker].busy = false;
}

char *progress_duration(double seconds, char *text, size_t size)
{
    int64_t whole = (int64_t)(seconds + 0.5);

    if (seconds < 10)
        snprintf(text, size, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, size, "%" PRId64 " s", whole);
    else if (whole < 3600)
        snprintf(text, size, "%" PRId64 " min %02" PRId64 " s", whole / 60, whole % 60);
    else
        snprintf(text, size, "%" PRId64 " h %02" PRId64 " min", whole / 3600, whole / 60 % 60);
    return text;
}

char *progress_rate(double rate, char *text, size_t size)
{
    if (rate < 1e3)
        snprintf(text, size, "%.0f", rate);
    else if (rate < 1e6)
        snprintf(text, size, "%.3gk", rate < 999.5e3 ? rate / 1e3 : 999);
    else
        snprintf(text, size, "%.3gM", rate / 1e6);
    return text;
}

/* Seconds until the end at the pace so far; NaN while there is none. */
static double time_left(const struct progress *p, const struct tally *tally, double now)
{
    double left = tally->cost_left - p->credit, elapsed = now - p->begun;
    double behind = p->cost_first - p->given - left;

    return elapsed >= 1 && behind > ROUNDING * p->cost_first ? fmax(left, 0) / behind * elapsed : NAN;
}

static void sweep_line(const struct progress *p, const struct tally *tally, double now, char line[LINE_SIZE])
{
    double left = time_left(p, tally, now);
    char rate[32] = "", time[32] = "";

    if (!isnan(p->rate))
        progress_rate(p->rate, rate, sizeof(rate));
    if (!isnan(left))
        progress_duration(left, time, sizeof(time));
    snprintf(line, LINE_SIZE,
        "%" PRId64 "/%" PRId64 " done, %" PRId64 " running, %" PRId64 " diverged, %" PRId64
        " failed%s%s%s%s%s%s",
        tally->done, tally->runs, tally->running, tally->diverged, tally->failed, rate[0] ? ", " : "", rate,
        rate[0] ? " tokens/s" : "", time[0] ? ", " : "", time, time[0] ? " left" : "");
}

static void worker_line(const struct progress *p, int worker, char line[LINE_SIZE])
{
    const struct worker_progress *w = &p->worker[worker];
    char loss[32] = "", rate[32] = "";

    if (!w->busy) {
        snprintf(line, LINE_SIZE, "%3d  idle", worker + 1);
        return;
    }
    if (!isnan(w->loss))
        snprintf(loss, sizeof(loss), "  loss %.4g", w->loss);
    if (!isnan(w->rate))
        progress_rate(w->rate, rate, sizeof(rate));
    snprintf(line, LINE_SIZE, "%3d  %s  %" PRId64 "/%" PRId64 "%s%s%s%s", worker + 1, w->label, w->step,
        w->last_step, loss, rate[0] ? "  " : "", rate, rate[0] ? " tokens/s" : "");
}

/* The line without what the terminal has no room for; never ends within a UTF-8 character. */
static void put_line(struct progress *p, const char *line)
{
    int columns = 0;
    const char *c = line;

    for (; *c; c++) {
        bool begins = ((unsigned char)*c & 0xC0) != 0x80;
        if (begins && columns == p->screen.width - 1)
            break;
        columns += begins;
    }
    fprintf(p->file, "%.*s\x1b[K\n", (int)(c - line), line);
    p->drawn++;
}

void progress_clear(struct progress *p)
{
    if (p->drawn > 0) {
        fprintf(p->file, "\x1b[%dA\x1b[J", p->drawn);
        fflush(p->file);
    }
    p->drawn = 0;
}

static void draw_block(struct progress *p, const struct tally *tally, double now)
{
    char line[LINE_SIZE];
    int room = p->screen.height - 2; /* the sweep's line, and the cursor's */
    bool all = p->workers <= room;

    if (p->drawn > 0)
        fprintf(p->file, "\x1b[%dA", p->drawn);
    p->drawn = 0;
    for (int i = 0; i < p->workers && i < (all ? room : room - 1); i++) {
        worker_line(p, i, line);
        put_line(p, line);
    }
    if (!all && room > 0) {
        snprintf(line, sizeof(line), "  ... and %d workers more", p->workers - (room - 1));
        put_line(p, line);
    }
    sweep_line(p, tally, now, line);
    put_line(p, line);
}

void progress_show(struct progress *p, const struct tally *tally, double now)
{
    char line[LINE_SIZE];
    double since = now - p->shown;

    if (isnan(p->cost_first))
        p->cost_first = tally->cost_left;
    if (since < (p->screen.width ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    if (isfinite(since)) {
        p->rate = smoothed(p->rate, p->tokens / since, since);
        p->tokens = 0;
    }
    p->shown = now;
    if (p->screen.width) {
        draw_block(p, tally, now);
    } else {
        sweep_line(p, tally, now, line);
        fprintf(p->file, "%s\n", line);
    }
    fflush(p->file);
}
