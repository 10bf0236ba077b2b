/*
 * Colours of terminals by their numbers in the palette of 256, the only ones that mean the same everywhere.
 */
#include "driver/terminal/terminal.h"

#include <math.h>

/* Violet and orange from pale to dark, viridis from dark to light: of the 240 fixed colours, the nearest
 * to matplotlib's PuOr and viridis. */
static const unsigned char violet[] = {189, 146, 140, 97, 54}, orange[] = {223, 215, 172, 130, 94};
static const unsigned char viridis[] = {53, 54, 24, 30, 36, 78, 148, 220, 227};

/* Maps 0..1 to a level 0..levels-1, clamped; NaN gives 0. */
static int level(double place, int levels)
{
    if (!(place > 0))
        return 0;
    return place < 1 ? (int)(place * levels) : levels - 1;
}

int colour_diverging(double place)
{
    int at = level(fabs(place), (int)sizeof(orange));

    return place > 0 ? orange[at] : violet[at];
}

int colour_sequential(double place)
{
    return viridis[level(place, (int)sizeof(viridis))];
}

int colour_class(int index)
{
    static const unsigned char classes[] = {32, 172, 36, 169, 142, 74, 166, 244};

    return classes[(size_t)index % sizeof(classes)];
}

/* Lightness, 0 to 255, of a colour from 16 on: a 6x6x6 cube of red, green and blue, then 24 greys. */
static int lightness(int colour)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};

    if (colour >= 232)
        return 8 + 10 * (colour - 232);
    int red = levels[(colour - 16) / 36], green = levels[(colour - 16) / 6 % 6],
        blue = levels[(colour - 16) % 6];
    return (299 * red + 587 * green + 114 * blue) / 1000;
}

int colour_on(int background)
{
    return lightness(background) > 127 ? COLOUR_BLACK : COLOUR_WHITE;
}

void pen_take(struct pen *pen, int text, int background)
{
    bool less = (pen->text != COLOUR_NONE && text == COLOUR_NONE) ||
                (pen->background != COLOUR_NONE && background == COLOUR_NONE);

    if (less) {
        fputs("\033[0m", pen->out);
        pen->text = pen->background = COLOUR_NONE;
    }
    if (text != pen->text)
        fprintf(pen->out, "\033[38;5;%dm", text);
    if (background != pen->background)
        fprintf(pen->out, "\033[48;5;%dm", background);
    pen->text = text;
    pen->background = background;
}
