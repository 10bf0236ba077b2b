/*
 * The values of an axis: spelled out in a list, or made by a rule, range or log.
 *
 * Values that a rule makes are those that a user would have typed: decimals of 12 digits, read as strtod
 * reads them. Two equal values are refused, whatever made them, and numbers are put into a strict order.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool list_is(const struct node *node)
{
    return node->kind != NODE_SCALAR;
}

void list_release(struct list *list)
{
    free(list->value);
    free(list->written);
    *list = (struct list){0};
}

/* The parts of a rule that makes values; NULL: not given. */
struct rule {
    const struct node *node, *range, *log, *points, *plus;
};

static int take_part(
    struct reader *reader, const struct param *param, const struct node *map, int64_t i, struct rule *rule)
{
    static const char *const names[] = {"range", "log", "points", "plus"};
    const struct node **parts[] = {&rule->range, &rule->log, &rule->points, &rule->plus};
    struct nearest nearest;
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];

    nearest_init(&nearest, map->key[i].text);
    for (int part = 0; part < 4; part++) {
        nearest_offer(&nearest, names[part]);
        if (strcmp(map->key[i].text, names[part]) == 0) {
            *parts[part] = &map->child[i];
            return 0;
        }
    }
    return reader_fault(reader, map->key[i].position, "%s: '%s' is not one of range, log, points, plus%s",
        param->name, place_excerpt(map->key[i].text, excerpt), nearest_hint(&nearest, hint));
}

static int read_rule(
    struct reader *reader, const struct param *param, const struct node *map, struct rule *rule)
{
    *rule = (struct rule){.node = map};
    for (int64_t i = 0; i < map->count; i++)
        if (take_part(reader, param, map, i, rule) < 0)
            return -1;
    if (!rule->range == !rule->log)
        return reader_fault(reader, map->position, "%s: give either range or log", param->name);
    if (rule->log && !rule->points)
        return reader_fault(reader, map->position, "%s: log needs points", param->name);
    if (!param_is_number(param))
        return reader_fault(reader, map->position, "%s: range and log are for numbers only", param->name);
    if (rule->plus && rule->plus->kind != NODE_LIST)
        return reader_fault(reader, rule->plus->position, "%s: plus takes a list", param->name);
    return 0;
}

static int too_many(
    struct reader *reader, const struct param *param, struct position position, double count, int64_t most)
{
    return reader_fault(reader, position, "%s: %.8g values; the limit is %" PRId64, param->name, count, most);
}

static int check_ends(
    struct reader *reader, const struct param *param, const char *name, const struct node *ends)
{
    INVARIANT(ends, "%s of %s is in the rule", name, param->name);
    if (ends->kind == NODE_LIST && ends->count == 2)
        return 0;
    return reader_fault(reader, ends->position, "%s: %s takes [first, last]", param->name, name);
}

/* {range: [a, b]}: integers, both ends included, ascending or descending; with room for `more` values after
 * them. */
static int fill_integers(struct reader *reader, const struct param *param, const struct rule *rule,
    int64_t most, int64_t more, struct list *list)
{
    char key[EXCERPT_SIZE];
    int64_t first, last;

    snprintf(key, sizeof(key), "%s: range without points", param->name);
    if (value_integer(reader, key, &rule->range->child[0], INT64_MIN, &first) < 0 ||
        value_integer(reader, key, &rule->range->child[1], INT64_MIN, &last) < 0)
        return -1;
    uint64_t span = first < last ? (uint64_t)last - (uint64_t)first : (uint64_t)first - (uint64_t)last;
    if (span >= (uint64_t)most)
        return too_many(reader, param, rule->range->position, (double)span + 1, most);
    list->value = memory_zero((size_t)span + 1 + (size_t)more, sizeof(*list->value));
    for (int64_t i = 0; i <= (int64_t)span; i++, list->count++)
        if (value_from_integer(reader, param, rule->range->position, first < last ? first + i : first - i,
                &list->value[i]) < 0)
            return -1;
    return 0;
}

