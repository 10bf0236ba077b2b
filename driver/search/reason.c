/*
 * Why a cell was skipped, in words for the dataset: what lies between which neighbours, so that the value
 * needs no run.
 */
#include "driver/search/inside.h"
#include "driver/sweep/sweep.h"

#include <stdio.h>

/* "0.01": the value of the refined axis at a place of a line. Returns text. */
static char *value_at(const struct search *s, int64_t region, int64_t place, char text[LABEL_SIZE])
{
    int64_t cell = s->cell[region * s->size + place], a = s->sweep->axis_count;

    while (--a > s->refine->axis[0])
        cell /= s->sweep->axis[a].length;
    return label_axis_value(&s->sweep->axis[a], cell % s->sweep->axis[a].length, text, LABEL_SIZE);
}

/* What changes between the neighbours that a line's search has found. */
static void describe_change(const struct search *s, int64_t region, char *text, size_t size)
{
    const struct crossing *crossing = &s->region[region].crossing;
    const signed char *side = s->side + region * s->size;

    if (side[crossing->low] == SIDE_DIVERGED || side[crossing->high] == SIDE_DIVERGED)
        snprintf(text, size, "divergence %s", side[crossing->low] == SIDE_DIVERGED ? "ends" : "begins");
    else
        snprintf(text, size, "%s crosses %g", metric_table[s->refine->variable].name, s->refine->at);
}

char *search_reason(const struct search *s, int64_t cell, char *text, size_t size)
{
    char low[LABEL_SIZE], high[LABEL_SIZE], change[LABEL_SIZE];
    const char *axis = s->sweep->axis[s->refine->axis[0]].name;
    const char *variable = metric_table[s->refine->variable].name;
    int64_t place, region = region_of(s, cell, &place);
    const struct crossing *crossing = &s->region[region].crossing;

    if (s->refine->kind == REFINE_CELLS) {
        snprintf(text, size, "not needed: no two runs around it are on different sides of %s %g", variable,
            s->refine->at);
    } else if (crossing->end == CROSSING_FOUND) {
        describe_change(s, region, change, sizeof(change));
        snprintf(text, size, "not needed: %s between %s %s and %s", change, axis,
            value_at(s, region, crossing->low, low), value_at(s, region, crossing->high, high));
    } else if (crossing->end == CROSSING_SAME && s->side[region * s->size] == SIDE_DIVERGED) {
        snprintf(text, size, "not needed: the first and the last run along %s diverge", axis);
    } else if (crossing->end == CROSSING_SAME) {
        snprintf(text, size, "not needed: the first and the last run along %s are on one side of %s %g", axis,
            variable, s->refine->at);
    } else {
        snprintf(text, size, "not reached: the run at %s %s has no %s", axis,
            value_at(s, region, crossing->lacking, low), variable);
    }
    return text;
}
