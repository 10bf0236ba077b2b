/*
 * Values in the sense of YAML 1.2, as editors read it: 1e-3 and 1e6 are numbers, the latter an integer; yes
 * and no are texts. Quotes do not matter for words and truth values here, as in the program, but they do for
 * numbers. What the program rejects because of other keys, or of the texts, is not in the schema.
 *
 * A value of several forms is decided by `if`, by its type, and not by `anyOf`: validators then complain of
 * the form that was meant ("-1 is less than the minimum of 0"), and not that none of them fits.
 */
#include "driver/commands/schema_forms.h"

#include "driver/sweep/reader.h"
#include "driver/sweep/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void schema_reference(struct json_writer *writer, const char *name, const char *definition)
{
    char path[128];

    snprintf(path, sizeof(path), SCHEMA_DEFINITIONS "%s", definition);
    json_writer_open(writer, name, '{');
    json_writer_text(writer, "$ref", path);
    json_writer_close(writer, '}');
}

/* The items of a list, from words that are separated by blanks. */
static void put_list_of_words(struct json_writer *writer, const char *words)
{
    char word[32];

    for (int length; sscanf(words, "%31s%n", word, &length) == 1; words += length)
        json_writer_text(writer, NULL, word);
}

void schema_types(struct json_writer *writer, const char *types)
{
    if (!strchr(types, ' ')) {
        json_writer_text(writer, "type", types);
        return;
    }
    json_writer_open(writer, "type", '[');
    put_list_of_words(writer, types);
    schema_close(writer, "]");
}

void schema_if_type(struct json_writer *writer, const char *type)
{
    json_writer_open(writer, "if", '{');
    schema_types(writer, type);
    schema_close(writer, "}");
}

void schema_open_proposals(struct json_writer *writer)
{
    json_writer_open(writer, "anyOf", '[');
}

void schema_close_proposals(struct json_writer *writer)
{
    json_writer_truth(writer, NULL, true);
    schema_close(writer, "]");
}

void schema_open_object(struct json_writer *writer, const char *name)
{
    json_writer_open(writer, name, '{');
    schema_types(writer, "object");
    json_writer_truth(writer, "additionalProperties", false);
    json_writer_open(writer, "properties", '{');
}

void schema_close(struct json_writer *writer, const char *brackets)
{
    for (; *brackets; brackets++)
        json_writer_close(writer, *brackets);
}

void schema_needed(struct json_writer *writer, const char *name, const char *word)
{
    json_writer_open(writer, name, '[');
    json_writer_text(writer, NULL, word);
    schema_close(writer, "]");
}

void schema_required(struct json_writer *writer, const char *name, const char *word)
{
    json_writer_open(writer, name, '{');
    schema_needed(writer, "required", word);
    schema_close(writer, "}");
}

void schema_only(struct json_writer *writer, const char *names)
{
    json_writer_open(writer, "propertyNames", '{');
    json_writer_open(writer, "enum", '[');
    put_list_of_words(writer, names);
    schema_close(writer, "]}");
}

void schema_described(struct json_writer *writer, const struct param *param, const char *suffix)
{
    char definition[96];

    snprintf(definition, sizeof(definition), "%s%s", param->name, suffix);
    json_writer_open(writer, param->name, '{');
    json_writer_text(writer, "description", param->help);
    json_writer_open(writer, "allOf", '[');
    schema_reference(writer, NULL, definition);
    schema_close(writer, "]}");
}

/* A number that is whole has no point. */
static void put_number(struct json_writer *writer, const char *name, double value)
{
    if (fabs(value) <= 0x1p53 && value == floor(value))
        json_writer_whole(writer, name, (int64_t)value);
    else
        json_writer_real(writer, name, value);
}

/* The largest and smallest finite values stand for no bound, so that infinity is not accepted. */
static void put_bounds(struct json_writer *writer, const struct param *param)
{
    bool real = param->kind == PARAM_REAL;

    if (isfinite(param->min))
        put_number(writer, param->min_open ? "exclusiveMinimum" : "minimum", param->min);
    else if (real)
        json_writer_real(writer, "minimum", -DBL_MAX);
    else
        json_writer_whole(writer, "minimum", INT64_MIN);
    if (isfinite(param->max))
        put_number(writer, param->max_open ? "exclusiveMaximum" : "maximum", param->max);
    else if (real)
        json_writer_real(writer, "maximum", DBL_MAX);
    else
        json_writer_whole(writer, "maximum", INT64_MAX);
}

