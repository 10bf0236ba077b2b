/*
 * A grid of cells with labelled axes. As many columns as fit are drawn, each as wide as the labels below it
 * if there is room; as many labels as fit stand on one line, or take turns on two, evenly spaced.
 */
#include "driver/picture/inside.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"

#include <string.h>

enum { LINES_MOST = 60, LINES_LEAST = 3, TICK_LINES_MOST = 2, TICK_WIDTH_MOST = 12, LEGEND_GAP = 3 };

/* Which cells of a plot are drawn, and how large its parts are. */
struct plot_layout {
    int label; /* columns of the y labels; a blank and a bar follow */
    int width; /* columns of a cell */
    int64_t columns, rows; /* cells that are drawn */
    int64_t ticks; /* columns that have a label */
    int tick_lines; /* lines of these labels */
    bool names; /* of the axes are drawn, as there is room */
};

static int row_label_width(const struct plot *plot)
{
    int width = 0, most = plot->terminal.columns / 3;

    for (int64_t i = 0; plot->y->name && i < plot->y->length; i++) {
        int label = lines_width(plot->y->label[i]);
        width = label > width ? label : width;
    }
    return width < most ? width : most;
}

/* Columns left for cells. */
static int room(const struct plot *plot)
{
    int left = plot->terminal.columns - row_label_width(plot) - 3;

    return left > 1 ? left : 1;
}

int plot_cell_width(const struct plot *plot)
{
    int64_t width = room(plot) / plot->x->length;
    int ticks = 0, most = plot->most;

    for (int64_t i = 0; plot->x->name && i < plot->x->length; i++) {
        int label = lines_width(plot->x->label[i]) + 1;
        ticks = label > ticks ? label : ticks;
    }
    if (ticks > most && ticks <= width && ticks <= TICK_WIDTH_MOST)
        most = ticks;
    return width < most ? (int)width : most;
}

/* The text column, counted from the first cell, that the label of a drawn column points at. */
static int64_t anchor(const struct plot_layout *layout, int64_t column)
{
    return column * layout->width + (layout->width - 1) / 2;
}

struct plot_tick {
    const char *label;
    int64_t start, end; /* text columns of the label, counted from the first cell */
};

/* Label `i` of `count`. */
static struct plot_tick tick(
    const struct plot *plot, const struct plot_layout *layout, int64_t i, int64_t count)
{
    int64_t column = plane_pick(i, count, layout->columns), most = room(plot);
    struct plot_tick tick = {.label = plot->x->label[plane_pick(column, layout->columns, plot->x->length)]};
    int64_t length = lines_width(tick.label);

    length = length < most ? length : most;
    tick.start = anchor(layout, column) - (length - 1) / 2;
    tick.start = tick.start + length > most ? most - length : tick.start;
    tick.start = tick.start < 0 ? 0 : tick.start;
    tick.end = tick.start + length;
    return tick;
}

/* Do `count` labels fit on this many lines? */
static bool ticks_fit(const struct plot *plot, const struct plot_layout *layout, int64_t count, int lines)
{
    for (int64_t i = lines; i < count; i++)
        if (tick(plot, layout, i, count).start <= tick(plot, layout, i - lines, count).end)
            return false;
    return true;
}

/* As many labels as fit, on one line if possible. */
static void lay_out_ticks(const struct plot *plot, struct plot_layout *layout)
{
    layout->ticks = plot->x->name ? layout->columns : 0;
    for (; layout->ticks > 1; layout->ticks--)
        for (layout->tick_lines = 1; layout->tick_lines <= TICK_LINES_MOST; layout->tick_lines++)
            if (ticks_fit(plot, layout, layout->ticks, layout->tick_lines))
                return;
    layout->tick_lines = (int)layout->ticks;
}

/* The number of lines besides those of cells. */
static int lines_around(const struct plot *plot, const struct plot_layout *layout)
{
    bool part = layout->columns < plot->x->length || layout->rows < plot->y->length;

    return 1 + layout->tick_lines +
           (layout->names ? (plot->x->name != NULL) + (plot->y->name != NULL) + part : 0);
}

/* With few lines, the names give way to the cells. */
static struct plot_layout lay_out(const struct plot *plot)
{
    struct plot_layout layout = {.label = row_label_width(plot), .names = true};
    int64_t most = room(plot) / plot->least;

    layout.width = plot_cell_width(plot) < plot->least ? plot->least : plot_cell_width(plot);
    layout.columns = plot->x->length < most ? plot->x->length : most;
    layout.columns = layout.columns > 1 ? layout.columns : 1;
    lay_out_ticks(plot, &layout);
    layout.rows = plot->y->length < LINES_MOST ? plot->y->length : LINES_MOST;
    if (plot->rows == 0 || layout.rows + lines_around(plot, &layout) <= plot->rows)
        return layout;
    layout.rows = 0; /* not all of them, of which a line tells */
    layout.names = plot->rows - lines_around(plot, &layout) >= LINES_LEAST;
    layout.rows = plot->rows - lines_around(plot, &layout);
    layout.rows = layout.rows < plot->y->length ? layout.rows : plot->y->length;
    layout.rows = layout.rows > 1 ? layout.rows : 1;
    return layout;
}

/* ---- drawing ---- */

