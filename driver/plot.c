#include "driver/plot.h"

#include "driver/terminal.h"

#include <string.h>

enum { COLUMNS_LEAST = 40, ROWS_MOST = 60 };

void plot_init(struct plot *plot, FILE *out)
{
    struct terminal terminal = terminal_find(out);

    *plot = (struct plot){.out = out, .columns = terminal.columns, .least = 1, .most = 6};
    plot->columns = plot->columns > COLUMNS_LEAST ? plot->columns : COLUMNS_LEAST;
    plot->colour = terminal.colours != COLOURS_NONE;
}

void plot_colour(const struct plot *plot, const char *colour)
{
    if (plot->colour)
        fprintf(plot->out, "\033[%sm", colour ? colour : "0");
}

void plot_fill(FILE *out, char character, int width)
{
    for (int i = 0; i < width; i++)
        fputc(width > 2 && i == width - 1 ? ' ' : character, out);
}

static int label_width(const struct plot_axis *axis)
{
    size_t width = 0;

    for (int64_t i = 0; axis->name && i < axis->length; i++)
        width = strlen(axis->label[i]) > width ? strlen(axis->label[i]) : width;
    return (int)width;
}

/* What stands left of the cells: labels, a blank and a bar. */
static int margin(const struct plot *plot)
{
    return label_width(&plot->y) + 2;
}

int plot_cell_width(const struct plot *plot)
{
    int64_t width = (plot->columns - margin(plot) - 1) / plot->x.length;

    return width < plot->most ? (int)width : plot->most;
}

/* Every which cell has to be drawn so that `length` of them take no more than `room`. */
static int64_t stride_for(int64_t length, int64_t room)
{
    return (length + room - 1) / room;
}

static void draw_row(const struct plot *plot, int64_t y, int64_t stride, int width)
{
    fprintf(plot->out, "%*s |", label_width(&plot->y), plot->y.name ? plot->y.label[y] : "");
    for (int64_t x = 0; x < plot->x.length; x += stride)
        plot->cell(plot->context, plot->out, x, y, width);
    fputc('\n', plot->out);
}

/* Labels below the columns, those that find room. */
static void draw_ticks(const struct plot *plot, int64_t stride, int width)
{
    int left = margin(plot);
    int64_t at = 0;

    if (!plot->x.name)
        return;
    fprintf(plot->out, "%*s", left, "");
    for (int64_t x = 0; x < plot->x.length; x += stride) {
        int64_t place = x / stride * width;
        int64_t length = (int64_t)strlen(plot->x.label[x]);
        if ((at > 0 && place < at + 1) || left + place + length > plot->columns)
            continue;
        fprintf(plot->out, "%*s%s", (int)(place - at), "", plot->x.label[x]);
        at = place + length;
    }
    fputc('\n', plot->out);
}

static void draw_frame(const struct plot *plot, int64_t cells, int width)
{
    fprintf(plot->out, "%*s+", margin(plot) - 1, "");
    for (int64_t i = 0; i < cells * width; i++)
        fputc('-', plot->out);
    fputc('\n', plot->out);
}

static void draw_left_out(const struct plot *plot, const char *name, int64_t stride)
{
    if (stride > 1)
        fprintf(plot->out, "one in %lld values of %s is shown\n", (long long)stride, name);
}

void plot_draw(const struct plot *plot)
{
    int width = plot_cell_width(plot) < plot->least ? plot->least : plot_cell_width(plot);
    int64_t room = (plot->columns - margin(plot) - 1) / width;
    int64_t x_stride = stride_for(plot->x.length, room > 0 ? room : 1);
    int64_t y_stride = stride_for(plot->y.length, ROWS_MOST);
    int64_t rows = stride_for(plot->y.length, y_stride), columns = stride_for(plot->x.length, x_stride);

    if (plot->y.name)
        fprintf(plot->out, "%s\n", plot->y.name);
    for (int64_t row = rows - 1; row >= 0; row--)
        draw_row(plot, row * y_stride, x_stride, width);
    draw_frame(plot, columns, width);
    draw_ticks(plot, x_stride, width);
    if (plot->x.name) {
        int64_t indent = margin(plot) + columns * width - (int64_t)strlen(plot->x.name);
        fprintf(plot->out, "%*s%s\n", (int)(indent > 0 ? indent : 0), "", plot->x.name);
    }
    draw_left_out(plot, plot->x.name, x_stride);
    draw_left_out(plot, plot->y.name, y_stride);
}