/*
 * The double nearest to the value's decimal of 12 digits. 10^n is exact in a double up to n = 22; the
 * quotient or product of two exact integers is rounded once, as strtod rounds. Beyond, the decimal is written
 * and read.
 */
static double round_12_digits(double value)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
        1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double size = fabs(value);
    char text[32];

    if (size >= 1e-10 && size <= 1e30) {
        int scale = 11 - (int)floor(log10(size));
        double power = powers[abs(scale)];
        if (scale >= 0)
            return (double)roundl((long double)value * power) / power;
        return (double)roundl((long double)value / power) * power;
    }
    snprintf(text, sizeof(text), "%.11e", value);
    return strtod(text, NULL);
}

/* Value i of n from a to b, 0 < i < n - 1. */
static double linear_point(double a, double b, int64_t i, int64_t n)
{
    long double share = (long double)i / (long double)(n - 1);
    double value = (double)((1 - share) * a + share * b);

    /* A rounding error in the place of zero becomes zero. */
    return fabs(value) <= 1e-12 * fmax(fabs(a), fabs(b)) ? 0 : round_12_digits(value);
}

static double log_point(double a, double b, int64_t i, int64_t n)
{
    double share = (double)i / (double)(n - 1);

    return round_12_digits(pow(10, (1 - share) * log10(a) + share * log10(b)));
}

/* {range or log: [a, b], points: n} */
static int fill_points(struct reader *reader, const struct param *param, const struct rule *rule,
    int64_t most, int64_t more, struct list *list)
{
    const struct node *ends = rule->log ? rule->log : rule->range;
    double end[2];
    int64_t points;

    if (value_integer(reader, "points", rule->points, 2, &points) < 0)
        return -1;
    if (points > most)
        return too_many(reader, param, rule->points->position, (double)points, most);
    for (int i = 0; i < 2; i++) {
        if (value_real(reader, param->name, &ends->child[i], &end[i]) < 0)
            return -1;
        if (rule->log && !(end[i] > 0))
            return reader_fault(reader, ends->child[i].position, "%s: log: %s is not above 0%s", param->name,
                ends->child[i].text, end[i] < 0 ? "" : "; plus: [0] adds it");
    }
    list->value = memory_zero((size_t)(points + more), sizeof(*list->value));
    for (int64_t i = 0; i < points; i++, list->count++) {
        double value = i == 0            ? end[0]
                       : i == points - 1 ? end[1]
                       : rule->log       ? log_point(end[0], end[1], i, points)
                                         : linear_point(end[0], end[1], i, points);
        if (value_from_real(reader, param, ends->position, value, &list->value[i]) < 0)
            return -1;
    }
    return 0;
}

/* 1: the values ascend strictly, or there is only one; -1: they descend strictly; 0: neither. */
static int direction_of(const struct param *param, const union param_value *value, int64_t count)
{
    int direction = count > 1 ? value_compare(param, value[1], value[0]) : 1;

    for (int64_t i = 1; i < count; i++)
        if (value_compare(param, value[i], value[i - 1]) != direction)
            return 0;
    return direction;
}

/* Appends values that the file spells out. */
static int append_items(
    struct reader *reader, const struct param *param, const struct node *items, struct list *list)
{
    for (int64_t i = 0; i < items->count; i++, list->count++) {
        if (value_param(reader, param, &items->child[i], &list->value[list->count]) < 0)
            return -1;
        if (list->written)
            list->written[list->count] = items->child[i].position;
    }
    return 0;
}

/* Fills in `direction`, as list_read says: that of the rule, which `plus` does not change. */
static int fill_rule(struct reader *reader, const struct param *param, const struct node *map, int64_t most,
    struct list *list, int *direction)
{
    struct rule rule;

    if (read_rule(reader, param, map, &rule) < 0 ||
        check_ends(reader, param, rule.log ? "log" : "range", rule.log ? rule.log : rule.range) < 0)
        return -1;
    int64_t more = rule.plus ? rule.plus->count : 0;
    if (rule.points ? fill_points(reader, param, &rule, most, more, list) < 0
                    : fill_integers(reader, param, &rule, most, more, list) < 0)
        return -1;
    if (list->count + more > most)
        return too_many(reader, param, map->position, (double)(list->count + more), most);
    *direction = direction_of(param, list->value, list->count);
    return rule.plus ? append_items(reader, param, rule.plus, list) : 0;
}

