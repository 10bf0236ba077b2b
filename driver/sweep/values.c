/*
 * The values that a sweep file gives to keys: one value, a list of them, or a rule that makes them, range or
 * log.
 *
 * Numbers are checked here, letter by letter, before strtod and strtoll read them: these accept more than a
 * sweep file does, and what they accept depends on the library. Values that a rule makes are those that a
 * user would have typed: decimals of 12 digits, read as strtod reads them. In a list, whatever made it, two
 * equal values are refused, and numbers are put into a strict order.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"
#include "worker/checkpoint/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LIST_HINT = EXCERPT_SIZE + 24, LIST_LONGEST = 511 }; /* bytes; of the words in a message */

enum number { NUMBER_NONE, NUMBER_INTEGER, NUMBER_REAL };

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* Is the text a decimal number, and is it written as an integer? */
static enum number number_kind(const char *text)
{
    enum number kind = NUMBER_INTEGER;
    const char *begin = text + (*text == '-' || *text == '+'), *end = skip_digits(begin);
    int64_t digits = end - begin;

    if (digits > 1 && *begin == '0')
        return NUMBER_NONE;
    if (*end == '.') {
        kind = NUMBER_REAL;
        begin = end + 1;
        end = skip_digits(begin);
        digits += end - begin;
    }
    if (digits == 0)
        return NUMBER_NONE;
    if (*end == 'e' || *end == 'E') {
        kind = NUMBER_REAL;
        begin = end + 1 + (end[1] == '-' || end[1] == '+');
        end = skip_digits(begin);
        if (end == begin)
            return NUMBER_NONE;
    }
    return *end ? NUMBER_NONE : kind;
}

/* .nan, .inf, nan, infinity, ... */
static bool is_not_finite(const char *text)
{
    text += *text == '-' || *text == '+';
    text += *text == '.';
    return strcasecmp(text, "nan") == 0 || strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0;
}

/* Refuses a list, a map and null. */
static int check_single(struct reader *reader, const char *key, const struct node *node)
{
    if (node->kind == NODE_LIST)
        return node_fault(reader, node, "%s: takes one value, not a list", key);
    if (node->kind == NODE_MAP)
        return node_fault(reader, node, "%s: takes one value, not a mapping", key);
    if (node_is_null(node))
        return node_fault(reader, node, "%s: no value", key);
    return 0;
}

/* "; write a list: [1e-3, 1e-2]" for numbers with commas between them, "" for anything else. A single comma
 * between integers may be that of a decimal number: 0,1. */
static const char *list_hint(const char *text, char hint[LIST_HINT])
{
    char copy[EXCERPT_SIZE], *rest = copy;
    bool is_list = strchr(text, ' ') != NULL;
    int count = 0;

    hint[0] = 0;
    if (strlen(text) >= sizeof(copy))
        return hint;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *item; (item = strsep(&rest, ",")); count++) {
        item += strspn(item, " ");
        item[strcspn(item, " ")] = 0;
        enum number kind = number_kind(item);
        if (kind == NUMBER_NONE)
            return hint;
        is_list = is_list || kind == NUMBER_REAL;
    }
    if (count > 2 || (count == 2 && is_list))
        snprintf(hint, LIST_HINT, "; write a list: [%s]", text);
    return hint;
}

/* Refuses everything but numbers; `what` is "a number" or "an integer". */
static int check_number(
    struct reader *reader, const char *key, const struct node *node, const char *what, enum number *kind)
{
    char hint[LIST_HINT];

    if (check_single(reader, key, node) < 0)
        return -1;
    const struct excerpt excerpt = text_excerpt(node->text);
    *kind = number_kind(node->text);
    if (is_not_finite(node->text))
        return node_fault(reader, node, "%s: %s is not finite", key, excerpt.text);
    if (*kind == NUMBER_NONE)
        return node_fault(
            reader, node, "%s: '%s' is not %s%s", key, excerpt.text, what, list_hint(node->text, hint));
    if (node->quoted)
        return node_fault(
            reader, node, "%s: '%s' is a text; write %s without quotes", key, excerpt.text, what);
    return 0;
}

