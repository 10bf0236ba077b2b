/*
 * All tables of the program as one JSON object: `help --json`. docs/scripts.md names its fields, which stay.
 *
 * .ci/tables makes docs/reference.md, docs/sweep.schema.json, the options of the man page and the completions
 * from it. A number without a bound has no such field.
 */
#include "driver/commands/inside.h"

#include <math.h>
#include <string.h>

/* Opens the object of a row and writes its texts, pairs of a name and a value; NULL ends them. */
#define OPEN_ROW(writer, ...) open_row(writer, (const char *const[]){__VA_ARGS__, NULL})

static void open_row(struct json_writer *writer, const char *const *pairs)
{
    json_writer_open(writer, NULL, '{');
    for (; *pairs; pairs += 2)
        json_writer_text(writer, pairs[0], pairs[1]);
}

/* A row of texts alone. */
#define PUT_ROW(writer, ...) (OPEN_ROW(writer, __VA_ARGS__), json_writer_close(writer, '}'))

static void put_words(struct json_writer *writer, const char *name, const char *const *words, int count)
{
    json_writer_open(writer, name, '[');
    for (int i = 0; i < count; i++)
        json_writer_text(writer, NULL, words[i]);
    json_writer_close(writer, ']');
}

/* Texts that help.c prints, too. */
const char help_lists[] =
    "A parameter that may be an axis becomes one if its value is a list:\n"
    "    [a, b, ...]                     these values\n"
    "    {range: [a, b]}                 the integers from a to b, both included\n"
    "    {range: [a, b], points: n}      n values, evenly spaced\n"
    "    {log: [a, b], points: n}        n values, evenly spaced on a logarithmic scale\n"
    "    {..., plus: [c, ...]}           also these values\n"
    "Generated values are rounded to 12 significant digits; both ends are exact.";

const char *help_measured(enum metric_group group)
{
    if (group == GROUP_ALWAYS)
        return "in every sweep";
    return metric_group_initial[group] ? "unless measure names only other groups" : "if measure names it";
}

/* ---- the command line ---- */

