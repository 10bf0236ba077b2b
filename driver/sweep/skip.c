/*
 * `skip`: cells that have no run.
 *
 * An entry matches a box of cells: the product of a set of indices for each axis. The work of marking all
 * boxes is limited, so that no file takes long to read; a hundred entries that each match every other one of
 * ten million cells are refused.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MOST 500000000 /* visits of a cell, a few nanoseconds each */
#define VALUES_MOST 1000000 /* for one key of one entry */

struct entry {
    struct reader *reader;
    const struct node *node;
    bool **mask; /* [axis_count][length]; NULL: every index of that axis */
    double work; /* done so far, for all entries */
};

static int check_work(struct entry *entry, double more)
{
    if (entry->work + more > WORK_MOST)
        return node_fault(entry->reader, entry->node, "skip: too many entries for a grid of this size");
    entry->work += more;
    return 0;
}

/* Equal; reals to a relative 1e-9. */
static bool values_match(const struct param *param, union param_value a, union param_value b)
{
    if (param->kind != PARAM_REAL)
        return a.integer == b.integer;
    return fabs(a.real - b.real) <= 1e-9 * fmax(fabs(a.real), fabs(b.real));
}

/* Does a sorted list hold a matching value? Only the two values next to it in order can match. */
static bool holds(const struct param *param, const struct list *list, union param_value value)
{
    int64_t low = 0, high = list->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (value_compare(param, list->value[middle], value) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < list->count && values_match(param, list->value[low], value)) ||
           (low > 0 && values_match(param, list->value[low - 1], value));
}

/* The mask of an axis, made with every index set if there is none yet; NULL with the error set. */
static bool *axis_mask(struct entry *entry, int64_t axis)
{
    int64_t length = entry->reader->sweep->axis[axis].length;

    if (check_work(entry, (double)length) < 0)
        return NULL;
    if (!entry->mask[axis]) {
        entry->mask[axis] = memory_new((size_t)length, sizeof(bool));
        memset(entry->mask[axis], true, (size_t)length);
    }
    return entry->mask[axis];
}

/* Clears the indices of a mask whose label is not in `value`, a label or a list of labels. */
static int match_labels(struct entry *entry, int64_t axis, const struct node *value)
{
    struct reader *reader = entry->reader;
    const struct axis *row = &reader->sweep->axis[axis];
    const struct node *name = value->kind == NODE_LIST ? value->child : value;
    int64_t count = value->kind == NODE_LIST ? value->count : 1;
    bool *mask = axis_mask(entry, axis);
    bool *named = memory_zero((size_t)row->length, sizeof(*named));
    int status = mask ? check_work(entry, (double)count * (double)row->length) : -1;

    for (int64_t i = 0; i < count && status == 0; i++) {
        int64_t index;
        status = value_word(reader, row->name, &name[i], (const char *const *)row->label, &index);
        if (status == 0)
            named[index] = true;
    }
    for (int64_t index = 0; index < row->length && status == 0; index++)
        mask[index] = mask[index] && named[index];
    free(named);
    return status;
}

static int refuse_unmatched(struct entry *entry)
{
    return node_fault(entry->reader, entry->node, "skip: no cell matches this entry");
}

/* Clears the indices of a mask whose value is not among those of a node; a parameter that is not an axis has
 * one value for all cells. */
static int match_param(struct entry *entry, const struct param *param, const struct node *node)
{
    const struct sweep *sweep = entry->reader->sweep;
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param);
    struct list list;
    bool *mask;

    if (axis_derives(sweep->axis_count, sweep->axis, &sweep->base, param))
        return node_fault(
            entry->reader, node, "skip: %s follows from timescale; choose by that", param->name);
    if (list_read(entry->reader, param, node, VALUES_MOST, &list) < 0)
        return -1;
    list_sort(param, &list);
    int status = check_work(entry, 50 * (double)list.count);
    if (status == 0 && !axis) {
        if (!holds(param, &list, param_get(param, &sweep->base)))
            status = refuse_unmatched(entry);
    } else if (status == 0) {
        const union param_value *value = axis->value + axis_row(axis, param) * axis->length;
        mask = axis_mask(entry, axis - sweep->axis);
        status = mask ? check_work(entry, 4 * (double)axis->length * (1 + log2((double)list.count) / 2)) : -1;
        for (int64_t i = 0; i < axis->length && status == 0; i++)
            mask[i] = mask[i] && holds(param, &list, value[i]);
    }
    list_release(&list);
    return status;
}

