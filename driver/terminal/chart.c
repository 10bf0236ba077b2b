#include "driver/terminal/chart.h"

#include "driver/terminal/dots.h"
#include "driver/text/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_LEAST = 6,
    ROWS_MOST = 24,
    ROWS_DEFAULT = 18, /* without a terminal */
    ROWS_AROUND = 5, /* x axis, its labels, its name, two lines of legend */
    ROWS_OF_TICK = 3,
    TICKS_MOST = 64,
    TICK_TEXT = 24,
    COLUMNS_LEAST = 8,
    COLUMNS_OF_TICK = 8,
    DIGITS_LEAST = 3,
    DIGITS_MOST = 15,
};

#define LOGARITHMIC_FROM 10 /* largest over smallest value */
#define DECADES_FEW 2 /* below this many, ticks at 1, 2 and 5 times each power of ten */
#define WHOLE_BELOW 1e7 /* whole numbers are written with all digits */

/* A labelled number on an axis. */
struct chart_tick {
    int at; /* column, or row from below */
    char text[TICK_TEXT];
};

/* One axis: its range, its length in dots, its ticks. */
struct scale {
    double low, high;
    bool logarithmic, whole; /* whole: ticks are integers */
    int length; /* dots */
    int tick_count;
    struct chart_tick tick[TICKS_MOST];
};

static double on_scale(const struct scale *scale, double value)
{
    return scale->logarithmic ? log10(value) : value;
}

/* The position of a value on the axis: 0 to 1 if it is within the range. */
static double scale_place(const struct scale *scale, double value)
{
    double low = on_scale(scale, scale->low), high = on_scale(scale, scale->high);

    return (on_scale(scale, value) - low) / (high - low);
}

/* The smallest of 1, 2 or 5 times a power of ten for which `most` steps cover the range. */
static double round_step(double range, int most)
{
    double power = pow(10, floor(log10(range / most)));

    for (int i = 0; i < 3; i++) {
        double step = power * (double[]){1, 2, 5}[i];
        if (range <= most * step * (1 + 1e-9))
            return step;
    }
    return 10 * power;
}

/* Adds a tick, unless it lies outside the axis. `share`: dots per character. */
static void add_tick(struct scale *scale, double value, int digits, int share)
{
    double at = scale_place(scale, value);

    if (scale->tick_count == TICKS_MOST || !(at > -1e-9 && at < 1 + 1e-9))
        return;
    struct chart_tick *tick = &scale->tick[scale->tick_count++];
    tick->at = (int)lround(at * (scale->length - 1)) / share;
    bool whole = value == floor(value) && fabs(value) < WHOLE_BELOW;
    snprintf(tick->text, TICK_TEXT, "%.*g", whole ? DIGITS_MOST : digits, value);
}

/* Adds ticks at 1, 2 and 5 times every power of ten. */
static void add_ticks_of_decades(struct scale *scale, int share)
{
    int first = (int)floor(log10(scale->low)), last = (int)ceil(log10(scale->high));

    for (int power = first; power <= last; power++)
        for (int i = 0; i < 3; i++)
            add_tick(scale, (double[]){1, 2, 5}[i] * pow(10, power), DIGITS_LEAST, share);
}

/* Adds ticks at round numbers, about `most` of them, with enough digits to tell neighbours apart. */
static void add_ticks(struct scale *scale, int most, int share)
{
    double low = on_scale(scale, scale->low), high = on_scale(scale, scale->high);
    double step = round_step(high - low, most > 1 ? most : 1);

    if (scale->logarithmic && high - low < DECADES_FEW) {
        add_ticks_of_decades(scale, share);
        return;
    }
    step = (scale->logarithmic || scale->whole) && step < 1 ? 1 : step;
    double digits = scale->logarithmic ? DIGITS_LEAST : 2 + floor(log10(fmax(fabs(low), fabs(high)) / step));
    digits = fmin(fmax(digits, DIGITS_LEAST), DIGITS_MOST);
    double first = ceil(low / step - 1e-9);
    for (int i = 0; i < TICKS_MOST; i++) {
        double at = (first + i) * step + 0.0; /* turns -0 into 0 */
        add_tick(scale, scale->logarithmic ? pow(10, at) : at, (int)digits, share);
    }
}

