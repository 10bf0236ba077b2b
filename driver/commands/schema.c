/*
 * The schema of sweep files. Parameters, words, bounds, defaults and descriptions come from the tables.
 *
 * Editors use it while a file is written, so no key is required. null takes an included key out; a file that
 * includes nothing must not have it.
 */
#include "driver/commands/schema.h"

#include "driver/commands/commands.h"
#include "driver/commands/schema_forms.h"
#include "driver/commands/schema_keys.h"
#include "driver/sweep/measuring.h"
#include "driver/sweep/together.h"
#include "driver/tables/dataset_tables.h"
#include "driver/tables/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the whole ---- */

static void put_key(struct json_writer *writer, enum key key)
{
    const struct key_row *row = &key_table[key];
    char description[1024];

    snprintf(description, sizeof(description), "%s%s%s", row->help, row->initial[0] ? "; default: " : "",
        row->initial);
    json_writer_open(writer, row->name, '{');
    json_writer_text(writer, "description", description);
    schema_key(writer, key);
    schema_close(writer, "}");
}

/* No editor proposes null, which few need. */
static void put_param(struct json_writer *writer, const struct param *param)
{
    char definition[96];

    snprintf(definition, sizeof(definition), "%s%s", param->name, param->axis ? DEFINED_LISTS : "");
    json_writer_open(writer, param->name, '{');
    json_writer_text(writer, "title", param->long_name);
    json_writer_text(writer, "description", param->help);
    schema_initial(writer, "default", param);
    schema_propose(writer, param);
    schema_if_type(writer, "null");
    schema_reference(writer, "else", definition);
    schema_close(writer, "}");
}

static void define_param(struct json_writer *writer, const struct param *param)
{
    char definition[96];

    snprintf(definition, sizeof(definition), "%s" DEFINED_LISTS, param->name);
    schema_single(writer, param->name, param);
    schema_values(writer, definition, param);
}

/* What the keys of one label set: parameters that may be axes, each with one value. */
static void define_label(struct json_writer *writer)
{
    schema_open_object(writer, DEFINED_LABEL);
    for (size_t i = 0; i < param_count; i++)
        if (param_table[i].axis)
            schema_described(writer, &param_table[i], "");
    schema_close(writer, "}");
    json_writer_whole(writer, "minProperties", 1);
    schema_close(writer, "}");
}

static void put_reserved(void *context, const char *name)
{
    if (!param_find(name) && key_find(name) == KEY_COUNT)
        json_writer_text(context, NULL, name);
}

/* A name that no other key, and nothing in the dataset, has. */
static void define_other(struct json_writer *writer)
{
    json_writer_open(writer, DEFINED_OTHER, '{');
    json_writer_text(writer, "pattern", TOGETHER_NAME_PATTERN);
    json_writer_open(writer, "not", '{');
    json_writer_open(writer, "enum", '[');
    for (enum key key = 0; key < KEY_COUNT; key++)
        json_writer_text(writer, NULL, key_table[key].name);
    dataset_each_name(put_reserved, writer);
    schema_close(writer, "]}}");
}

/* Neither has a parameter the name of a together axis. */
static void define_name(struct json_writer *writer)
{
    json_writer_open(writer, DEFINED_NAME, '{');
    json_writer_open(writer, "allOf", '[');
    schema_reference(writer, NULL, DEFINED_OTHER);
    schema_close(writer, "]");
    json_writer_open(writer, "not", '{');
    json_writer_open(writer, "enum", '[');
    for (size_t i = 0; i < param_count; i++)
        json_writer_text(writer, NULL, param_table[i].name);
    schema_close(writer, "]}}");
}

static void put_definitions(struct json_writer *writer)
{
    json_writer_open(writer, "definitions", '{');
    for (size_t i = 0; i < param_count; i++)
        define_param(writer, &param_table[i]);
    schema_define_texts(writer);
    schema_single(writer, DEFINED_STEP, &measure_step_param);
    define_other(writer);
    define_name(writer);
    define_label(writer);
    schema_close(writer, "}");
}

/* Without `include`, no key is null. Said by `not`, as editors would propose other types everywhere. */
static void put_condition(struct json_writer *writer)
{
    schema_required(writer, "if", key_table[KEY_INCLUDE].name);
    json_writer_open(writer, "else", '{');
    json_writer_open(writer, "additionalProperties", '{');
    json_writer_open(writer, "not", '{');
    schema_types(writer, "null");
    schema_close(writer, "}}}");
}

static void put_schema(struct json_writer *writer)
{
    json_writer_open(writer, NULL, '{');
    json_writer_text(writer, "$schema", "http://json-schema.org/draft-07/schema#");
    json_writer_text(writer, "title", "sweep file of " PROGRAM);
    json_writer_text(writer, "description",
        "What `" PROGRAM " run` reads. `" PROGRAM
        " check` knows more: what goes with what, and with the texts.");
    schema_types(writer, "object");
    json_writer_truth(writer, "additionalProperties", false);
    json_writer_open(writer, "properties", '{');
    for (enum key key = 0; key < KEY_COUNT; key++)
        put_key(writer, key);
    for (size_t i = 0; i < param_count; i++)
        put_param(writer, &param_table[i]);
    schema_close(writer, "}");
    put_condition(writer);
    put_definitions(writer);
    schema_close(writer, "}");
}

/* ---- lines ---- */

static void break_line(int depth)
{
    printf("\n%*s", 2 * depth, "");
}

/* Prints JSON with a line for each member of an object, as far as its objects hold others. */
static void print_lines(const char *json)
{
    bool text = false;
    int depth = 0, most = 3; /* deeper objects stay on one line */

    for (const char *at = json; *at; at++) {
        if (text && *at == '\\') {
            putchar(*at++);
        } else if (*at == '"') {
            text = !text;
        } else if (!text && strchr("}]", *at)) {
            depth--;
            if (*at == '}' && depth < most)
                break_line(depth);
        }
        putchar(*at);
        if (text || *at == '"')
            continue;
        if (strchr("{[", *at))
            depth++;
        if ((*at == '{' && depth <= most) || (*at == ',' && depth <= most)) {
            break_line(depth);
            at += *at == ',' && at[1] == ' ';
        }
    }
    putchar('\n');
}

int schema_print(void)
{
    struct json_writer writer = {0};
    char *json = NULL;
    struct error error;
    size_t size;

    writer.out = open_memstream(&json, &size);
    if (writer.out)
        put_schema(&writer);
    bool written = writer.out && !ferror(writer.out);
    if (writer.out && fclose(writer.out) == 0 && written) {
        print_lines(json);
        free(json);
        return 0;
    }
    free(json);
    error_set(&error, ERROR_ENVIRONMENT, PROGRAM " help: no memory");
    return command_fail(&error);
}
