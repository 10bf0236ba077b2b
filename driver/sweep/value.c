/*
 * Single values of a sweep file: numbers, words, truth values and texts.
 *
 * Numbers are checked here, letter by letter, before strtod and strtoll read them: these accept more than a
 * sweep file does, and what they accept depends on the library.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

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
        return reader_fault(reader, node->position, "%s: takes one value, not a list", key);
    if (node->kind == NODE_MAP)
        return reader_fault(reader, node->position, "%s: takes one value, not a mapping", key);
    if (node_is_null(node))
        return reader_fault(reader, node->position, "%s: no value", key);
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
    char excerpt[EXCERPT_SIZE], hint[LIST_HINT];

    if (check_single(reader, key, node) < 0)
        return -1;
    place_excerpt(node->text, excerpt);
    *kind = number_kind(node->text);
    if (is_not_finite(node->text))
        return reader_fault(reader, node->position, "%s: %s is not finite", key, excerpt);
    if (*kind == NUMBER_NONE)
        return reader_fault(
            reader, node->position, "%s: '%s' is not %s%s", key, excerpt, what, list_hint(node->text, hint));
    if (node->quoted)
        return reader_fault(
            reader, node->position, "%s: '%s' is a text; write %s without quotes", key, excerpt, what);
    return 0;
}

/* The double nearest to a text that check_number has accepted. */
static int read_real(struct reader *reader, const char *key, const struct node *node, double *value)
{
    char excerpt[EXCERPT_SIZE];
    double number = strtod(node->text, NULL);

    place_excerpt(node->text, excerpt);
    if (!isfinite(number))
        return reader_fault(reader, node->position, "%s: %s is too large", key, excerpt);
    if (number == 0 && strcspn(node->text, "123456789") < strcspn(node->text, "eE"))
        return reader_fault(reader, node->position, "%s: %s is too close to 0", key, excerpt);
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

static int read_integer(struct reader *reader, const char *key, const struct node *node, int64_t *value)
{
    enum number kind;
    char excerpt[EXCERPT_SIZE];
    double number = 0;

    if (check_number(reader, key, node, "an integer", &kind) < 0)
        return -1;
    if (kind == NUMBER_INTEGER) {
        errno = 0;
        *value = strtoll(node->text, NULL, 10);
        return errno == 0 ? 0
                          : reader_fault(reader, node->position, "%s: %s is too large for 64 bits", key,
                                place_excerpt(node->text, excerpt));
    }
    if (read_real(reader, key, node, &number) < 0)
        return -1;
    if (to_integer(number, value))
        return 0;
    return reader_fault(
        reader, node->position, "%s: %s is not an integer", key, place_excerpt(node->text, excerpt));
}

int value_integer(
    struct reader *reader, const char *key, const struct node *node, int64_t least, int64_t *value)
{
    if (read_integer(reader, key, node, value) < 0)
        return -1;
    if (*value < least)
        return reader_fault(reader, node->position, "%s: %" PRId64 " is below %" PRId64, key, *value, least);
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

static int find_word(
    struct reader *reader, const char *key, const struct node *node, const char *const *words, int64_t *index)
{
    char excerpt[EXCERPT_SIZE];
    struct string list = {0};

    if (find_text(words, node->text, index))
        return 0;
    for (int64_t i = 0; words[i] && list.length < LIST_LONGEST; i++)
        string_format(&list, "%s%s", i ? ", " : "", words[i]);
    reader_fault(reader, node->position, "%s: '%s' is not one of %.*s", key,
        place_excerpt(node->text, excerpt), LIST_LONGEST, string_text(&list));
    string_release(&list);
    return -1;
}

int value_word(
    struct reader *reader, const char *key, const struct node *node, const char *const *words, int64_t *index)
{
    return check_single(reader, key, node) < 0 ? -1 : find_word(reader, key, node, words, index);
}

int value_key(
    struct reader *reader, const char *map, const struct node *node, const char *const *words, int64_t *index)
{
    if (node->kind != NODE_SCALAR)
        return check_single(reader, map, node);
    return find_word(reader, map, node, words, index);
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

static int read_boolean(struct reader *reader, const char *key, const struct node *node, int64_t *value)
{
    char excerpt[EXCERPT_SIZE];

    if (check_single(reader, key, node) < 0)
        return -1;
    *value = boolean_of(node->text);
    if (*value >= 0)
        return 0;
    return reader_fault(reader, node->position, "%s: '%s' is neither true nor false", key,
        place_excerpt(node->text, excerpt));
}

/* A word; where true or false is one, in all spellings of a boolean. */
static int read_word(
    struct reader *reader, const struct param *param, const struct node *node, int64_t *value)
{
    int boolean = node->kind == NODE_SCALAR ? boolean_of(node->text) : -1;

    if (boolean >= 0 && find_text(param->words, boolean ? "true" : "false", value))
        return 0;
    return value_word(reader, param->name, node, param->words, value);
}

static int check_bounds(
    struct reader *reader, const struct param *param, struct position position, union param_value value)
{
    if (param_check(param, value, reader->error) == 0)
        return 0;
    return position_prefix(reader->error, reader->sweep->path, position);
}

int value_param(
    struct reader *reader, const struct param *param, const struct node *node, union param_value *value)
{
    int status = -1;

    switch (param->kind) {
    case PARAM_INTEGER:
        status = read_integer(reader, param->name, node, &value->integer);
        break;
    case PARAM_REAL:
        status = value_real(reader, param->name, node, &value->real);
        break;
    case PARAM_BOOLEAN:
        status = read_boolean(reader, param->name, node, &value->integer);
        break;
    case PARAM_WORD:
        status = read_word(reader, param, node, &value->integer);
        break;
    }
    return status < 0 ? -1 : check_bounds(reader, param, node->position, *value);
}

int value_from_real(struct reader *reader, const struct param *param, struct position position, double number,
    union param_value *value)
{
    if (param->kind == PARAM_REAL)
        value->real = number + 0.0;
    else if (!to_integer(number, &value->integer))
        return reader_fault(reader, position, "%s: %.12g is not an integer", param->name, number);
    return check_bounds(reader, param, position, *value);
}

int value_from_integer(struct reader *reader, const struct param *param, struct position position,
    int64_t number, union param_value *value)
{
    if (param->kind == PARAM_REAL)
        value->real = (double)number;
    else
        value->integer = number;
    return check_bounds(reader, param, position, *value);
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
