#include "driver/terminal/colour_scale.h"

#include "driver/terminal/ascending.h"

#include <math.h>
#include <stdlib.h>

#define SPREAD 100 /* a scale is logarithmic if largest / smallest exceeds this */
#define MOST_BELOW 0.1 /* and the median is below this part of the largest */
#define FEW 0.02 /* part of the values, at least one, that may be outliers at either end */
enum { ENOUGH = 5 }; /* with fewer values there are no outliers */
#define FAR 10 /* outliers are this many times the range of the others away */

/* Copies the finite values and sorts them; *count becomes their number. */
static void sort(double *sorted, const double *value, int64_t *count)
{
    int64_t finite = 0;

    for (int64_t i = 0; i < *count; i++)
        if (isfinite(value[i]))
            sorted[finite++] = value[i];
    ascending_sort(sorted, finite);
    *count = finite;
}

static double on_scale(const struct colour_scale *scale, double value)
{
    return scale->logarithmic ? log(value) : value;
}

static double distance(const struct colour_scale *scale, double from, double to)
{
    return on_scale(scale, to) - on_scale(scale, from);
}

/* Moves the ends of the scale inwards, past outliers. */
static void clip(struct colour_scale *scale, const double *sorted, int64_t count)
{
    int64_t few = (int64_t)ceil(FEW * (double)(count - 1));
    double low = sorted[few], high = sorted[count - 1 - few], within = distance(scale, low, high);

    scale->below = within > 0 && distance(scale, scale->low, low) > FAR * within;
    scale->above = within > 0 && distance(scale, high, scale->high) > FAR * within;
    scale->low = scale->below ? low : scale->low;
    scale->high = scale->above ? high : scale->high;
}

static bool spreads(const struct colour_scale *scale)
{
    return scale->low > 0 && scale->high > SPREAD * scale->low;
}

static void choose_ends(struct colour_scale *scale, const double *sorted, int64_t count, bool linear)
{
    scale->low = sorted[0];
    scale->high = sorted[count - 1];
    scale->logarithmic = !linear && spreads(scale) && sorted[count / 2] < MOST_BELOW * scale->high;
    if (count >= ENOUGH)
        clip(scale, sorted, count);
    scale->logarithmic = scale->logarithmic && spreads(scale);
}

bool colour_scale_choose(struct colour_scale *scale, const double *value, int64_t count, bool linear)
{
    double *sorted = malloc((size_t)count * sizeof(*sorted));

    *scale = (struct colour_scale){.low = INFINITY, .high = -INFINITY};
    if (!sorted)
        return false;
    sort(sorted, value, &count);
    if (count > 0)
        choose_ends(scale, sorted, count, linear);
    free(sorted);
    return true;
}

double colour_scale_place(const struct colour_scale *scale, double value)
{
    if (!(value > scale->low))
        return 0;
    if (value >= scale->high)
        return 1;
    return distance(scale, scale->low, value) / distance(scale, scale->low, scale->high);
}

double colour_scale_value(const struct colour_scale *scale, double place)
{
    double value = on_scale(scale, scale->low) + place * distance(scale, scale->low, scale->high);

    return scale->logarithmic ? exp(value) : value;
}