static bool is_boolean(const char *word)
{
    return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
}

/* Truth values are accepted in quotes, too; as a pattern, so that no editor proposes them. */
static void put_booleans(struct json_writer *writer, const char *const *words)
{
    char pattern[256] = "^([tT]rue|TRUE|[fF]alse|FALSE";

    for (int i = 0; words && words[i]; i++)
        if (!is_boolean(words[i]))
            snprintf(pattern + strlen(pattern), sizeof(pattern) - strlen(pattern), "|%s", words[i]);
    snprintf(pattern + strlen(pattern), sizeof(pattern) - strlen(pattern), ")$");
    schema_types(writer, "boolean string");
    json_writer_text(writer, "pattern", pattern);
}

static void put_enum(struct json_writer *writer, const char *const *words)
{
    json_writer_open(writer, "enum", '[');
    for (int i = 0; words[i]; i++)
        if (!is_boolean(words[i]))
            json_writer_text(writer, NULL, words[i]);
    schema_close(writer, "]");
}

static bool has_boolean(const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (is_boolean(words[i]))
            return true;
    return false;
}

/* Words of which some are truth values in YAML: editors propose the others by the enum. */
static void put_mixed_words(struct json_writer *writer, const char *const *words)
{
    schema_open_proposals(writer);
    json_writer_open(writer, NULL, '{');
    put_enum(writer, words);
    schema_close(writer, "}");
    schema_close_proposals(writer);
    put_booleans(writer, words);
}

void schema_single(struct json_writer *writer, const char *name, const struct param *param)
{
    json_writer_open(writer, name, '{');
    switch (param->kind) {
    case PARAM_WORD:
        if (has_boolean(param->words))
            put_mixed_words(writer, param->words);
        else
            put_enum(writer, param->words);
        break;
    case PARAM_BOOLEAN:
        put_booleans(writer, NULL);
        break;
    case PARAM_INTEGER:
    case PARAM_REAL:
        schema_types(writer, param->kind == PARAM_REAL ? "number" : "integer");
        put_bounds(writer, param);
        break;
    }
    schema_close(writer, "}");
}

void schema_propose(struct json_writer *writer, const struct param *param)
{
    if (param_is_number(param))
        return;
    schema_open_proposals(writer);
    schema_reference(writer, NULL, param->name);
    schema_close_proposals(writer);
}

void schema_initial(struct json_writer *writer, const char *name, const struct param *param)
{
    const char *word = param->kind == PARAM_WORD ? param->words[param->initial.integer] : "";

    if (param->kind == PARAM_BOOLEAN)
        json_writer_truth(writer, name, param->initial.integer);
    else if (param->kind == PARAM_REAL)
        put_number(writer, name, param->initial.real);
    else if (param->kind == PARAM_INTEGER)
        json_writer_whole(writer, name, param->initial.integer);
    else if (is_boolean(word))
        json_writer_truth(writer, name, strcmp(word, "true") == 0);
    else
        json_writer_text(writer, name, word);
}

/* ---- lists ---- */

/* Are different integers different for a reader that holds numbers as doubles? */
static bool is_exact(const struct param *param)
{
    return param->kind != PARAM_INTEGER || param->max <= 0x1p53;
}

/* May a value be 0 or less? */
static bool allows_zero(const struct param *param)
{
    return !(param->min > 0 || (param->min >= 0 && param->min_open));
}

/* Two ends, both above 0 if `positive`. */
static void put_ends(struct json_writer *writer, const char *name, const char *help,
    const struct param *param, const char *single, bool positive)
{
    json_writer_open(writer, name, '{');
    json_writer_text(writer, "description", help);
    schema_types(writer, "array");
    json_writer_whole(writer, "minItems", 2);
    json_writer_whole(writer, "maxItems", 2);
    json_writer_open(writer, "items", '{');
    json_writer_open(writer, "allOf", '[');
    schema_reference(writer, NULL, single);
    schema_close(writer, "]");
    if (positive && allows_zero(param))
        json_writer_whole(writer, "exclusiveMinimum", 0);
    schema_close(writer, "}}");
}

