/* What the keys take that are not parameters, one function for each form. */
#include "driver/commands/schema_keys.h"

#include "driver/commands/schema_forms.h"
#include "driver/sweep/measuring.h"
#include "driver/sweep/notes.h"
#include "driver/sweep/refine.h"
#include "driver/sweep/together.h"

/* {"type": "array", "items": <definition>}, open for more. */
static void open_list(
    struct json_writer *writer, const char *name, const char *definition, int64_t least, int64_t most)
{
    json_writer_open(writer, name, '{');
    schema_type(writer, "array");
    schema_reference(writer, "items", definition);
    if (least > 0)
        json_writer_whole(writer, "minItems", least);
    if (most > 0)
        json_writer_whole(writer, "maxItems", most);
}

/* One of a definition, or a list of them. */
static void put_one_or_list(struct json_writer *writer, const char *definition, int64_t least, int64_t most)
{
    schema_reference(writer, NULL, definition);
    open_list(writer, NULL, definition, least, most);
    schema_close(writer, "}");
}

static void put_tags(struct json_writer *writer)
{
    schema_reference(writer, NULL, DEFINED_TAG);
    open_list(writer, NULL, DEFINED_TAG, 0, TAGS_MOST);
    json_writer_truth(writer, "uniqueItems", true);
    schema_close(writer, "}");
}

static void put_together(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    schema_type(writer, "object");
    json_writer_whole(writer, "minProperties", 1);
    schema_reference(writer, "propertyNames", DEFINED_NAME);
    json_writer_open(writer, "additionalProperties", '{');
    schema_type(writer, "object");
    json_writer_whole(writer, "minProperties", 1);
    json_writer_open(writer, "propertyNames", '{');
    json_writer_whole(writer, "minLength", 1);
    json_writer_whole(writer, "maxLength", TOGETHER_LABEL_LONGEST);
    schema_close(writer, "}");
    schema_reference(writer, "additionalProperties", DEFINED_LABEL);
    schema_close(writer, "}}");
}

/* A parameter, with one value or several; or a together axis, with one label or several. */
static void put_skip(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    schema_type(writer, "array");
    json_writer_open(writer, "items", '{');
    schema_type(writer, "object");
    json_writer_whole(writer, "minProperties", 1);
    schema_reference(writer, "propertyNames", DEFINED_OTHER);
    json_writer_open(writer, "properties", '{');
    for (size_t i = 0; i < param_count; i++)
        schema_described(writer, &param_table[i], DEFINED_LISTS);
    schema_close(writer, "}");
    json_writer_open(writer, "additionalProperties", '{');
    json_writer_open(writer, "anyOf", '[');
    put_one_or_list(writer, DEFINED_TEXT, 1, 0);
    schema_close(writer, "]}}}");
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
    schema_type(writer, "array");
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
    schema_number(writer, "at", false);
    json_writer_open(writer, "coarse", '{');
    json_writer_open(writer, "enum", '[');
    for (int coarse = 1; coarse <= REFINE_COARSE_MOST; coarse *= 2)
        json_writer_whole(writer, NULL, coarse);
    schema_close(writer, "]}");
}

/* Either axis or axes; coarse goes with axes; only norm_growth has a value that it crosses by itself. */
static void put_refine(struct json_writer *writer)
{
    schema_open_object(writer, NULL);
    put_refine_members(writer);
    schema_close(writer, "}");
    json_writer_open(writer, "oneOf", '[');
    schema_required(writer, NULL, "axis");
    schema_required(writer, NULL, "axes");
    schema_close(writer, "]");
    json_writer_open(writer, "dependencies", '{');
    schema_needed(writer, "coarse", "axes");
    schema_close(writer, "}");
    json_writer_open(writer, "if", '{');
    json_writer_open(writer, "properties", '{');
    json_writer_open(writer, "variable", '{');
    json_writer_text(writer, "const", metric_table[METRIC_norm_growth].name);
    schema_close(writer, "}}}");
    schema_required(writer, "else", "at");
    schema_close(writer, "}");
}

static void put_measure(struct json_writer *writer)
{
    schema_open_object(writer, NULL);
    schema_integer(writer, "every", 1, MEASURE_NUMBER_MOST);
    json_writer_open(writer, "steps", '{');
    json_writer_open(writer, "anyOf", '[');
    schema_lists(writer, &measure_step_param, DEFINED_STEP);
    schema_close(writer, "]}");
    json_writer_open(writer, "metrics", '{');
    schema_type(writer, "array");
    json_writer_truth(writer, "uniqueItems", true);
    json_writer_open(writer, "items", '{');
    json_writer_open(writer, "enum", '[');
    for (int i = GROUP_ALWAYS + 1; i < GROUP_COUNT; i++)
        json_writer_text(writer, NULL, metric_group_names[i]);
    schema_close(writer, "]}}}");
    json_writer_open(writer, "not", '{'); /* both */
    json_writer_open(writer, "required", '[');
    json_writer_text(writer, NULL, "every");
    json_writer_text(writer, NULL, "steps");
    schema_close(writer, "]}}");
}

/* An integer, or one of the words that stand for one. */
static void put_option(struct json_writer *writer, const char *name, enum measure_option option)
{
    const struct measure_option_row *row = &measure_option_table[option];

    if (!row->word->text) {
        schema_integer(writer, name, row->least, row->most);
        return;
    }
    json_writer_open(writer, name, '{');
    json_writer_open(writer, "anyOf", '[');
    schema_integer(writer, NULL, row->least, row->most);
    json_writer_open(writer, NULL, '{');
    json_writer_open(writer, "enum", '[');
    for (const struct measure_word *word = row->word; word->text; word++)
        json_writer_text(writer, NULL, word->text);
    schema_close(writer, "]}]}");
}

static void put_options(struct json_writer *writer, enum key key)
{
    enum measure_option first = measure_option_first(key_table[key].name);

    if (!measure_option_table[first].member) {
        put_option(writer, NULL, first);
        return;
    }
    schema_open_object(writer, NULL);
    for (enum measure_option i = first; i < measure_option_end(first); i++)
        put_option(writer, measure_option_table[i].member, i);
    schema_close(writer, "}}");
}

void schema_key(struct json_writer *writer, enum key key)
{
    switch (key) {
    case KEY_INCLUDE:
        put_one_or_list(writer, DEFINED_PATH, 1, 0);
        break;
    case KEY_TITLE:
        schema_reference(writer, NULL, DEFINED_TEXT);
        break;
    case KEY_NOTES:
        schema_text(writer, NULL, 0, NOTES_MOST);
        break;
    case KEY_TAGS:
        put_tags(writer);
        break;
    case KEY_OUTPUT:
        schema_reference(writer, NULL, DEFINED_PATH);
        break;
    case KEY_TRAIN_TEXT:
    case KEY_VALID_TEXT:
        put_one_or_list(writer, DEFINED_PATH, 2, 2);
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
    case KEY_CHECKPOINT_MINUTES:
        schema_number(writer, NULL, true);
        break;
    case KEY_COUNT:
        break;
    }
}
