#include "driver/sweep/boundary.h"

#include <string.h>

int64_t boundary_axis(const struct sweep *sweep, const char *param)
{
    for (int64_t i = 0; i < sweep->axis_count; i++)
        if (!sweep->axis[i].label && strcmp(sweep->axis[i].name, param) == 0)
            return i;
    return -1;
}

bool boundary_of(const struct sweep *sweep, struct boundary *boundary)
{
    const struct refine *refine = &sweep->refine;

    if (refine->kind != REFINE_NONE && refine->axis_count == 1) {
        *boundary = (struct boundary){refine->axis[0], refine->variable, refine->at};
        return true;
    }
    *boundary = (struct boundary){boundary_axis(sweep, "weight_decay"), METRIC_norm_growth, 1};
    return boundary->axis >= 0 && sweep->measure.group[metric_table[METRIC_norm_growth].group];
}

bool boundary_is_of_growth(const struct sweep *sweep, const struct boundary *boundary)
{
    return boundary->variable == METRIC_norm_growth && boundary->at > 0 &&
           boundary->axis == boundary_axis(sweep, "weight_decay");
}

/* The axis over which the slope of such a variable is; "": it is not a slope. */
static const char *slope_axis(enum boundary_over over)
{
    return over == BOUNDARY_OF_LINE ? "" : over == BOUNDARY_OF_LENGTHS ? "steps" : "learning_rate";
}

int64_t boundary_axes(const struct sweep *sweep, enum boundary_over over, int64_t *axis)
{
    int64_t along = boundary_axis(sweep, slope_axis(over)), seed = boundary_axis(sweep, "seed"), count = 0;
    struct boundary boundary;

    if (!boundary_of(sweep, &boundary))
        return -1;
    if (over != BOUNDARY_OF_LINE &&
        (along < 0 || along == boundary.axis || boundary.axis == seed || sweep->axis[along].length < 2))
        return -1;
    if (over == BOUNDARY_OF_GROWTH && !(boundary_is_of_growth(sweep, &boundary) && boundary.at == 1))
        return -1;
    for (int64_t i = 0; i < sweep->axis_count; i++)
        if (i != boundary.axis && (over == BOUNDARY_OF_LINE || (i != along && i != seed)))
            axis[count++] = i;
    return count;
}

int64_t boundary_size(const struct sweep *sweep, int64_t count, const int64_t *axis)
{
    int64_t size = 1;

    for (int64_t i = 0; i < count; i++)
        size *= sweep->axis[axis[i]].length;
    return size;
}
