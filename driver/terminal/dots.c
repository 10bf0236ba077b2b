#include "driver/terminal/dots.h"

#include "driver/terminal/colour.h"

#include <stdlib.h>

enum { BRAILLE_FIRST = 0x2800 };

bool dots_is_braille(const struct terminal *terminal, int pens)
{
    return terminal->unicode && (terminal->colours != COLOURS_NONE || pens == 1);
}

int dots_init(struct dots *dots, const struct terminal *terminal, int columns, int rows, int pens)
{
    bool braille = dots_is_braille(terminal, pens);
    size_t size = (size_t)columns * (size_t)rows;

    *dots = (struct dots){.terminal = *terminal,
        .braille = braille,
        .pens = pens,
        .columns = columns,
        .rows = rows,
        .width = braille ? DOTS_BRAILLE_X * columns : columns,
        .height = braille ? DOTS_BRAILLE_Y * rows : rows,
        .bits = calloc(size, sizeof(*dots->bits)),
        .pen = calloc(size, sizeof(*dots->pen))};
    if (dots->bits && dots->pen)
        return 0;
    dots_release(dots);
    return -1;
}

void dots_release(struct dots *dots)
{
    free(dots->bits);
    free(dots->pen);
    *dots = (struct dots){0};
}

static void set(struct dots *dots, int x, int y, int pen)
{
    /* Unicode numbers the dots column by column, from the top; the fourth row comes last. */
    static const unsigned char bit[DOTS_BRAILLE_Y][DOTS_BRAILLE_X] = {
        {0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    int at = dots->braille ? y / DOTS_BRAILLE_Y * dots->columns + x / DOTS_BRAILLE_X : y * dots->columns + x;

    dots->bits[at] |= dots->braille ? bit[y % DOTS_BRAILLE_Y][x % DOTS_BRAILLE_X] : 1;
    dots->pen[at] = (unsigned char)pen;
}

/* Bresenham's algorithm. */
void dots_line(struct dots *dots, int x0, int y0, int x1, int y1, int pen)
{
    int dx = abs(x1 - x0), dy = abs(y1 - y0), right = x0 < x1 ? 1 : -1, up = y0 < y1 ? 1 : -1;
    int rest = dx - dy;

    set(dots, x0, y0, pen);
    while (x0 != x1 || y0 != y1) {
        int twice = 2 * rest;
        if (twice > -dy) {
            rest -= dy;
            x0 += right;
        }
        if (twice < dx) {
            rest += dx;
            y0 += up;
        }
        set(dots, x0, y0, pen);
    }
}

/* A braille character in UTF-8. */
static void print_braille(FILE *out, unsigned char dots)
{
    unsigned code = BRAILLE_FIRST + dots;

    fprintf(
        out, "%c%c%c", 0xe0 | (int)(code >> 12), 0x80 | (int)(code >> 6 & 0x3f), 0x80 | (int)(code & 0x3f));
}

static void begin_colour(const struct dots *dots, FILE *out, int pen)
{
    struct pen paint = PEN(out);

    if (dots->terminal.colours == COLOURS_256)
        pen_take(&paint, colour_class(pen), COLOUR_NONE);
    else if (dots->terminal.colours == COLOURS_16)
        colour_write(out, colour_class_of_16(pen));
}

static void end_colour(const struct dots *dots, FILE *out)
{
    if (dots->terminal.colours != COLOURS_NONE)
        colour_write(out, NULL);
}

static char pen_character(const struct dots *dots, int pen)
{
    return dots->pens == 1 ? '*' : (char)('a' + pen);
}

void dots_print(const struct dots *dots, FILE *out, int row)
{
    int last = -1, blanks = 0;

    for (int i = row * dots->columns; i < (row + 1) * dots->columns; i++) {
        if (!dots->bits[i]) {
            blanks++;
            continue;
        }
        fprintf(out, "%*s", blanks, "");
        blanks = 0;
        if (dots->pen[i] != last) {
            if (last >= 0)
                end_colour(dots, out);
            begin_colour(dots, out, dots->pen[i]);
        }
        last = dots->pen[i];
        if (dots->braille)
            print_braille(out, dots->bits[i]);
        else
            fputc(pen_character(dots, last), out);
    }
    if (last >= 0)
        end_colour(dots, out);
}

int dots_pen_width(const struct dots *dots)
{
    return dots->braille ? 2 : 1;
}

void dots_print_pen(const struct dots *dots, FILE *out, int pen)
{
    begin_colour(dots, out, pen);
    if (dots->braille)
        fputs("━━", out);
    else
        fputc(pen_character(dots, pen), out);
    end_colour(dots, out);
}
