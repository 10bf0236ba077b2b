/*
 * Sweep files may list numbers in any order; list.c puts them into a strict one, as the CF conventions want
 * of coordinates. Older datasets have them as they were listed: 0.1, 1, 10 and then the 0 of `plus`. Such a
 * file keeps its order as long as it holds the whole grid. Programs that read it by index, and variables that
 * others have added along its axes, stay valid.
 */
#include "driver/dataset/order.h"

#include "driver/sweep/arrange.h"
#include "driver/sweep/list.h"

#include <errno.h>
#include <string.h>

/* The sweep's axis of this name and length; -1: none. */
static int64_t same_axis(const struct sweep *sweep, const struct axis *there)
{
    for (int64_t i = 0; i < sweep->axis_count; i++)
        if (strcmp(sweep->axis[i].name, there->name) == 0)
            return sweep->axis[i].length == there->length ? i : -1;
    return -1;
}

/* Has the sweep the file's axes, in any order, and no more values along them? */
static bool is_same_grid(const struct sweep *sweep, const struct view *view)
{
    bool same = sweep->axis_count == view->axis_count;

    for (int64_t i = 0; same && i < view->axis_count; i++)
        same = same_axis(sweep, &view->axis[i]) >= 0;
    return same;
}

static bool has_strict_order(const struct axis *axis)
{
    return axis->label || axis->param[0]->kind == PARAM_WORD ||
           list_direction(axis->param[0], axis->value, axis->length) != 0;
}

/* Takes over the order of the file's axes that have no strict one. Returns their number; -1: no memory. */
static int follow(struct sweep *sweep, const struct view *view, const struct mapping *mapping)
{
    int followed = 0;

    for (int64_t i = 0; i < view->axis_count; i++) {
        if (has_strict_order(&view->axis[i]))
            continue;
        if (sweep_arrange(sweep, same_axis(sweep, &view->axis[i]), mapping->to[i]) < 0)
            return -1;
        followed++;
    }
    return followed;
}

int order_map(struct mapping *mapping, struct sweep *sweep, const struct view *view,
    const struct layout *layout, struct error *error)
{
    if (mapping_init(mapping, view, layout, error) != 0)
        return -1;
    int followed = mapping->shorter || !is_same_grid(sweep, view) ? 0 : follow(sweep, view, mapping);
    if (followed == 0)
        return 0;
    mapping_release(mapping);
    return followed > 0 ? mapping_init(mapping, view, layout, error)
                        : layout_error(error, view->name, ENOMEM);
}
