#include "driver/terminal/plot.h"

#include "driver/terminal/colour.h"
#include "driver/text/lines.h"

#include <string.h>

enum { LINES_MOST = 60, LINES_LEAST = 3, TICK_LINES_MOST = 2, TICK_WIDTH_MOST = 12 };

/* Which cells of a plot are drawn, and how large its parts are. */
struct plot_layout {
    int label; /* columns of the y labels; a blank and a bar follow */
    int width; /* columns of a cell */
    int64_t columns, rows; /* cells that are drawn */
    bool halved; /* two rows per line, by half blocks */
    int64_t lines; /* lines that hold cells */
    int64_t ticks; /* columns that have a label */
    int tick_lines; /* lines of these labels; they take turns */
    bool names, frame; /* drawn, as there is room */
};

void plot_init(struct plot *plot, FILE *out, const struct terminal *terminal)
{
    *plot = (struct plot){.out = out, .terminal = *terminal, .least = 1, .most = 6};
}

bool plot_is_painted(const struct plot *plot)
{
    return plot->terminal.colours == COLOURS_256;
}

static int row_label_width(const struct plot *plot)
{
    int width = 0, most = plot->terminal.columns / 3;

    for (int64_t i = 0; plot->y.name && i < plot->y.length; i++) {
        int label = lines_width(plot->y.label[i]);
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

/* The cell width at which x labels fit side by side; 0: wider than a cell should be. */
static int tick_width(const struct plot *plot)
{
    int width = 0;

    for (int64_t i = 0; plot->x.name && i < plot->x.length; i++) {
        int label = lines_width(plot->x.label[i]) + 1;
        width = label > width ? label : width;
    }
    return width <= TICK_WIDTH_MOST ? width : 0;
}

int plot_cell_width(const struct plot *plot)
{
    int64_t width = room(plot) / plot->x.length;
    int ticks = tick_width(plot), most = ticks > plot->most && ticks <= width ? ticks : plot->most;

    return width < most ? (int)width : most;
}

static bool aligned_left(const struct plot *plot)
{
    return plot->spelled && !plot_is_painted(plot);
}

/* The text column, counted from the first cell, that the label of a drawn column points at. */
static int64_t anchor(const struct plot *plot, const struct plot_layout *layout, int64_t column)
{
    return column * layout->width + (aligned_left(plot) ? 0 : (layout->width - 1) / 2);
}

struct plot_tick {
    const char *label;
    int64_t start, end; /* text columns of the label, counted from the first cell */
};

static struct plot_tick tick(
    const struct plot *plot, const struct plot_layout *layout, int64_t i, int64_t count)
{
    int64_t column = plot_pick(i, count, layout->columns), most = room(plot);
    struct plot_tick tick = {.label = plot->x.label[plot_pick(column, layout->columns, plot->x.length)]};
    int64_t length = lines_width(tick.label);

    length = length < most ? length : most;
    tick.start = anchor(plot, layout, column) - (aligned_left(plot) ? 0 : (length - 1) / 2);
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
    layout->ticks = 0;
    layout->tick_lines = 0;
    if (!plot->x.name)
        return;
    for (layout->ticks = layout->columns; layout->ticks > 1; layout->ticks--)
        for (layout->tick_lines = 1; layout->tick_lines <= TICK_LINES_MOST; layout->tick_lines++)
            if (ticks_fit(plot, layout, layout->ticks, layout->tick_lines))
                return;
    layout->tick_lines = 1;
}

static void lay_out_columns(const struct plot *plot, struct plot_layout *layout)
{
    int64_t most = room(plot) / plot->least;

    layout->label = row_label_width(plot);
    layout->width = plot_cell_width(plot) < plot->least ? plot->least : plot_cell_width(plot);
    layout->columns = plot->x.length < most ? plot->x.length : most;
    layout->columns = layout->columns > 1 ? layout->columns : 1;
}

/* The number of lines besides those of cells. */
static int64_t lines_around(const struct plot *plot, const struct plot_layout *layout)
{
    bool part = layout->columns < plot->x.length || layout->rows < plot->y.length;

    return (layout->names ? (plot->x.name != NULL) + (plot->y.name != NULL) + part : 0) +
           (layout->frame ? 1 + layout->tick_lines : 0);
}

static void lay_out_rows(const struct plot *plot, struct plot_layout *layout, int64_t most)
{
    bool halves = plot_is_painted(plot) && plot->terminal.unicode;
    int64_t fitting = most, seen = plot->terminal.rows - plot->beside - lines_around(plot, layout);

    if (plot->terminal.rows > 0 && seen < fitting)
        fitting = seen;
    layout->halved = halves && plot->y.length > fitting;
    int64_t rows = layout->halved ? 2 * most : most;
    layout->rows = plot->y.length < rows ? plot->y.length : rows;
    layout->lines = layout->halved ? (layout->rows + 1) / 2 : layout->rows;
}

/* With few lines, names and then the frame give way to the cells. */
static void lay_out_plot(const struct plot *plot, struct plot_layout *layout)
{
    int64_t most = LINES_MOST;

    *layout = (struct plot_layout){.names = true, .frame = true, .rows = plot->y.length};
    lay_out_columns(plot, layout);
    lay_out_ticks(plot, layout);
    lay_out_rows(plot, layout, most);
    for (int i = 0; plot->rows > 0 && layout->lines + lines_around(plot, layout) > plot->rows && i < 4; i++) {
        most = plot->rows - lines_around(plot, layout);
        if (i > 0 && most < LINES_LEAST) {
            layout->frame = layout->names;
            layout->names = false;
            most = plot->rows - lines_around(plot, layout);
        }
        lay_out_rows(plot, layout, most > 1 ? most : 1);
    }
}

/* The drawn row whose label is on this line (0 the lowest); -1: none. */
static int64_t labelled_row(const struct plot_layout *layout, int64_t line)
{
    int64_t share = layout->halved ? 2 : 1, count = (layout->rows - 1) / share + 1;

    for (int64_t i = line > 0 ? line - 1 : 0; i <= line + 1 && i < count; i++) {
        int64_t row = plot_pick(i, count, layout->rows);
        if (row / share == line)
            return row;
    }
    return -1;
}

static void draw_margin(const struct plot *plot, const struct plot_layout *layout, int64_t line)
{
    int64_t row = labelled_row(layout, line);
    const char *label =
        plot->y.name && row >= 0 ? plot->y.label[plot_pick(row, layout->rows, plot->y.length)] : "";
    int fits = lines_fit(label, layout->label);

    fprintf(plot->out, "%*s%.*s %s",
        layout->label - lines_width(label) > 0 ? layout->label - lines_width(label) : 0, "", fits, label,
        plot->terminal.unicode ? "│" : "|");
}

/* Drawn cell (column, row); blank past the last row. */
static struct plot_cell cell_at(
    const struct plot *plot, const struct plot_layout *layout, int64_t column, int64_t row)
{
    struct plot_cell cell = {.fill = ' ', .colour = COLOUR_NONE, .hatch = COLOUR_NONE};

    if (row < layout->rows)
        plot->cell(plot->context, plot_pick(column, layout->columns, plot->x.length),
            plot_pick(row, layout->rows, plot->y.length), &cell);
    return cell;
}

static void draw_characters(
    const struct plot *plot, const struct plot_layout *layout, int64_t column, int64_t row)
{
    struct plot_cell cell = cell_at(plot, layout, column, row);
    bool last = column == layout->columns - 1, coloured = cell.code && plot->terminal.colours != COLOURS_NONE;
    int gap = plot->spelled ? layout->width - lines_width(cell.text) : layout->width > 2;

    if (coloured)
        colour_write(plot->out, cell.code);
    if (plot->spelled)
        fputs(cell.text, plot->out);
    for (int i = 0; !plot->spelled && i < layout->width - gap; i++)
        fputc(cell.fill, plot->out);
    if (coloured)
        colour_write(plot->out, NULL);
    fprintf(plot->out, "%*s", last ? 0 : gap, "");
}

/* One character of two colours, one above the other. */
static void draw_halves(struct pen *pen, int upper, int lower)
{
    if (upper == lower)
        pen_take(pen, COLOUR_NONE, upper);
    else if (upper == COLOUR_NONE)
        pen_take(pen, lower, COLOUR_NONE);
    else
        pen_take(pen, upper, lower);
    fputs(upper == lower ? " " : upper == COLOUR_NONE ? "▄" : "▀", pen->out);
}

/* The colour of one square of a cell; a hatched cell alternates. */
static int hatched(const struct plot_cell *cell, int64_t square)
{
    return square % 2 && cell->hatch != COLOUR_NONE ? cell->hatch : cell->colour;
}

static void draw_half_cells(
    const struct plot *plot, const struct plot_layout *layout, int64_t column, int64_t line, struct pen *pen)
{
    struct plot_cell lower = cell_at(plot, layout, column, 2 * line);
    struct plot_cell upper = cell_at(plot, layout, column, 2 * line + 1);

    for (int i = 0; i < layout->width; i++)
        draw_halves(pen, hatched(&upper, i + 1), hatched(&lower, i));
}

static void draw_painted(
    const struct plot *plot, const struct plot_layout *layout, int64_t column, int64_t row, struct pen *pen)
{
    struct plot_cell cell = cell_at(plot, layout, column, row);
    int length = lines_width(cell.text), before = (layout->width - length) / 2;

    if (length == 0 || length > layout->width) {
        for (int i = 0; i < layout->width; i++)
            draw_halves(pen, hatched(&cell, plot->terminal.unicode ? i + 1 : i), hatched(&cell, i));
        return;
    }
    pen_take(pen, cell.colour == COLOUR_NONE ? COLOUR_NONE : colour_on(cell.colour), cell.colour);
    fprintf(plot->out, "%*s%s%*s", before, "", cell.text, layout->width - length - before, "");
}

static void draw_line(const struct plot *plot, const struct plot_layout *layout, int64_t line)
{
    struct pen pen = PEN(plot->out);

    draw_margin(plot, layout, line);
    for (int64_t column = 0; column < layout->columns; column++)
        if (layout->halved)
            draw_half_cells(plot, layout, column, line, &pen);
        else if (plot_is_painted(plot))
            draw_painted(plot, layout, column, line, &pen);
        else
            draw_characters(plot, layout, column, line);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fputc('\n', plot->out);
}

static void draw_frame(const struct plot *plot, const struct plot_layout *layout)
{
    bool lines = plot->terminal.unicode;
    int64_t next = 0;

    fprintf(plot->out, "%*s%s", layout->label + 1, "", lines ? "└" : "+");
    for (int64_t i = 0; i < layout->columns * layout->width; i++) {
        bool mark = next < layout->ticks &&
                    i == anchor(plot, layout, plot_pick(next, layout->ticks, layout->columns));
        next += mark;
        if (lines)
            fputs(mark ? "┬" : "─", plot->out);
        else
            fputc(mark ? '+' : '-', plot->out);
    }
    fputc('\n', plot->out);
}

/* One line of labels below the columns: every `tick_lines`th from `line` on. */
static void draw_ticks(const struct plot *plot, const struct plot_layout *layout, int line)
{
    int64_t at = 0;

    fprintf(plot->out, "%*s", layout->label + 2, "");
    for (int64_t i = line; i < layout->ticks; i += layout->tick_lines) {
        struct plot_tick here = tick(plot, layout, i, layout->ticks);
        fprintf(plot->out, "%*s%.*s", (int)(here.start - at), "",
            lines_fit(here.label, (int)(here.end - here.start)), here.label);
        at = here.end;
    }
    fputc('\n', plot->out);
}

static void draw_name(const struct plot *plot, int64_t end)
{
    int length = lines_fit(plot->x.name, plot->terminal.columns);
    int64_t indent = end - lines_width(plot->x.name);

    fprintf(plot->out, "%*s%.*s\n", (int)(indent > 0 ? indent : 0), "", length, plot->x.name);
}

/* "shown: 20 of 41 values of learning_rate" */
static void draw_part(const struct plot *plot, const struct plot_layout *layout)
{
    char text[2 * PLOT_LABEL + 600] = "";
    const int64_t drawn[] = {layout->columns, layout->rows};
    const struct plot_axis *axis[] = {&plot->x, &plot->y};

    for (int i = 0; i < 2; i++) {
        size_t used = strlen(text);
        if (drawn[i] < axis[i]->length)
            snprintf(text + used, sizeof(text) - used, "%s%lld of %lld values of %s",
                used ? ", " : "shown: ", (long long)drawn[i], (long long)axis[i]->length, axis[i]->name);
    }
    if (text[0])
        fprintf(plot->out, "%.*s\n", lines_fit(text, plot->terminal.columns), text);
}

void plot_draw(const struct plot *plot)
{
    struct plot_layout layout;

    lay_out_plot(plot, &layout);
    if (layout.names && plot->y.name)
        fprintf(plot->out, "%.*s\n", lines_fit(plot->y.name, plot->terminal.columns), plot->y.name);
    for (int64_t line = layout.lines - 1; line >= 0; line--)
        draw_line(plot, &layout, line);
    if (layout.frame)
        draw_frame(plot, &layout);
    for (int i = 0; layout.frame && i < layout.tick_lines; i++)
        draw_ticks(plot, &layout, i);
    if (layout.names && plot->x.name)
        draw_name(plot, layout.label + 2 + layout.columns * layout.width);
    if (layout.names)
        draw_part(plot, &layout);
}
