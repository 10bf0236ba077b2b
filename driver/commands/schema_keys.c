/*
 * What the keys take that are not parameters, one function for each form.
 *
 * Where null takes a key out, it is one of its types, and the last: keywords speak of one type each, so they
 * need no alternatives, and editors propose the members of an object that is still empty.
 */
#include "driver/commands/schema_keys.h"

#include "driver/commands/schema_forms.h"
#include "driver/sweep/measuring.h"
#include "driver/sweep/notes.h"
#include "driver/sweep/refine.h"
#include "driver/sweep/together.h"

#define ONE_TEXT                                                                                             \
    "string number boolean" /* YAML does not need quotes around a text that looks like a number */

/* One of a definition, or a list of them. */
static void put_one_or_list(
    struct json_writer *writer, const char *types, const char *definition, int64_t least, int64_t most)
{
    schema_types(writer, types);
    schema_if_type(writer, "array");
    json_writer_open(writer, "then", '{');
    schema_reference(writer, "items", definition);
    if (least > 0)
        json_writer_whole(writer, "minItems", least);
    if (most > 0)
        json_writer_whole(writer, "maxItems", most);
    schema_close(writer, "}");
}

static void put_path(struct json_writer *writer)
{
    json_writer_whole(writer, "minLength", 1);
}

/* A tag has no comma, and no space at its ends. */
static void put_tag(struct json_writer *writer)
{
    json_writer_text(writer, "pattern", "^[^ ,]([^,]*[^ ,])?$");
    json_writer_whole(writer, "maxLength", TAG_LONGEST);
}

static void define_text(struct json_writer *writer, const char *name, void (*put)(struct json_writer *))
{
    json_writer_open(writer, name, '{');
    schema_types(writer, ONE_TEXT);
    if (put)
        put(writer);
    schema_close(writer, "}");
}

void schema_define_texts(struct json_writer *writer)
{
    define_text(writer, DEFINED_TEXT, NULL);
    define_text(writer, DEFINED_PATH, put_path);
    define_text(writer, DEFINED_TAG, put_tag);
}

static void put_include(struct json_writer *writer)
{
    put_one_or_list(writer, ONE_TEXT " array", DEFINED_PATH, 1, 0);
    put_path(writer);
}

static void put_texts(struct json_writer *writer)
{
    put_one_or_list(writer, ONE_TEXT " array null", DEFINED_PATH, 2, 2);
    put_path(writer);
}

static void put_tags(struct json_writer *writer)
{
    put_one_or_list(writer, ONE_TEXT " array null", DEFINED_TAG, 0, TAGS_MOST);
    json_writer_truth(writer, "uniqueItems", true);
    put_tag(writer);
}

/* An object that may be null, open for its members: close it with "}". */
static void open_members(struct json_writer *writer)
{
    schema_types(writer, "object null");
    json_writer_truth(writer, "additionalProperties", false);
    json_writer_open(writer, "properties", '{');
}

static void put_together(struct json_writer *writer)
{
    schema_types(writer, "object null");
    json_writer_whole(writer, "minProperties", 1);
    schema_reference(writer, "propertyNames", DEFINED_NAME);
    json_writer_open(writer, "additionalProperties", '{');
    schema_types(writer, "object");
    json_writer_whole(writer, "minProperties", 1);
    json_writer_open(writer, "propertyNames", '{');
    json_writer_whole(writer, "minLength", 1);
    json_writer_whole(writer, "maxLength", TOGETHER_LABEL_LONGEST);
    schema_close(writer, "}");
    schema_reference(writer, "additionalProperties", DEFINED_LABEL);
    schema_close(writer, "}");
}

/* A parameter, with one value or several; or a together axis, with one label or several. */
static void put_skip(struct json_writer *writer)
{
    schema_types(writer, "array null");
    json_writer_open(writer, "items", '{');
    schema_types(writer, "object");
    json_writer_whole(writer, "minProperties", 1);
    schema_reference(writer, "propertyNames", DEFINED_OTHER);
    json_writer_open(writer, "properties", '{');
    for (size_t i = 0; i < param_count; i++)
        schema_described(writer, &param_table[i], DEFINED_LISTS);
    schema_close(writer, "}");
    json_writer_open(writer, "additionalProperties", '{');
    put_one_or_list(writer, ONE_TEXT " array", DEFINED_TEXT, 1, 0);
    schema_close(writer, "}}");
}

static bool may_be_refined(const struct param *param)
{
    return param->axis && (param->kind == PARAM_INTEGER || param->kind == PARAM_REAL);
}

static void put_refined_axis(struct json_writer *writer, const char *name)
{
    json_writer_open(writer, name, '{');
    json_writer_open(writer, "enum", '[');
    for (size_t i = 0; i < param_count; i++)
        if (may_be_refined(&param_table[i]))
            json_writer_text(writer, NULL, param_table[i].name);
    schema_close(writer, "]}");
}

static void put_refine_members(struct json_writer *writer)
{
    put_refined_axis(writer, "axis");
    json_writer_open(writer, "axes", '{');
    schema_types(writer, "array");
    json_writer_whole(writer, "minItems", 1);
    json_writer_whole(writer, "maxItems", REFINE_AXES);
    json_writer_truth(writer, "uniqueItems", true);
    put_refined_axis(writer, "items");
    schema_close(writer, "}");
    json_writer_open(writer, "variable", '{');
    json_writer_open(writer, "enum", '[');
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        if (metric_table[i].shape == METRIC_PER_RUN)
            json_writer_text(writer, NULL, metric_table[i].name);
    schema_close(writer, "]}");
    json_writer_open(writer, "at", '{');
    schema_number(writer, "number", false);
    schema_close(writer, "}");
    json_writer_open(writer, "coarse", '{');
    json_writer_open(writer, "enum", '[');
    for (int coarse = 1; coarse <= REFINE_COARSE_MOST; coarse *= 2)
        json_writer_whole(writer, NULL, coarse);
    schema_close(writer, "]}");
}

