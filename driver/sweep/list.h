#ifndef NORMSWEEP_DRIVER_SWEEP_LIST_H
#define NORMSWEEP_DRIVER_SWEEP_LIST_H

#include "driver/sweep/value.h"

/* The values that a sweep file gives to one parameter. */
struct list {
    int64_t count;
    union param_value *value; /* [count] */
    struct place *written; /* [count] the place of each; NULL if a rule such as range made the values */
};

/* Does the node give several values: a list, or a rule such as {range: [a, b]}? */
bool list_is(const struct node *node);

/*
 * Reads `[a, b]`, `{range: [a, b]}` (integers, both ends included), `{range: [a, b], points: n}` (evenly
 * spaced), `{log: [a, b], points: n}` (evenly spaced in the logarithm); the last three may have `plus:
 * [...]`. Computed values are rounded to 12 significant digits; both ends are exact. Numbers and truth values
 * ascend strictly; they descend if the whole list does, or the rule without `plus`. Words keep their order.
 * Refuses more than `most` values and equal values. On failure -1, nothing held.
 */
int list_read(struct reader *reader, const struct param *param, const struct node *node, int64_t most,
    struct list *list);

void list_release(struct list *list);

/* Sorts values of a parameter in ascending order. */
void list_sort(const struct param *param, union param_value *value, int64_t count);

#endif
