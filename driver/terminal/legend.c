#include "driver/terminal/legend.h"

#include "driver/terminal/colour.h"
#include "driver/text/lines.h"

enum { GAP = 3 };

static bool is_painted(const struct legend *legend, const struct plot_cell *cell)
{
    return legend->terminal->colours == COLOURS_256 && cell->colour != COLOUR_NONE;
}

/* A hatch needs two squares to show. */
static int sample_width(const struct legend *legend, const struct plot_cell *cell)
{
    return is_painted(legend, cell) && legend->terminal->unicode ? 2 : 1;
}

static void draw_squares(const struct legend *legend, const struct plot_cell *cell)
{
    int colour = cell->colour, hatch = cell->hatch == COLOUR_NONE ? colour : cell->hatch;
    struct pen pen = PEN(legend->out);

    pen_take(&pen, hatch, colour);
    fputs("▀", legend->out);
    pen_take(&pen, colour, hatch);
    fputs("▀", legend->out);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
}

static void draw_character(const struct legend *legend, const struct plot_cell *cell)
{
    char character = cell->fill;
    bool coloured = cell->code && legend->terminal->colours != COLOURS_NONE;
    struct pen pen = PEN(legend->out);

    if (is_painted(legend, cell)) {
        pen_take(&pen, colour_on(cell->colour), cell->colour);
        fputc(character, legend->out);
        pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
        return;
    }
    if (coloured)
        colour_write(legend->out, cell->code);
    fputc(character == ' ' ? '_' : character, legend->out);
    if (coloured)
        colour_write(legend->out, NULL);
}

void legend_add(struct legend *legend, const struct plot_cell *cell, const char *word)
{
    int width = sample_width(legend, cell) + 1 + lines_width(word);
    bool breaks = legend->at > 0 && legend->at + GAP + width > legend->terminal->columns;

    fprintf(legend->out, breaks ? "\n" : "%*s", legend->at ? GAP : 0, "");
    legend->at = (breaks || legend->at == 0 ? 0 : legend->at + GAP) + width;
    if (sample_width(legend, cell) == 2)
        draw_squares(legend, cell);
    else
        draw_character(legend, cell);
    fprintf(legend->out, " %s", word);
}

void legend_end(struct legend *legend)
{
    if (legend->at)
        fputc('\n', legend->out);
    legend->at = 0;
}