/* The double nearest to a text that check_number has accepted. */
static int read_real(struct reader *reader, const char *key, const struct node *node, double *value)
{
    double number = strtod(node->text, NULL);

    const struct excerpt excerpt = text_excerpt(node->text);
    if (!isfinite(number))
        return node_fault(reader, node, "%s: %s is too large", key, excerpt.text);
    if (number == 0 && strcspn(node->text, "123456789") < strcspn(node->text, "eE"))
        return node_fault(reader, node, "%s: %s is too close to 0", key, excerpt.text);
    *value = number + 0.0; /* turns -0.0 into 0.0: both are equal, but have different digests */
    return 0;
}

int value_real(struct reader *reader, const char *key, const struct node *node, double *value)
{
    enum number kind;

    if (check_number(reader, key, node, "a number", &kind) < 0)
        return -1;
    return read_real(reader, key, node, value);
}

/* Converts an integral real number; false if it is not integral, or too large for doubles to be exact. */
static bool to_integer(double number, int64_t *value)
{
    if (!(fabs(number) <= 0x1p53) || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

int value_integer(struct reader *reader, const char *key, const struct node *node, int64_t least,
    int64_t most, int64_t *value)
{
    enum number kind;
    double number = 0;

    if (check_number(reader, key, node, "an integer", &kind) < 0)
        return -1;
    const struct excerpt excerpt = text_excerpt(node->text);
    errno = 0;
    if (kind == NUMBER_INTEGER)
        *value = strtoll(node->text, NULL, 10);
    else if (read_real(reader, key, node, &number) < 0)
        return -1;
    else if (!to_integer(number, value))
        return node_fault(reader, node, "%s: %s is not an integer", key, excerpt.text);
    if (kind == NUMBER_INTEGER && errno != 0)
        return node_fault(reader, node, "%s: %s is too large for 64 bits", key, excerpt.text);
    if (*value < least)
        return node_fault(reader, node, "%s: %" PRId64 " is below %" PRId64, key, *value, least);
    if (*value > most)
        return node_fault(reader, node, "%s: %" PRId64 " is above %" PRId64, key, *value, most);
    return 0;
}

int value_text(struct reader *reader, const char *key, const struct node *node, const char **text)
{
    if (check_single(reader, key, node) < 0)
        return -1;
    *text = node->text;
    return 0;
}

/* Is the text one of the words? Then *index is its number. */
static bool find_text(const char *const *words, const char *text, int64_t *index)
{
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(words[*index], text) == 0)
            return true;
    return false;
}

int value_key(
    struct reader *reader, const char *map, const struct node *node, const char *const *words, int64_t *index)
{
    struct string list = {0};

    if (find_text(words, node->text, index))
        return 0;
    for (int64_t i = 0; words[i] && list.length < LIST_LONGEST; i++)
        string_format(&list, "%s%s", i ? ", " : "", words[i]);
    node_fault(reader, node, "%s: '%s' is not one of %.*s", map, text_excerpt(node->text).text, LIST_LONGEST,
        string_text(&list));
    string_release(&list);
    return -1;
}

int value_word(
    struct reader *reader, const char *key, const struct node *node, const char *const *words, int64_t *index)
{
    return check_single(reader, key, node) < 0 ? -1 : value_key(reader, key, node, words, index);
}

/* 0 or 1 for the booleans of YAML's core schema: true, True, TRUE, ...; -1: another text. */
static int boolean_of(const char *text)
{
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};

    for (int i = 0; i < 6; i++)
        if (strcmp(words[i], text) == 0)
            return i % 2;
    return -1;
}

static int check_bounds(
    struct reader *reader, const struct param *param, const struct node *node, const union param_value *value)
{
    if (param_check(param, *value, reader->error) == 0)
        return 0;
    return position_prefix(reader->error, reader->sweep->path, node->position);
}

/* The name of the weights of a file, which is read once, or 0 for `none`. */
static int read_weights(
    struct reader *reader, const struct param *param, const struct node *node, int64_t *name)
{
    struct starts *starts = &reader->sweep->starts;
    struct start_weights start = {0};
    const char *text;