static int fill_written(struct reader *reader, const struct param *param, const struct node *items,
    int64_t most, struct list *list)
{
    if (items->count == 0)
        return reader_fault(reader, items->position, "%s: an empty list", param->name);
    if (items->count > most)
        return too_many(reader, param, items->position, (double)items->count, most);
    list->written = memory_zero((size_t)items->count, sizeof(*list->written));
    list->value = memory_zero((size_t)items->count, sizeof(*list->value));
    return append_items(reader, param, items, list);
}

static int compare(const void *a, const void *b, void *param)
{
    return value_compare(param, *(const union param_value *)a, *(const union param_value *)b);
}

void list_sort(const struct param *param, union param_value *value, int64_t count)
{
    qsort_r(value, (size_t)count, sizeof(*value), compare, (void *)param);
}

/* The index of the second occurrence of a repeated value. */
static int64_t second_index(const struct param *param, const struct list *list, union param_value value)
{
    int64_t found = 0, i = 0;

    for (; i < list->count && found < 2; i++)
        found += value_compare(param, list->value[i], value) == 0;
    return i - 1;
}

static int check_repeated(
    struct reader *reader, const struct param *param, struct position position, const struct list *list)
{
    char text[64];
    int status = 0;

    if (direction_of(param, list->value, list->count) != 0)
        return 0; /* then no two are equal */
    union param_value *sorted = memory_new((size_t)list->count, sizeof(*sorted));
    memcpy(sorted, list->value, (size_t)list->count * sizeof(*sorted));
    list_sort(param, sorted, list->count);
    for (int64_t i = 1; i < list->count && status == 0; i++)
        if (value_compare(param, sorted[i - 1], sorted[i]) == 0)
            status = reader_fault(reader,
                list->written ? list->written[second_index(param, list, sorted[i])] : position,
                "%s: %s appears twice", param->name, param_format(param, sorted[i], text, sizeof(text)));
    free(sorted);
    return status;
}

struct ordering {
    const struct param *param;
    const struct list *list;
    int direction;
};

static int compare_places(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    const union param_value *value = ordering->list->value;
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return ordering->direction * value_compare(ordering->param, value[left], value[right]);
}

/* Puts distinct values, and the position of each, in order: descending if `direction` is below 0. */
static void put_in_order(const struct param *param, int direction, struct list *list)
{
    struct ordering ordering = {param, list, direction < 0 ? -1 : 1};
    struct list ordered = {.count = list->count};
    int64_t *from = memory_new((size_t)list->count, sizeof(*from));

    for (int64_t i = 0; i < list->count; i++)
        from[i] = i;
    qsort_r(from, (size_t)list->count, sizeof(*from), compare_places, &ordering);
    ordered.value = memory_new((size_t)list->count, sizeof(*ordered.value));
    if (list->written)
        ordered.written = memory_new((size_t)list->count, sizeof(*ordered.written));
    for (int64_t i = 0; i < list->count; i++) {
        ordered.value[i] = list->value[from[i]];
        if (list->written)
            ordered.written[i] = list->written[from[i]];
    }
    free(from);
    list_release(list);
    *list = ordered;
}

int list_read(struct reader *reader, const struct param *param, const struct node *node, int64_t most,
    struct list *list)
{
    int direction = 0;

    *list = (struct list){0};
    int status = node->kind == NODE_MAP ? fill_rule(reader, param, node, most, list, &direction)
                                        : fill_written(reader, param, node, most, list);
    if (status == 0)
        status = check_repeated(reader, param, node->position, list);
    if (status == 0 && param->kind != PARAM_WORD && direction_of(param, list->value, list->count) == 0)
        put_in_order(param, direction, list); /* CF wants coordinates that are numbers in a strict order */
    if (status < 0)
        list_release(list);
    return status;
}