/* Either axis or axes, and coarse with axes alone. */
static void put_one_axis_or_more(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    schema_required(writer, "if", "axes");
    json_writer_open(writer, "then", '{');
    schema_only(writer, "axes variable at coarse");
    schema_close(writer, "}");
    json_writer_open(writer, "else", '{');
    schema_needed(writer, "required", "axis");
    schema_only(writer, "axis variable at");
    schema_close(writer, "}}");
}

/* Only norm_growth has a value that it crosses by itself. */
static void put_crossing(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    json_writer_open(writer, "if", '{');
    json_writer_open(writer, "properties", '{');
    json_writer_open(writer, "variable", '{');
    json_writer_text(writer, "const", metric_table[METRIC_norm_growth].name);
    schema_close(writer, "}}}");
    schema_required(writer, "else", "at");
    schema_close(writer, "}");
}

static void put_refine(struct json_writer *writer)
{
    open_members(writer);
    put_refine_members(writer);
    schema_close(writer, "}");
    json_writer_open(writer, "allOf", '[');
    put_one_axis_or_more(writer);
    put_crossing(writer);
    schema_close(writer, "]");
}

static void put_measure(struct json_writer *writer)
{
    open_members(writer);
    schema_integer(writer, "every", 1, MEASURE_NUMBER_MOST);
    json_writer_open(writer, "steps", '{');
    schema_types(writer, "array object");
    schema_lists(writer, &measure_step_param, DEFINED_STEP);
    schema_close(writer, "}");
    json_writer_open(writer, "metrics", '{');
    schema_types(writer, "array");
    json_writer_truth(writer, "uniqueItems", true);
    json_writer_open(writer, "items", '{');
    json_writer_open(writer, "enum", '[');
    for (int i = GROUP_ALWAYS + 1; i < GROUP_COUNT; i++)
        json_writer_text(writer, NULL, metric_group_names[i]);
    schema_close(writer, "]}}}");
    schema_required(writer, "if", "every");
    json_writer_open(writer, "then", '{');
    schema_only(writer, "every metrics");
    schema_close(writer, "}");
}

static void put_words(struct json_writer *writer, const struct measure_word *word)
{
    json_writer_open(writer, "enum", '[');
    for (; word->text; word++)
        json_writer_text(writer, NULL, word->text);
    schema_close(writer, "]");
}

/* An integer, or one of the words that stand for one. */
static void put_option(struct json_writer *writer, const struct measure_option_row *row)
{
    schema_types(writer, row->word->text ? "integer string" : "integer");
    schema_between(writer, row->least, row->most);
    if (!row->word->text)
        return;
    schema_open_proposals(writer);
    json_writer_open(writer, NULL, '{');
    put_words(writer, row->word);
    schema_close(writer, "}");
    schema_close_proposals(writer);
    schema_if_type(writer, "string");
    json_writer_open(writer, "then", '{');
    put_words(writer, row->word);
    schema_close(writer, "}");
}

static void put_options(struct json_writer *writer, enum key key)
{
    enum measure_option first = measure_option_first(key_table[key].name);
    const struct measure_option_row *row = &measure_option_table[first];

    if (!row->member) {
        schema_types(writer, "integer null");
        schema_between(writer, row->least, row->most);
        return;
    }
    open_members(writer);
    for (; row < &measure_option_table[measure_option_end(first)]; row++) {
        json_writer_open(writer, row->member, '{');
        put_option(writer, row);
        schema_close(writer, "}");
    }
    schema_close(writer, "}");
}

/* One text or number, or null. */
static void put_single(struct json_writer *writer, enum key key)
{
    if (key == KEY_CHECKPOINT_MINUTES) {
        schema_number(writer, "number null", true);
        return;
    }
    schema_types(writer, ONE_TEXT " null");
    if (key == KEY_NOTES)
        json_writer_whole(writer, "maxLength", NOTES_MOST);
    if (key == KEY_OUTPUT)
        put_path(writer);
}

void schema_key(struct json_writer *writer, enum key key)
{
    switch (key) {
    case KEY_INCLUDE:
        put_include(writer);
        break;
    case KEY_TITLE:
    case KEY_NOTES:
    case KEY_OUTPUT:
    case KEY_CHECKPOINT_MINUTES:
        put_single(writer, key);
        break;
    case KEY_TAGS:
        put_tags(writer);
        break;
    case KEY_TRAIN_TEXT:
    case KEY_VALID_TEXT:
        put_texts(writer);
        break;
    case KEY_TOGETHER:
        put_together(writer);
        break;
    case KEY_SKIP:
        put_skip(writer);
        break;
    case KEY_REFINE:
        put_refine(writer);
        break;
    case KEY_MEASURE:
        put_measure(writer);
        break;
    case KEY_VALIDATE:
    case KEY_GRADIENT_BATCHES:
    case KEY_HESSIAN:
    case KEY_LYAPUNOV_EXPONENTS:
    case KEY_LYAPUNOV_SWEEPS:
        put_options(writer, key);
        break;
    case KEY_COUNT:
        break;
    }
}