/* What holds of a list of values. */
static void put_list(struct json_writer *writer, const struct param *param, const char *single, bool some)
{
    if (some)
        json_writer_whole(writer, "minItems", 1);
    if (is_exact(param))
        json_writer_truth(writer, "uniqueItems", true);
    schema_reference(writer, "items", single);
}

static void put_rule_members(struct json_writer *writer, const struct param *param, const char *single)
{
    json_writer_open(writer, "properties", '{');
    put_ends(writer, "range",
        "[first, last]: evenly spaced values, or without points all integers between, both included", param,
        single, false);
    put_ends(
        writer, "log", "[first, last]: values evenly spaced on a logarithmic scale", param, single, true);
    json_writer_open(writer, "points", '{');
    json_writer_text(writer, "description", "the number of values");
    schema_types(writer, "integer");
    json_writer_whole(writer, "minimum", 2);
    json_writer_whole(writer, "maximum", GRID_MOST);
    schema_close(writer, "}");
    json_writer_open(writer, "plus", '{');
    json_writer_text(writer, "description", "values in addition");
    schema_types(writer, "array");
    put_list(writer, param, single, false);
    schema_close(writer, "}}");
}

/* Without points, the ends of a range are integers. */
static void put_whole_range(struct json_writer *writer)
{
    schema_required(writer, "if", "points");
    json_writer_open(writer, "else", '{');
    json_writer_open(writer, "properties", '{');
    json_writer_open(writer, "range", '{');
    schema_integer(writer, "items", INT64_MIN, INT64_MAX);
    schema_close(writer, "}}}");
}

/* Either log, which needs points, or range. */
static void put_rule(
    struct json_writer *writer, const char *name, const struct param *param, const char *single)
{
    json_writer_open(writer, name, '{');
    schema_types(writer, "object");
    json_writer_truth(writer, "additionalProperties", false);
    put_rule_members(writer, param, single);
    schema_required(writer, "if", "log");
    json_writer_open(writer, "then", '{');
    schema_needed(writer, "required", "points");
    schema_only(writer, "log points plus");
    schema_close(writer, "}");
    json_writer_open(writer, "else", '{');
    schema_needed(writer, "required", "range");
    put_whole_range(writer);
    schema_close(writer, "}}");
}

void schema_lists(struct json_writer *writer, const struct param *param, const char *single)
{
    schema_if_type(writer, "array");
    json_writer_open(writer, "then", '{');
    put_list(writer, param, single, true);
    schema_close(writer, "}");
    put_rule(writer, "else", param, single);
}

void schema_values(struct json_writer *writer, const char *name, const struct param *param)
{
    json_writer_open(writer, name, '{');
    schema_propose(writer, param);
    schema_if_type(writer, "array");
    json_writer_open(writer, "then", '{');
    put_list(writer, param, param->name, true);
    schema_close(writer, "}");
    if (param_is_number(param)) {
        json_writer_open(writer, "else", '{');
        schema_if_type(writer, "object");
        put_rule(writer, "then", param, param->name);
    }
    schema_reference(writer, "else", param->name);
    schema_close(writer, param_is_number(param) ? "}}" : "}");
}

/* ---- other values ---- */

void schema_integer(struct json_writer *writer, const char *name, int64_t least, int64_t most)
{
    json_writer_open(writer, name, '{');
    schema_types(writer, "integer");
    schema_between(writer, least, most);
    schema_close(writer, "}");
}

void schema_between(struct json_writer *writer, int64_t least, int64_t most)
{
    json_writer_whole(writer, "minimum", least);
    json_writer_whole(writer, "maximum", most);
}

void schema_number(struct json_writer *writer, const char *types, bool positive)
{
    schema_types(writer, types);
    if (positive)
        json_writer_whole(writer, "exclusiveMinimum", 0);
    else
        json_writer_real(writer, "minimum", -DBL_MAX);
    json_writer_real(writer, "maximum", DBL_MAX);
}
