/*
 * A grid of cells with labelled axes. As many columns as fit are drawn, each as wide as the labels below it
 * if there is room; as many labels as fit stand on one line, or take turns on two, evenly spaced.
 */
#include "driver/picture/inside.h"

#include <string.h>

enum { LINES_MOST = 60, LINES_LEAST = 3, TICK_LINES_MOST = 2, TICK_WIDTH_MOST = 12 };

/* The widest label of a side, 0 if it has no name. */
static int label_width(const struct side *side)
{
    int width = 0;

    for (int64_t i = 0; side->name && i < side->length; i++) {
        int label = lines_width(side->label[i]);
        width = label > width ? label : width;
    }
    return width;
}

void plot_measure(struct plot *plot)
{
    int most = plot->terminal.columns / 3, label = label_width(plot->y);

    plot->label = label < most ? label : most;
    plot->room = plot->terminal.columns - plot->label - 3;
    plot->room = plot->room > 1 ? plot->room : 1;
    plot->tick = plot->x->name ? label_width(plot->x) + 1 : 0;
}

int plot_cell_width(const struct plot *plot)
{
    int64_t width = plot->room / plot->x->length;
    int most = plot->most;

    if (plot->tick > most && plot->tick <= width && plot->tick <= TICK_WIDTH_MOST)
        most = plot->tick;
    return width < most ? (int)width : most;
}

/* The text column, counted from the first cell, that the label of a drawn column points at. */
static int64_t anchor(const struct plot *plot, int64_t column)
{
    return column * plot->width + (plot->width - 1) / 2;
}

struct plot_tick {
    const char *label;
    int64_t start, end; /* text columns of the label, counted from the first cell */
};

/* Label `i` of `count`. */
static struct plot_tick tick(const struct plot *plot, int64_t i, int64_t count)
{
    int64_t column = plane_pick(i, count, plot->columns);
    struct plot_tick tick = {.label = plot->x->label[plane_pick(column, plot->columns, plot->x->length)]};
    int64_t length = lines_width(tick.label);

    length = length < plot->room ? length : plot->room;
    tick.start = anchor(plot, column) - (length - 1) / 2;
    tick.start = tick.start + length > plot->room ? plot->room - length : tick.start;
    tick.start = tick.start < 0 ? 0 : tick.start;
    tick.end = tick.start + length;
    return tick;
}

/* Do `count` labels fit on this many lines? */
static bool ticks_fit(const struct plot *plot, int64_t count, int lines)
{
    for (int64_t i = lines; i < count; i++)
        if (tick(plot, i, count).start <= tick(plot, i - lines, count).end)
            return false;
    return true;
}

/* As many labels as fit, on one line if possible. */
static void lay_out_ticks(struct plot *plot)
{
    plot->ticks = plot->x->name ? plot->columns : 0;
    for (; plot->ticks > 1; plot->ticks--)
        for (plot->tick_lines = 1; plot->tick_lines <= TICK_LINES_MOST; plot->tick_lines++)
            if (ticks_fit(plot, plot->ticks, plot->tick_lines))
                return;
    plot->tick_lines = (int)plot->ticks;
}

/* The number of lines besides those of cells. */
static int lines_around(const struct plot *plot)
{
    bool part = plot->columns < plot->x->length || plot->lines < plot->y->length;

    return 1 + plot->tick_lines +
           (plot->names ? (plot->x->name != NULL) + (plot->y->name != NULL) + part : 0);
}

/* With few lines, the names give way to the cells. */
static void lay_out(struct plot *plot)
{
    plot->names = true;
    plot->width = plot_cell_width(plot) > 1 ? plot_cell_width(plot) : 1;
    plot->columns = plot->x->length < plot->room ? plot->x->length : plot->room;
    lay_out_ticks(plot);
    plot->lines = plot->y->length < LINES_MOST ? plot->y->length : LINES_MOST;
    if (plot->rows == 0 || plot->lines + lines_around(plot) <= plot->rows)
        return;
    plot->lines = 0; /* not all of them, of which a line tells */
    plot->names = plot->rows - lines_around(plot) >= LINES_LEAST;
    plot->lines = plot->rows - lines_around(plot);
    plot->lines = plot->lines < plot->y->length ? plot->lines : plot->y->length;
    plot->lines = plot->lines > 1 ? plot->lines : 1;
}