/* The together axis that a key names; -1 with the error set. */
static int64_t find_label_axis(struct reader *reader, const struct node *key)
{
    const struct sweep *sweep = reader->sweep;
    struct nearest nearest;

    nearest_init(&nearest, key->text);
    for (int64_t axis = 0; axis < sweep->axis_count; axis++) {
        if (sweep->axis[axis].label && strcmp(sweep->axis[axis].name, key->text) == 0)
            return axis;
        nearest_offer(&nearest, sweep->axis[axis].name);
    }
    for (size_t i = 0; i < param_count; i++)
        nearest_offer(&nearest, param_table[i].name);
    return node_fault(reader, key, "skip: '%s' is neither an axis nor a parameter%s",
        text_excerpt(key->text).text, nearest_hint(&nearest).text);
}

/* Marks the cells [first, end), one word of bits at a time. */
static void mark_range(struct sweep *sweep, int64_t first, int64_t end)
{
    while (first < end) {
        int64_t bit = first % 64, count = end - first < 64 - bit ? end - first : 64 - bit;
        uint64_t mask = ~UINT64_C(0) >> (64 - count) << bit, *word = &sweep->skip[first / 64];
        sweep->skipped += __builtin_popcountll(mask & ~*word);
        *word |= mask;
        first += count;
    }
}

/* Marks the part of the box in cells [first, first + count), which span the axes from `axis` on. */
static void mark_box(struct entry *entry, int64_t axis, int64_t last, int64_t first, int64_t count)
{
    struct sweep *sweep = entry->reader->sweep;

    if (axis > last) {
        mark_range(sweep, first, first + count);
        return;
    }
    int64_t length = sweep->axis[axis].length, part = count / length;
    for (int64_t i = 0; i < length; i++)
        if (!entry->mask[axis] || entry->mask[axis][i])
            mark_box(entry, axis + 1, last, first + i * part, part);
}

/* Marks every cell whose indices are set in all masks. The axes inside the last one with a mask match whole,
 * so that their cells form ranges. */
static int mark_entry(struct entry *entry)
{
    const struct sweep *sweep = entry->reader->sweep;
    double ranges = 1, visits = 0, inside = (double)sweep->cells;
    int64_t last = sweep->axis_count - 1;

    while (last >= 0 && !entry->mask[last])
        last--;
    for (int64_t axis = 0; axis <= last; axis++) {
        int64_t length = sweep->axis[axis].length, matched = 0;
        for (int64_t i = 0; i < length; i++)
            matched += !entry->mask[axis] || entry->mask[axis][i];
        visits += ranges * (double)length;
        ranges *= (double)matched;
        inside /= (double)length;
    }
    if (ranges == 0)
        return refuse_unmatched(entry);
    if (check_work(entry, visits + ranges * (1 + inside / 64)) < 0)
        return -1;
    mark_box(entry, 0, last, 0, sweep->cells);
    return 0;
}

int skip_read(struct reader *reader, const struct node *node)
{
    struct sweep *sweep = reader->sweep;
    struct entry entry = {.reader = reader};
    int status = 0;

    if (node->kind != NODE_LIST)
        return node_fault(reader, node, "skip: takes a list of {key: value, ...}");
    if (node->count == 0)
        return 0;
    entry.mask = memory_zero((size_t)sweep->axis_count, sizeof(*entry.mask));
    sweep->skip = memory_zero((size_t)sweep->cells / 64 + 1, sizeof(*sweep->skip));
    for (int64_t i = 0; i < node->count && status == 0; i++) {
        const struct node *map = &node->child[i];
        entry.node = map;
        if (map->kind != NODE_MAP || map->count == 0)
            status = node_fault(reader, map, "skip: an entry takes {key: value, ...}");
        for (int64_t k = 0; status == 0 && k < map->count; k++) {
            const struct param *param = param_find(map->key[k].text);
            int64_t axis = param ? 0 : find_label_axis(reader, &map->key[k]);
            status = param       ? match_param(&entry, param, &map->child[k])
                     : axis >= 0 ? match_labels(&entry, axis, &map->child[k])
                                 : -1;
        }
        if (status == 0)
            status = mark_entry(&entry);
        for (int64_t axis = 0; axis < sweep->axis_count; axis++) {
            free(entry.mask[axis]);
            entry.mask[axis] = NULL;
        }
    }
    free(entry.mask);
    if (status == 0 && sweep->skipped == sweep->cells)
        return node_fault(reader, node, "skip: leaves no cell to run");
    return status;
}