/* The range of the lines' finite values; lines marked `beyond` count only if `beyond` is set. False: there
 * are no finite values. */
static bool find_range(const struct chart *chart, bool beyond, struct scale *scale)
{
    scale->low = INFINITY;
    scale->high = -INFINITY;
    for (int i = 0; i < chart->line_count; i++)
        for (int64_t j = 0; j < chart->count && (beyond || !chart->line[i].beyond); j++) {
            if (!isfinite(chart->line[i].y[j]))
                continue;
            scale->low = fmin(scale->low, chart->line[i].y[j]);
            scale->high = fmax(scale->high, chart->line[i].y[j]);
        }
    return scale->low <= scale->high;
}

/* Widens a range that holds a single value. */
static void scale_widen(struct scale *scale)
{
    double by = scale->low != 0 ? fabs(scale->low) / 100 : 1;

    if (scale->high - scale->low > 1e-12 * fabs(scale->high))
        return;
    scale->low -= by;
    scale->high += by;
}

static int rows_of(const struct chart *chart)
{
    int rows = chart->terminal.rows - chart->beside - ROWS_AROUND;

    if (chart->terminal.rows == 0)
        return ROWS_DEFAULT;
    return rows < ROWS_LEAST ? ROWS_LEAST : rows < ROWS_MOST ? rows : ROWS_MOST;
}

/* Draws the part of a line segment that lies within the y axis; coordinates are positions on the axes. */
static void draw_stretch(struct dots *dots, double x0, double y0, double x1, double y1, int pen)
{
    double from = 0, to = 1;

    if (y0 != y1) {
        double bottom = (0 - y0) / (y1 - y0), top = (1 - y0) / (y1 - y0);
        from = fmax(from, fmin(bottom, top));
        to = fmin(to, fmax(bottom, top));
    }
    if (from > to || fmin(y0, y1) > 1 || fmax(y0, y1) < 0)
        return;
    double left = x0 + from * (x1 - x0), right = x0 + to * (x1 - x0);
    double begin = y0 + from * (y1 - y0), end = y0 + to * (y1 - y0);
    dots_line(dots, (int)lround(left * (dots->width - 1)), (int)lround(begin * (dots->height - 1)),
        (int)lround(right * (dots->width - 1)), (int)lround(end * (dots->height - 1)), pen);
}

static bool has_place(const struct scale *y, double value)
{
    return isfinite(value) && (!y->logarithmic || value > 0);
}

/* Connects the values, across steps without one. A value that cannot be drawn (infinite, or not positive
 * on a logarithmic axis) breaks the line; a value with no neighbour becomes a dot. */
static void draw_line(
    const struct chart *chart, const struct scale *x, const struct scale *y, int which, struct dots *dots)
{
    const double *value = chart->line[which].y;

    for (int64_t i = 0; i < chart->count; i++) {
        int64_t next = i + 1;
        if (!has_place(y, value[i]))
            continue;
        while (next < chart->count && isnan(value[next]))
            next++;
        if (next == chart->count || !has_place(y, value[next]))
            next = i;
        draw_stretch(dots, scale_place(x, chart->x[i]), scale_place(y, value[i]),
            scale_place(x, chart->x[next]), scale_place(y, value[next]), which);
    }
}

static int tick_label_width(const struct scale *y)
{
    int width = 0;

    for (int i = 0; i < y->tick_count; i++) {
        int label = lines_width(y->tick[i].text);
        width = label > width ? label : width;
    }
    return width;
}

static const char *label_at(const struct scale *scale, int at)
{
    for (int i = 0; i < scale->tick_count; i++)
        if (scale->tick[i].at == at)
            return scale->tick[i].text;
    return NULL;
}

static void print_rows(const struct chart *chart, const struct dots *dots, const struct scale *y, int margin)
{
    bool unicode = chart->terminal.unicode;

    for (int row = dots->rows - 1; row >= 0; row--) {
        const char *label = label_at(y, row);
        fprintf(chart->out, "%*s ", margin, label ? label : "");
        fputs(label ? unicode ? "┤" : "+" : unicode ? "│" : "|", chart->out);
        dots_print(dots, chart->out, row);
        fputc('\n', chart->out);
    }
}

