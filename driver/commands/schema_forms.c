/*
 * Values in the sense of YAML 1.2, as editors read it: 1e-3 and 1e6 are numbers, the latter an integer; yes
 * and no are texts. Quotes do not matter for words and truth values here, as in the program, but they do for
 * numbers. What the program rejects because of other keys, or of the texts, is not in the schema.
 */
#include "driver/commands/schema_forms.h"

#include "driver/sweep/reader.h"

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

void schema_type(struct json_writer *writer, const char *type)
{
    json_writer_text(writer, "type", type);
}

void schema_open_object(struct json_writer *writer, const char *name)
{
    json_writer_open(writer, name, '{');
    schema_type(writer, "object");
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

/* A truth value is accepted in quotes, too; as a pattern, so that no editor proposes it. */
static void put_quoted_booleans(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    json_writer_text(writer, "type", "string");
    json_writer_text(writer, "pattern", "^([tT]rue|TRUE|[fF]alse|FALSE)$");
    json_writer_close(writer, '}');
}

static void put_booleans(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    json_writer_text(writer, "type", "boolean");
    json_writer_close(writer, '}');
    put_quoted_booleans(writer);
}

static void open_any(struct json_writer *writer, const char *name)
{
    json_writer_open(writer, name, '{');
    json_writer_open(writer, "anyOf", '[');
}

static void close_any(struct json_writer *writer)
{
    json_writer_close(writer, ']');
    json_writer_close(writer, '}');
}

/* Words of which some are truth values in YAML. */
static void put_mixed_words(struct json_writer *writer, const char *name, const char *const *words)
{
    open_any(writer, name);
    put_booleans(writer);
    json_writer_open(writer, NULL, '{');
    json_writer_open(writer, "enum", '[');
    for (int i = 0; words[i]; i++)
        if (!is_boolean(words[i]))
            json_writer_text(writer, NULL, words[i]);
    json_writer_close(writer, ']');
    json_writer_close(writer, '}');
    close_any(writer);
}

void schema_words(struct json_writer *writer, const char *name, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (is_boolean(words[i])) {
            put_mixed_words(writer, name, words);
            return;
        }
    json_writer_open(writer, name, '{');
    json_writer_open(writer, "enum", '[');
    for (int i = 0; words[i]; i++)
        json_writer_text(writer, NULL, words[i]);
    json_writer_close(writer, ']');
    json_writer_close(writer, '}');
}

void schema_single(struct json_writer *writer, const char *name, const struct param *param)
{
    switch (param->kind) {
    case PARAM_WORD:
        schema_words(writer, name, param->words);
        break;
    case PARAM_BOOLEAN:
        open_any(writer, name);
        put_booleans(writer);
        close_any(writer);
        break;
    case PARAM_INTEGER:
    case PARAM_REAL:
        json_writer_open(writer, name, '{');
        json_writer_text(writer, "type", param->kind == PARAM_REAL ? "number" : "integer");
        put_bounds(writer, param);
        json_writer_close(writer, '}');
        break;
    }
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

/* Two ends, both above 0 if `positive`. */
static void put_ends(
    struct json_writer *writer, const char *name, const char *help, const char *single, bool positive)
{
    json_writer_open(writer, name, '{');
    json_writer_text(writer, "description", help);
    json_writer_text(writer, "type", "array");
    json_writer_whole(writer, "minItems", 2);
    json_writer_whole(writer, "maxItems", 2);
    json_writer_open(writer, "items", '{');
    json_writer_open(writer, "allOf", '[');
    schema_reference(writer, NULL, single);
    if (positive)
        schema_number(writer, NULL, true);
    json_writer_close(writer, ']');
    json_writer_close(writer, '}');
    json_writer_close(writer, '}');
}

static void put_list(struct json_writer *writer, const char *name, const char *help,
    const struct param *param, const char *single, bool some)
{
    json_writer_open(writer, name, '{');
    if (help)
        json_writer_text(writer, "description", help);
    json_writer_text(writer, "type", "array");
    if (some)
        json_writer_whole(writer, "minItems", 1);
    if (is_exact(param))
        json_writer_truth(writer, "uniqueItems", true);
    schema_reference(writer, "items", single);
    json_writer_close(writer, '}');
}

static void put_rule_members(struct json_writer *writer, const struct param *param, const char *single)
{
    json_writer_open(writer, "properties", '{');
    put_ends(writer, "range",
        "[first, last]: evenly spaced values, or without points all integers between, both included", single,
        false);
    put_ends(writer, "log", "[first, last]: values evenly spaced on a logarithmic scale", single, true);
    json_writer_open(writer, "points", '{');
    json_writer_text(writer, "description", "the number of values");
    json_writer_text(writer, "type", "integer");
    json_writer_whole(writer, "minimum", 2);
    json_writer_whole(writer, "maximum", GRID_MOST);
    json_writer_close(writer, '}');
    put_list(writer, "plus", "values in addition", param, single, false);
    json_writer_close(writer, '}');
}

/* Without points, the ends of a range are integers. */
static void put_whole_range(struct json_writer *writer)
{
    schema_required(writer, "if", "points");
    json_writer_open(writer, "else", '{');
    json_writer_open(writer, "properties", '{');
    json_writer_open(writer, "range", '{');
    schema_integer(writer, "items", INT64_MIN, INT64_MAX);
    json_writer_close(writer, '}');
    json_writer_close(writer, '}');
    json_writer_close(writer, '}');
}

static void put_rule(struct json_writer *writer, const struct param *param, const char *single)
{
    json_writer_open(writer, NULL, '{');
    json_writer_text(writer, "type", "object");
    json_writer_truth(writer, "additionalProperties", false);
    put_rule_members(writer, param, single);
    json_writer_open(writer, "oneOf", '[');
    schema_required(writer, NULL, "range");
    schema_required(writer, NULL, "log");
    json_writer_close(writer, ']');
    json_writer_open(writer, "dependencies", '{');
    json_writer_open(writer, "log", '[');
    json_writer_text(writer, NULL, "points");
    json_writer_close(writer, ']');
    json_writer_close(writer, '}');
    put_whole_range(writer);
    json_writer_close(writer, '}');
}

void schema_lists(struct json_writer *writer, const struct param *param, const char *single)
{
    put_list(writer, NULL, NULL, param, single, true);
    if (param->kind == PARAM_INTEGER || param->kind == PARAM_REAL)
        put_rule(writer, param, single);
}

/* ---- other values ---- */

void schema_integer(struct json_writer *writer, const char *name, int64_t least, int64_t most)
{
    json_writer_open(writer, name, '{');
    json_writer_text(writer, "type", "integer");
    json_writer_whole(writer, "minimum", least);
    json_writer_whole(writer, "maximum", most);
    json_writer_close(writer, '}');
}

void schema_number(struct json_writer *writer, const char *name, bool positive)
{
    json_writer_open(writer, name, '{');
    json_writer_text(writer, "type", "number");
    if (positive)
        json_writer_whole(writer, "exclusiveMinimum", 0);
    else
        json_writer_real(writer, "minimum", -DBL_MAX);
    json_writer_real(writer, "maximum", DBL_MAX);
    json_writer_close(writer, '}');
}

void schema_text(struct json_writer *writer, const char *name, int64_t least, int64_t most)
{
    json_writer_open(writer, name, '{');
    json_writer_open(writer, "type", '[');
    json_writer_text(writer, NULL, "string");
    json_writer_text(writer, NULL, "number");
    json_writer_text(writer, NULL, "boolean");
    json_writer_close(writer, ']');
    if (least > 0)
        json_writer_whole(writer, "minLength", least);
    if (most > 0)
        json_writer_whole(writer, "maxLength", most);
    json_writer_close(writer, '}');
}