    if (value_text(reader, param->name, node, &text) < 0)
        return -1;
    if (!text[0])
        return node_fault(reader, node, "%s: an empty path", param->name);
    *name = !node->quoted && strcmp(text, param->words[0]) == 0 ? 0 : -1;
    char *path = reader_path(reader, node, text);
    for (int64_t i = 0; *name < 0 && i < starts->count; i++)
        if (strcmp(starts->file[i].path, path) == 0)
            *name = starts->file[i].name;
    int status = *name < 0 ? start_read(&start, path, reader->error) : 0;
    free(path);
    if (status < 0) {
        error_prefix(reader->error, "%s", param->name);
        return position_prefix(reader->error, reader->sweep->path, node->position);
    }
    if (*name >= 0)
        return 0;
    starts->file = memory_grow(starts->file, (size_t)starts->count + 1, sizeof(*starts->file));
    starts->file[starts->count++] = start;
    *name = start.name;
    return 0;
}

int value_truth(struct reader *reader, const char *key, const struct node *node, bool *value)
{
    int boolean = node->kind == NODE_SCALAR ? boolean_of(node->text) : -1;

    *value = boolean == 1;
    if (check_single(reader, key, node) < 0)
        return -1;
    if (boolean < 0)
        return node_fault(
            reader, node, "%s: '%s' is neither true nor false", key, text_excerpt(node->text).text);
    return 0;
}

int value_param(
    struct reader *reader, const struct param *param, const struct node *node, union param_value *value)
{
    const char *name = param->name;
    int boolean = node->kind == NODE_SCALAR ? boolean_of(node->text) : -1, status = 0;
    bool truth;

    switch (param->kind) {
    case PARAM_INTEGER:
        status = value_integer(reader, name, node, INT64_MIN, INT64_MAX, &value->integer);
        break;
    case PARAM_REAL:
        status = value_real(reader, name, node, &value->real);
        break;
    case PARAM_BOOLEAN:
        status = value_truth(reader, name, node, &truth);
        value->integer = truth;
        break;
    case PARAM_WORDS:
        if (node->kind != NODE_SCALAR || !param_find_word(param, node->text, &value->integer))
            status = value_word(reader, name, node, param->words, &value->integer);
        break;
    case PARAM_WORD: /* where true or false is one, in all spellings of a boolean */
        if (boolean < 0 || !find_text(param->words, boolean ? "true" : "false", &value->integer))
            status = value_word(reader, name, node, param->words, &value->integer);
        break;
    case PARAM_WEIGHTS:
        status = read_weights(reader, param, node, &value->integer);
        break;
    }
    return status < 0 ? -1 : check_bounds(reader, param, node, value);
}

bool param_is_number(const struct param *param)
{
    return param->kind == PARAM_INTEGER || param->kind == PARAM_REAL;
}

int value_compare(const struct param *param, union param_value a, union param_value b)
{
    if (param->kind == PARAM_REAL)
        return (a.real > b.real) - (a.real < b.real);
    return (a.integer > b.integer) - (a.integer < b.integer);
}

/* ---- lists ---- */

/* A list while it is read. */
struct filling {
    struct reader *reader;
    const struct param *param;
    int64_t most; /* values */
    struct list *list;
};

void list_release(struct list *list)
{
    free(list->value);
    free(list->written);
    *list = (struct list){0};
}

static int too_many(const struct filling *filling, const struct node *node, double count)
{
    return node_fault(filling->reader, node, "%s: %.8g values; the limit is %" PRId64, filling->param->name,
        count, filling->most);
}

/* Appends values that the file spells out. */
static int append_items(const struct filling *filling, const struct node *items, int64_t count)
{
    struct list *list = filling->list;

    for (int64_t i = 0; i < count; i++, list->count++) {
        if (value_param(filling->reader, filling->param, &items[i], &list->value[list->count]) < 0)
            return -1;
        if (list->written)
            list->written[list->count] = items[i].position;
    }
    return 0;
}

/* The parts of a rule that makes values. */
enum { RANGE, LOG, POINTS, PLUS, PARTS };

/* Finds the parts of a rule; NULL: not given. */
static int read_rule(
    struct reader *reader, const struct param *param, const struct node *map, const struct node *part[PARTS])
{
    static const char *const names[PARTS] = {"range", "log", "points", "plus"};
    struct nearest nearest;