/* The x axis, its name, and the tick labels that fit. */
static void print_x(const struct chart *chart, const struct dots *dots, const struct scale *x, int margin)
{
    bool unicode = chart->terminal.unicode;
    int end = -1;

    fprintf(chart->out, "%*s%s", margin + 1, "", unicode ? "└" : "+");
    for (int i = 0; i < dots->columns; i++)
        fputs(label_at(x, i) ? unicode ? "┬" : "+" : unicode ? "─" : "-", chart->out);
    fprintf(chart->out, "\n%*s", margin + 2, "");
    for (int i = 0; i < x->tick_count; i++) {
        int length = lines_width(x->tick[i].text), start = x->tick[i].at - (length - 1) / 2;
        start = start + length > dots->columns ? dots->columns - length : start;
        start = start < 0 ? 0 : start;
        if (start <= end)
            continue;
        fprintf(chart->out, "%*s%s", start - (end < 0 ? 0 : end), "", x->tick[i].text);
        end = start + length;
    }
    int indent = margin + 2 + dots->columns - lines_width(chart->x_name);
    fprintf(chart->out, "\n%*s%s\n", indent > 0 ? indent : 0, "", chart->x_name);
}

/* "learning_rate  -- 0.001  -- 0.01", wrapped. */
static void print_legend(const struct chart *chart, const struct dots *dots)
{
    int at = chart->legend ? lines_fit(chart->legend, chart->terminal.columns) : 0;

    if (!chart->legend)
        return;
    fprintf(chart->out, "%.*s", at, chart->legend);
    for (int i = 0; i < chart->line_count; i++) {
        const char *label = chart->line[i].label;
        int most = chart->terminal.columns - dots_pen_width(dots) - 1, fits = lines_fit(label, most);
        int width = dots_pen_width(dots) + 1 + lines_width(label);
        bool breaks = at + 2 + width > chart->terminal.columns;
        fputs(breaks ? "\n" : "  ", chart->out);
        at = (breaks ? 0 : at + 2) + width;
        dots_print_pen(dots, chart->out, i);
        fprintf(chart->out, " %.*s", fits, label);
    }
    fputc('\n', chart->out);
}

/* Lays out the ticks and the area between the axes. -1: no memory. */
static int lay_out_chart(const struct chart *chart, struct scale *x, struct scale *y, struct dots *dots)
{
    bool braille = dots_is_braille(&chart->terminal, chart->line_count);
    int share_x = braille ? DOTS_BRAILLE_X : 1, share_y = braille ? DOTS_BRAILLE_Y : 1, rows = rows_of(chart);

    y->length = rows * share_y;
    add_ticks(y, rows / ROWS_OF_TICK, share_y);
    int columns = chart->terminal.columns - tick_label_width(y) - 3;
    columns = columns > COLUMNS_LEAST ? columns : COLUMNS_LEAST;
    x->length = columns * share_x;
    add_ticks(x, columns / COLUMNS_OF_TICK, share_x);
    return dots_init(dots, &chart->terminal, columns, rows, chart->line_count);
}

int chart_draw(const struct chart *chart)
{
    struct scale x = {.low = chart->x[0], .high = chart->x[chart->count - 1], .whole = true}, y = {0};
    struct dots dots;

    if (!find_range(chart, false, &y) && !find_range(chart, true, &y)) {
        lines_print(chart->out, chart->terminal.columns, "nothing has been measured yet");
        return 0;
    }
    y.logarithmic = !chart->linear && y.low > 0 && y.high >= LOGARITHMIC_FROM * y.low;
    scale_widen(&x);
    scale_widen(&y);
    if (lay_out_chart(chart, &x, &y, &dots) != 0)
        return -1;
    for (int i = 0; i < chart->line_count; i++)
        draw_line(chart, &x, &y, i, &dots);
    print_rows(chart, &dots, &y, tick_label_width(&y));
    print_x(chart, &dots, &x, tick_label_width(&y));
    print_legend(chart, &dots);
    dots_release(&dots);
    return 0;
}