/* ---- drawing ---- */

static void draw_cell(const struct plot *plot, int64_t column, int64_t row, struct pen *pen)
{
    struct plot_cell cell = plot->cell(plot->context, plane_pick(column, plot->columns, plot->x->length),
        plane_pick(row, plot->lines, plot->y->length));
    bool painted = plot->terminal.colours, last = column == plot->columns - 1;
    const char *text = lines_width(cell.text) <= plot->width ? cell.text : "";
    int length = lines_width(text), before = (plot->width - length) / 2;
    int after = plot->width - length - before;

    if (painted)
        pen_take(
            pen, length && cell.colour != COLOUR_NONE ? colour_on(cell.colour) : COLOUR_NONE, cell.colour);
    if (painted || length > 0) {
        fprintf(plot->out, "%*s%s", before, "", text);
    } else {
        after = plot->width > 2;
        for (int i = after; i < plot->width; i++)
            fputc(cell.character, plot->out);
    }
    fprintf(plot->out, "%*s", last && !painted ? 0 : after, "");
}

static void draw_line(const struct plot *plot, int64_t row)
{
    const char *label = plot->y->name ? plot->y->label[plane_pick(row, plot->lines, plot->y->length)] : "";
    int width = lines_width(label), indent = plot->label > width ? plot->label - width : 0;
    struct pen pen = PEN(plot->out);

    fprintf(plot->out, "%*s%.*s %s", indent, "", lines_fit(label, plot->label), label,
        plot->terminal.unicode ? "│" : "|");
    for (int64_t column = 0; column < plot->columns; column++)
        draw_cell(plot, column, row, &pen);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fputc('\n', plot->out);
}

/* The line below the cells, and the labels of columns. */
static void draw_x_axis(const struct plot *plot)
{
    bool unicode = plot->terminal.unicode;
    int64_t next = 0;

    fprintf(plot->out, "%*s%s", plot->label + 1, "", unicode ? "└" : "+");
    for (int64_t i = 0; i < plot->columns * plot->width; i++) {
        bool mark = next < plot->ticks && i == anchor(plot, plane_pick(next, plot->ticks, plot->columns));
        next += mark;
        fputs(unicode ? mark ? "┬" : "─" : mark ? "+" : "-", plot->out);
    }
    fputc('\n', plot->out);
    for (int line = 0; line < plot->tick_lines; line++) {
        int64_t at = -plot->label - 2;
        for (int64_t i = line; i < plot->ticks; i += plot->tick_lines) {
            struct plot_tick here = tick(plot, i, plot->ticks);
            fprintf(plot->out, "%*s%.*s", (int)(here.start - at), "",
                lines_fit(here.label, (int)(here.end - here.start)), here.label);
            at = here.end;
        }
        fputc('\n', plot->out);
    }
}

void plot_draw(struct plot *plot)
{
    const char *x = plot->x->name, *y = plot->y->name;

    lay_out(plot);
    if (plot->names && y)
        fprintf(plot->out, "%.*s\n", lines_fit(y, plot->terminal.columns), y);
    for (int64_t row = plot->lines - 1; row >= 0; row--)
        draw_line(plot, row);
    draw_x_axis(plot);
    if (plot->names && x) {
        int64_t indent = plot->label + 2 + plot->columns * plot->width - lines_width(x);
        fprintf(plot->out, "%*s%.*s\n", indent > 0 ? (int)indent : 0, "",
            lines_fit(x, plot->terminal.columns), x);
    }
    struct string part = {0}; /* "shown: 20 of 41 values of learning_rate" */
    const int64_t drawn[] = {plot->columns, plot->lines};
    const struct side *side[] = {plot->x, plot->y};
    for (int i = 0; plot->names && i < 2; i++)
        if (drawn[i] < side[i]->length)
            string_format(&part, "%s%lld of %lld values of %s",
                part.length ? ", " : "shown: ", (long long)drawn[i], (long long)side[i]->length,
                side[i]->name);
    if (part.length)
        fprintf(plot->out, "%.*s\n", lines_fit(part.bytes, plot->terminal.columns), part.bytes);
    string_release(&part);
}
