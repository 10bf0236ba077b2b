#include "driver/boundary/line.h"

#include <math.h>
#include <stdlib.h>

/* A norm of 0 or infinity has a side, too: its logarithm is clipped to this. */
#define LARGEST 700.0

static int compare_places(const void *a, const void *b)
{
    double first = ((const struct line_point *)a)->axis, second = ((const struct line_point *)b)->axis;

    return (first > second) - (first < second);
}

/* Above 0 on the one side of the crossing, else at or below it. */
static double height_of(const struct line_rule *rule, double value)
{
    return rule->ratio ? fmax(fmin(log(value / rule->at), LARGEST), -LARGEST) : value - rule->at;
}

static double interpolate(
    const struct line_rule *rule, const struct line_point *low, const struct line_point *high)
{
    double below = height_of(rule, low->value), above = height_of(rule, high->value);
    double share = below / (below - above);

    if (!rule->log_axis)
        return (1 - share) * low->axis + share * high->axis;
    return low->axis > 0 ? exp((1 - share) * log(low->axis) + share * log(high->axis)) : NAN;
}

struct line_bracket line_cross(const struct line_rule *rule, struct line_point *point, int64_t count)
{
    int64_t known = 0, last = -1;

    for (int64_t i = 0; i < count; i++)
        if (!isnan(point[i].value))
            point[known++] = point[i];
    qsort(point, (size_t)known, sizeof(*point), compare_places);
    for (int64_t i = 0; i + 1 < known; i++) {
        bool before = height_of(rule, point[i].value) > 0, after = height_of(rule, point[i + 1].value) > 0;
        if (before != after && (before || !rule->falls))
            last = i;
    }
    if (last < 0)
        return (struct line_bracket){NAN, NAN, NAN};
    return (struct line_bracket){
        interpolate(rule, &point[last], &point[last + 1]), point[last].axis, point[last + 1].axis};
}