    for (int64_t i = 0; i < map->count; i++) {
        int found = 0;
        nearest_init(&nearest, map->key[i].text);
        for (; found < PARTS && strcmp(map->key[i].text, names[found]) != 0; found++)
            nearest_offer(&nearest, names[found]);
        if (found == PARTS)
            return node_fault(reader, &map->key[i], "%s: '%s' is not one of range, log, points, plus%s",
                param->name, text_excerpt(map->key[i].text).text, nearest_hint(&nearest).text);
        part[found] = &map->child[i];
    }
    if (!part[RANGE] == !part[LOG])
        return node_fault(reader, map, "%s: give either range or log", param->name);
    if (part[LOG] && !part[POINTS])
        return node_fault(reader, map, "%s: log needs points", param->name);
    if (!param_is_number(param))
        return node_fault(reader, map, "%s: range and log are for numbers only", param->name);
    if (part[PLUS] && part[PLUS]->kind != NODE_LIST)
        return node_fault(reader, part[PLUS], "%s: plus takes a list", param->name);
    return 0;
}

/* {range: [a, b]}: integers, both ends included, ascending or descending; with room for `more` values after
 * them. */
static int fill_integers(const struct filling *filling, const struct node *ends, int64_t more)
{
    struct reader *reader = filling->reader;
    const struct param *param = filling->param;
    struct list *list = filling->list;
    char key[EXCERPT_SIZE];
    int64_t first = 0, last = 0;

    snprintf(key, sizeof(key), "%s: range without points", param->name);
    if (value_integer(reader, key, &ends->child[0], INT64_MIN, INT64_MAX, &first) < 0 ||
        value_integer(reader, key, &ends->child[1], INT64_MIN, INT64_MAX, &last) < 0)
        return -1;
    uint64_t span = first < last ? (uint64_t)last - (uint64_t)first : (uint64_t)first - (uint64_t)last;
    if (span >= (uint64_t)filling->most)
        return too_many(filling, ends, (double)span + 1);
    list->value = memory_zero((size_t)span + 1 + (size_t)more, sizeof(*list->value));
    for (int64_t i = 0; i <= (int64_t)span; i++, list->count++) {
        int64_t number = first < last ? first + i : first - i;
        if (param->kind == PARAM_REAL)
            list->value[i].real = (double)number;
        else
            list->value[i].integer = number;
        if (check_bounds(reader, param, ends, &list->value[i]) < 0)
            return -1;
    }
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
static int fill_points(
    const struct filling *filling, const struct node *ends, const struct node *count, bool log, int64_t more)
{
    struct reader *reader = filling->reader;
    const struct param *param = filling->param;
    struct list *list = filling->list;
    double end[2] = {0};
    int64_t points = 0;

    if (value_integer(reader, "points", count, 2, INT64_MAX, &points) < 0)
        return -1;
    if (points > filling->most)
        return too_many(filling, count, (double)points);
    for (int i = 0; i < 2; i++) {
        if (value_real(reader, param->name, &ends->child[i], &end[i]) < 0)
            return -1;
        if (log && !(end[i] > 0))
            return node_fault(reader, &ends->child[i], "%s: log: %s is not above 0%s", param->name,
                ends->child[i].text, end[i] < 0 ? "" : "; plus: [0] adds it");
    }
    list->value = memory_zero((size_t)(points + more), sizeof(*list->value));
    for (int64_t i = 0; i < points; i++, list->count++) {
        double number = i == 0            ? end[0]
                        : i == points - 1 ? end[1]
                        : log             ? log_point(end[0], end[1], i, points)
                                          : linear_point(end[0], end[1], i, points);
        if (param->kind == PARAM_REAL)
            list->value[i].real = number + 0.0;
        else if (!to_integer(number, &list->value[i].integer))
            return node_fault(reader, ends, "%s: %.12g is not an integer", param->name, number);
        if (check_bounds(reader, param, ends, &list->value[i]) < 0)
            return -1;
    }
    return 0;
}

/* 1: the values ascend strictly, or there is only one; -1: they descend strictly; 0: neither. */
static int direction_of(const struct param *param, const struct list *list)
{
    int direction = list->count > 1 ? value_compare(param, list->value[1], list->value[0]) : 1;

    for (int64_t i = 1; i < list->count; i++)
        if (value_compare(param, list->value[i], list->value[i - 1]) != direction)
            return 0;
    return direction;
}

/* Fills in `direction`, as list_read says: that of the rule, which `plus` does not change. */
static int fill_rule(const struct filling *filling, const struct node *map, int *direction)
{
    const struct param *param = filling->param;
    const struct node *part[PARTS] = {NULL};

    if (read_rule(filling->reader, param, map, part) < 0)
        return -1;
    bool log = part[LOG] != NULL;
    const struct node *ends = log ? part[LOG] : part[RANGE];
    INVARIANT(ends, "%s has a rule with two ends", param->name);
    if (ends->kind != NODE_LIST || ends->count != 2)
        return node_fault(
            filling->reader, ends, "%s: %s takes [first, last]", param->name, log ? "log" : "range");
    int64_t more = part[PLUS] ? part[PLUS]->count : 0;
    int status = part[POINTS] ? fill_points(filling, ends, part[POINTS], log, more)
                              : fill_integers(filling, ends, more);
    if (status < 0)
        return -1;
    if (filling->list->count + more > filling->most)
        return too_many(filling, map, (double)(filling->list->count + more));
    *direction = direction_of(param, filling->list);
    return more ? append_items(filling, part[PLUS]->child, more) : 0;
}

static int compare_values(const void *context, int64_t a, int64_t b)
{
    const struct filling *filling = context;

    return value_compare(filling->param, filling->list->value[a], filling->list->value[b]);
}

/*
 * Refuses equal values, and puts numbers, and the position of each, in a strict order, as CF wants it of
 * coordinates: descending if `direction` is below 0.
 */
static int put_in_order(const struct filling *filling, const struct node *node, int direction)
{
    const struct param *param = filling->param;
    struct list *list = filling->list, unordered = *list;
    char text[PARAM_TEXT];
    int status = 0;

    if (direction_of(param, list) != 0)
        return 0; /* then no two are equal */
    int64_t *sorted = memory_sorted(list->count, compare_values, filling);
    for (int64_t i = 1; i < list->count && status == 0; i++)
        if (compare_values(filling, sorted[i - 1], sorted[i]) == 0)
            status = reader_fault(filling->reader, list->written ? list->written[sorted[i]] : node->position,
                "%s: %s%s appears twice", param->name,
                param->kind == PARAM_WEIGHTS ? "a file of the weights " : "",
                param_format(param, list->value[sorted[i]], text, sizeof(text)));
    if (status == 0 && !param->words) {
        list->value = memory_new((size_t)list->count, sizeof(*list->value));
        if (list->written)
            list->written = memory_new((size_t)list->count, sizeof(*list->written));
        for (int64_t i = 0; i < list->count; i++) {
            int64_t from = sorted[direction < 0 ? list->count - 1 - i : i];
            list->value[i] = unordered.value[from];
            if (list->written)
                list->written[i] = unordered.written[from];
        }
        list_release(&unordered);
    }
    free(sorted);
    return status;
}

int list_read(struct reader *reader, const struct param *param, const struct node *node, int64_t most,
    struct list *list)
{
    const struct filling filling = {reader, param, most, list};
    const struct node *items =
        node->kind == NODE_LIST ? node->child : node; /* a single value is a list of one */
    int64_t count = node->kind == NODE_LIST ? node->count : 1;
    int direction = 0, status;

    *list = (struct list){0};
    if (node->kind == NODE_MAP) {
        status = fill_rule(&filling, node, &direction);
    } else if (count == 0) {
        status = node_fault(reader, node, "%s: an empty list", param->name);
    } else if (count > most) {
        status = too_many(&filling, node, (double)count);
    } else {
        list->written = memory_zero((size_t)count, sizeof(*list->written));
        list->value = memory_zero((size_t)count, sizeof(*list->value));
        status = append_items(&filling, items, count);
    }
    if (status == 0)
        status = put_in_order(&filling, node, direction);
    if (status < 0)
        list_release(list);
    return status;
}

static int compare_stored(const void *a, const void *b, void *param)
{
    return value_compare(param, *(const union param_value *)a, *(const union param_value *)b);
}

void list_sort(const struct param *param, struct list *list)
{
    qsort_r(list->value, (size_t)list->count, sizeof(*list->value), compare_stored, (void *)param);
}