static void put_commands(struct json_writer *writer)
{
    json_writer_open(writer, "commands", '[');
    for (const struct command *command = command_table; command->name; command++) {
        OPEN_ROW(writer, "name", command->name, "operands", command->operands, "help", command->help);
        if (command->operand_help)
            json_writer_text(writer, "operand_help", command->operand_help);
        json_writer_open(writer, "options", '[');
        for (enum option option = 0; option < OPTION_COUNT; option++) {
            const struct option_row *row = &option_table[option];
            if (!command_takes(command, option))
                continue;
            OPEN_ROW(writer, "word", row->word, "help", row->help);
            if (row->letter)
                json_writer_text(writer, "letter", (char[]){row->letter, '\0'});
            if (row->value)
                json_writer_text(writer, "value", row->value);
            json_writer_truth(writer, "repeats", row->kind == STORE_TEXTS);
            json_writer_close(writer, '}');
        }
        json_writer_close(writer, ']');
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
    json_writer_open(writer, "exit_statuses", '[');
    for (int i = 0; i < EXIT_STATUS_COUNT; i++) {
        const struct exit_status_row *row = &exit_status_table[i];
        OPEN_ROW(writer, "brief", row->brief, "meaning", row->meaning);
        json_writer_whole(writer, "status", row->status);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
}

/* ---- the sweep file ---- */

/* A number that is whole has no point. */
static void put_number(struct json_writer *writer, const char *name, double value)
{
    if (fabs(value) <= 0x1p53 && value == floor(value))
        json_writer_whole(writer, name, (int64_t)value);
    else
        json_writer_real(writer, name, value);
}

static void put_param(struct json_writer *writer, const struct param *param)
{
    static const char *const kinds[] = {[PARAM_INTEGER] = "integer",
        [PARAM_REAL] = "number",
        [PARAM_BOOLEAN] = "boolean",
        [PARAM_WORD] = "word",
        [PARAM_WORDS] = "words",
        [PARAM_WEIGHTS] = "path"};
    char text[PARAM_TEXT];
    int words = 0;

    OPEN_ROW(writer, "name", param->name, "kind", kinds[param->kind], "unit", param->unit, "long_name",
        param->long_name, "help", param->help);
    json_writer_truth(writer, "axis", param->axis);
    if (isfinite(param->min))
        put_number(writer, param->min_open ? "above" : "minimum", param->min);
    if (isfinite(param->max))
        put_number(writer, param->max_open ? "below" : "maximum", param->max);
    if (param->words) {
        while (param->words[words])
            words++;
        put_words(writer, "words", param->words, words);
        json_writer_text(writer, "default", param_format(param, param->initial, text, sizeof(text)));
    } else if (param->kind == PARAM_BOOLEAN) {
        json_writer_truth(writer, "default", param->initial.integer);
    } else if (param->kind == PARAM_REAL) {
        put_number(writer, "default", param->initial.real);
    } else {
        json_writer_whole(writer, "default", param->initial.integer);
    }
    json_writer_close(writer, '}');
}

static void put_sweep(struct json_writer *writer)
{
    json_writer_open(writer, "parameters", '[');
    for (size_t i = 0; i < param_count; i++)
        put_param(writer, &param_table[i]);
    json_writer_close(writer, ']');
    json_writer_text(writer, "lists", help_lists);
    json_writer_open(writer, "keys", '[');
    for (enum key key = 0; key < KEY_COUNT; key++) {
        const struct key_row *row = &key_table[key];
        PUT_ROW(writer, "name", row->name, "form", row->form, "default", row->initial, "help", row->help);
    }
    json_writer_close(writer, ']');
    json_writer_open(writer, "measure_options", '[');
    for (int i = 0; i < MEASURE_OPTION_COUNT; i++) {
        const struct measure_option_row *row = &measure_option_table[i];
        const char *words[MEASURE_WORDS_MOST]; /* for a number that the key takes, itself or as a member */
        int count = 0;
        OPEN_ROW(writer, "key", row->key);
        if (row->member)
            json_writer_text(writer, "member", row->member);
        json_writer_whole(writer, "minimum", row->least);
        json_writer_whole(writer, "maximum", row->most);
        for (; row->word[count].text; count++)
            words[count] = row->word[count].text;
        put_words(writer, "words", words, count);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
    json_writer_open(writer, "limits", '{');
    json_writer_whole(writer, "measured_step", MEASURE_NUMBER_MOST);
    json_writer_whole(writer, "values_of_list", GRID_MOST);
    json_writer_whole(writer, "label_bytes", TOGETHER_LABEL_LONGEST);
    json_writer_text(writer, "name_pattern", TOGETHER_NAME_PATTERN);
    json_writer_whole(writer, "notes_bytes", NOTES_LONGEST);
    json_writer_whole(writer, "refine_axes", REFINE_AXES);
    json_writer_whole(writer, "refine_coarse", REFINE_COARSE_MOST);
    json_writer_whole(writer, "refine_at_once", REFINE_AT_ONCE_MOST);
    json_writer_close(writer, '}');
}

/* ---- the dataset ---- */

static const char *const storage_names[] = {
    [STORED_BYTE] = "byte", [STORED_INTEGER] = "integer", [STORED_REAL] = "real", [STORED_TEXT] = "text"};

static void put_dimensions(struct json_writer *writer)
{
    const char *words[LAYER_TENSOR_COUNT];

    for (int i = 0; i < LAYER_TENSOR_COUNT; i++)
        words[i] = tensor_table[LAYER_TENSOR_FIRST + i].name;
    json_writer_open(writer, "dimensions", '[');
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        const struct metric_dimension_row *row = &metric_dimension_table[i];
        OPEN_ROW(writer, "name", row->name, "long_name", row->long_name, "comment", row->comment);
        if (i == DIMENSION_TENSOR)
            put_words(writer, "words", words, LAYER_TENSOR_COUNT);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
}

static void put_metrics(struct json_writer *writer)
{
    const char *dimensions[METRIC_RANK_MOST];

    json_writer_open(writer, "groups", '[');
    for (enum metric_group i = 0; i < GROUP_COUNT; i++)
        PUT_ROW(writer, "name", metric_group_names[i], "measured", help_measured(i));
    json_writer_close(writer, ']');
    json_writer_open(writer, "natures", '[');
    for (enum nature i = 0; i < NATURE_COUNT; i++)
        PUT_ROW(writer, "name", nature_table[i].word, "meaning", nature_table[i].meaning);
    json_writer_close(writer, ']');
    json_writer_open(writer, "metrics", '[');
    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = &metric_table[i];
        const struct metric_shape_row *shape = &metric_shape_table[row->shape];
        OPEN_ROW(writer, "name", row->name, "long_name", row->long_name, "unit", row->unit, "group",
            metric_group_names[row->group], "nature", nature_table[row->nature].word, "help", row->help);
        for (int k = 0; k < shape->rank; k++)
            dimensions[k] = metric_dimension_table[shape->dimension[k]].name;
        put_words(writer, "dimensions", dimensions, shape->rank);
        json_writer_truth(writer, "needs_stacks", row->shape == METRIC_PER_STACK_OF_TWO);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
}

static void put_variables(struct json_writer *writer)
{
    int count;

    json_writer_open(writer, "run_variables", '[');
    for (enum run_variable i = 0; i < RUN_VARIABLE_COUNT; i++) {
        const struct run_variable_row *row = &run_variable_table[i];
        const char *const *words = run_variable_flags(i, &count);
        OPEN_ROW(writer, "name", row->name, "type", storage_names[row->type], "unit", row->unit, "long_name",
            row->long_name, "comment", row->comment);
        put_words(writer, "words", words, count);
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, ']');
    json_writer_open(writer, "session_variables", '[');
    for (enum session_variable i = 0; i < SESSION_VARIABLE_COUNT; i++) {
        const struct session_variable_row *row = &session_variable_table[i];
        PUT_ROW(writer, "name", row->name, "type", storage_names[row->type], "unit", row->unit, "long_name",
            row->long_name);
    }
    json_writer_close(writer, ']');
    json_writer_open(writer, "attributes", '[');
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        PUT_ROW(writer, "name", attribute_table[i].name, "meaning", attribute_table[i].meaning);
    json_writer_close(writer, ']');
}

void help_json(void)
{
    struct json_writer writer = {.out = stdout};

    json_writer_open(&writer, NULL, '{');
    put_commands(&writer);
    put_sweep(&writer);
    put_dimensions(&writer);
    put_metrics(&writer);
    put_variables(&writer);
    json_writer_close(&writer, '}');
    putchar('\n');
}
