/*
 * Which colours values get. A scale is chosen from the finite values (its ends, and whether it is
 * logarithmic), gives a value its position between the ends, and a palette gives the position a colour.
 *
 * The rules are those of analysis/normsweep/look.py and, for factors, of the figure `phase`, so that a
 * picture in the terminal and a figure show the same. Colours are numbers of the palette of 256, the only
 * ones that mean the same on every terminal.
 */
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"

#include <math.h>
#include <stdlib.h>

#define WIDE 30 /* largest / smallest beyond which a scale is logarithmic */
#define NEARLY_ALL 0.98 /* part of the values that a diverging scale covers */
#define TWENTIETH 0.05
#define FAR 3 /* outliers make the range this many times that of the values between the twentieths */
enum { ENOUGH = 5 }; /* with fewer values there are no outliers */
#define FACTORS_KNEE 0.05 /* |log| below which a scale of factors is linear: weak growth shows, too */
#define FACTORS_LEAST 1e-6 /* |log| at the ends, at least */
#define DECADE_OF_KNEE (1 / (1 - 0.1)) /* length of the linear part, in decades */
#define LOG_MOST 700 /* of factors 0 and infinity */

/* Between the two neighbouring values, in proportion. */
static double quantile(const double *sorted, int64_t count, double part)
{
    double at = part * (double)(count - 1);
    int64_t below = (int64_t)floor(at), above = below + 1 < count ? below + 1 : below;

    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

/* ---- ends ---- */

/*
 * [low, high] of sorted values: all, unless outliers would leave a single colour for the rest. An outlier is
 * among the outer twentieths, at least one value, and further away from the others than they are from each
 * other.
 */
static void bounds(const double *sorted, int64_t count, double *low, double *high)
{
    int64_t few = (int64_t)fmax(1, round(TWENTIETH * (double)(count - 1)));
    double least = sorted[0], most = sorted[count - 1];

    *low = least;
    *high = most;
    if (count < ENOUGH)
        return;
    double inner[] = {sorted[few], sorted[count - 1 - few]}, within = inner[1] - inner[0];
    if (!(within > 0 && most - least > FAR * within))
        return;
    *low = inner[0] - least > within ? inner[0] : least;
    *high = most - inner[1] > within ? inner[1] : most;
}

static void take_logarithms(double *sorted, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sorted[i] = fmax(fmin(log(sorted[i]), LOG_MOST), -LOG_MOST);
}

static void choose_ordered(struct colour_scale *scale, double *sorted, int64_t count, bool linear)
{
    double least = sorted[0], most = sorted[count - 1];

    scale->logarithmic = !linear && least > 0 && most > WIDE * least;
    if (scale->logarithmic)
        take_logarithms(sorted, count);
    bounds(sorted, count, &scale->low, &scale->high);
    scale->below = sorted[0] < scale->low;
    scale->above = sorted[count - 1] > scale->high;
    if (!scale->logarithmic)
        return;
    scale->low = scale->below ? exp(scale->low) : least; /* exactly the smallest value, not nearly */
    scale->high = scale->above ? exp(scale->high) : most;
}

/* Replaces the sorted values by their sorted magnitudes. */
static void take_sizes(double *sorted, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i]);
    numbers_sort(sorted, count);
}

/* Around 0; the values are both positive and negative. */
static void choose_signed(struct colour_scale *scale, double *sorted, int64_t count)
{
    double least = sorted[0], most = sorted[count - 1];
    int64_t zeros = 0;

    take_sizes(sorted, count);
    while (sorted[zeros] == 0)
        zeros++;
    double usual = quantile(sorted + zeros, count - zeros, 0.5), limit = quantile(sorted, count, NEARLY_ALL);
    limit = limit > 0 ? limit : sorted[count - 1];
    scale->diverging = true;
    scale->knee = limit < WIDE * usual ? INFINITY : usual;
    scale->low = -limit;
    scale->high = limit;
    scale->below = least < -limit;
    scale->above = most > limit;
}

/* Around 1. */
static void choose_factors(struct colour_scale *scale, double *sorted, int64_t count)
{
    take_logarithms(sorted, count);
    double least = sorted[0], most = sorted[count - 1];
    take_sizes(sorted, count);
    double limit = fmax(quantile(sorted, count, NEARLY_ALL), FACTORS_LEAST);
    scale->diverging = scale->logarithmic = true;
    scale->knee = limit > 2 * FACTORS_KNEE ? FACTORS_KNEE : INFINITY;
    scale->low = exp(-limit);
    scale->high = exp(limit);
    scale->below = least < -limit;
    scale->above = most > limit;
}

void colour_scale_choose(
    struct colour_scale *scale, const double *value, int64_t all, enum colour_numbers numbers)
{
    double *sorted = memory_new((size_t)all, sizeof(*sorted));
    int64_t count = 0;

    *scale = (struct colour_scale){.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < all; i++)
        if (isfinite(value[i]))
            sorted[count++] = value[i];
    numbers_sort(sorted, count);
    if (count > 0 && numbers == NUMBERS_FACTORS && sorted[0] >= 0)
        choose_factors(scale, sorted, count);
    else if (count > 0 && sorted[0] < 0 && sorted[count - 1] > 0)
        choose_signed(scale, sorted, count);
    else if (count > 0)
        choose_ordered(scale, sorted, count, numbers == NUMBERS_LINEAR);
    free(sorted);
}

/* ---- places ---- */

/* A scale with a knee is linear up to it, and logarithmic beyond. */
static double on_scale(const struct colour_scale *scale, double value)
{
    double plain = scale->logarithmic ? log(value) : value, size = fabs(plain) / scale->knee;

    if (!scale->diverging || isinf(scale->knee))
        return plain;
    return copysign(size <= 1 ? size * DECADE_OF_KNEE : DECADE_OF_KNEE + log10(size), plain);
}

double colour_scale_place(const struct colour_scale *scale, double value)
{
    if (!(value > scale->low))
        return scale->diverging && scale->low == scale->high ? 0.5 : 0;
    if (value >= scale->high)
        return 1;
    double low = on_scale(scale, scale->low);
    return (on_scale(scale, value) - low) / (on_scale(scale, scale->high) - low);
}

double colour_scale_value(const struct colour_scale *scale, double place)
{
    double low = on_scale(scale, scale->low);
    double value = low + place * (on_scale(scale, scale->high) - low), size = fabs(value);

    if (scale->diverging && !isinf(scale->knee)) {
        size = size <= DECADE_OF_KNEE ? size / DECADE_OF_KNEE : pow(10, size - DECADE_OF_KNEE);
        value = copysign(size * scale->knee, value);
    }
    return scale->logarithmic ? exp(value) : value;
}

/* ---- palettes ---- */

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