static void draw_cell(
    const struct plot *plot, const struct plot_layout *layout, int64_t column, int64_t row, struct pen *pen)
{
    struct plot_cell cell = plot->cell(plot->context, plane_pick(column, layout->columns, plot->x->length),
        plane_pick(row, layout->rows, plot->y->length));
    bool painted = plot->terminal.colours, last = column == layout->columns - 1;
    const char *text = lines_width(cell.text) <= layout->width ? cell.text : "";
    int length = lines_width(text), before = (layout->width - length) / 2;
    int after = layout->width - length - before;

    if (painted)
        pen_take(
            pen, length && cell.colour != COLOUR_NONE ? colour_on(cell.colour) : COLOUR_NONE, cell.colour);
    if (painted || length > 0) {
        fprintf(plot->out, "%*s%s", before, "", text);
    } else {
        after = layout->width > 2;
        for (int i = after; i < layout->width; i++)
            fputc(cell.character, plot->out);
    }
    fprintf(plot->out, "%*s", last && !painted ? 0 : after, "");
}

static void draw_line(const struct plot *plot, const struct plot_layout *layout, int64_t row)
{
    const char *label = plot->y->name ? plot->y->label[plane_pick(row, layout->rows, plot->y->length)] : "";
    int width = lines_width(label), indent = layout->label > width ? layout->label - width : 0;
    struct pen pen = PEN(plot->out);

    fprintf(plot->out, "%*s%.*s %s", indent, "", lines_fit(label, layout->label), label,
        plot->terminal.unicode ? "│" : "|");
    for (int64_t column = 0; column < layout->columns; column++)
        draw_cell(plot, layout, column, row, &pen);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fputc('\n', plot->out);
}

/* The line below the cells, and the labels of columns. */
static void draw_x_axis(const struct plot *plot, const struct plot_layout *layout)
{
    bool unicode = plot->terminal.unicode;
    int64_t next = 0;

    fprintf(plot->out, "%*s%s", layout->label + 1, "", unicode ? "└" : "+");
    for (int64_t i = 0; i < layout->columns * layout->width; i++) {
        bool mark =
            next < layout->ticks && i == anchor(layout, plane_pick(next, layout->ticks, layout->columns));
        next += mark;
        fputs(unicode ? mark ? "┬" : "─" : mark ? "+" : "-", plot->out);
    }
    fputc('\n', plot->out);
    for (int line = 0; line < layout->tick_lines; line++) {
        int64_t at = -layout->label - 2;
        for (int64_t i = line; i < layout->ticks; i += layout->tick_lines) {
            struct plot_tick here = tick(plot, layout, i, layout->ticks);
            fprintf(plot->out, "%*s%.*s", (int)(here.start - at), "",
                lines_fit(here.label, (int)(here.end - here.start)), here.label);
            at = here.end;
        }
        fputc('\n', plot->out);
    }
}

/* "shown: 20 of 41 values of learning_rate" */
static void draw_part(const struct plot *plot, const struct plot_layout *layout)
{
    struct string text = {0};
    const int64_t drawn[] = {layout->columns, layout->rows};
    const struct side *side[] = {plot->x, plot->y};

    for (int i = 0; i < 2; i++)
        if (drawn[i] < side[i]->length)
            string_format(&text, "%s%lld of %lld values of %s",
                text.length ? ", " : "shown: ", (long long)drawn[i], (long long)side[i]->length,
                side[i]->name);
    if (text.length)
        fprintf(plot->out, "%.*s\n", lines_fit(text.bytes, plot->terminal.columns), text.bytes);
    string_release(&text);
}

void plot_draw(const struct plot *plot)
{
    const struct plot_layout layout = lay_out(plot);
    const char *x = plot->x->name, *y = plot->y->name;

    if (layout.names && y)
        fprintf(plot->out, "%.*s\n", lines_fit(y, plot->terminal.columns), y);
    for (int64_t row = layout.rows - 1; row >= 0; row--)
        draw_line(plot, &layout, row);
    draw_x_axis(plot, &layout);
    if (layout.names && x) {
        int64_t indent = layout.label + 2 + layout.columns * layout.width - lines_width(x);
        fprintf(plot->out, "%*s%.*s\n", indent > 0 ? (int)indent : 0, "",
            lines_fit(x, plot->terminal.columns), x);
    }
    if (layout.names)
        draw_part(plot, &layout);
}

/* ---- legends ---- */

void legend_add(struct legend *legend, const struct plot_cell *cell, const char *word)
{
    int width = 2 + lines_width(word);
    bool breaks = legend->at > 0 && legend->at + LEGEND_GAP + width > legend->terminal->columns;
    bool painted = legend->terminal->colours && cell->colour != COLOUR_NONE;
    struct pen pen = PEN(legend->out);

    fprintf(legend->out, breaks ? "\n" : "%*s", legend->at ? LEGEND_GAP : 0, "");
    legend->at = (breaks || legend->at == 0 ? 0 : legend->at + LEGEND_GAP) + width;
    if (painted)
        pen_take(&pen, colour_on(cell->colour), cell->colour);
    fputc(cell->character == ' ' ? '_' : cell->character, legend->out);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fprintf(legend->out, " %s", word);
}

void legend_end(struct legend *legend)
{
    if (legend->at)
        fputc('\n', legend->out);
    legend->at = 0;
}
