#include "driver/commands/commands.h"

#include "driver/commands/help.h"
#include "driver/commands/help_dataset.h"
#include "driver/commands/help_markdown.h"
#include "driver/commands/help_names.h"
#include "driver/commands/help_text.h"
#include "driver/commands/schema.h"
#include "driver/tables/key.h"
#include "driver/text/nearest.h"

#include <math.h>
#include <string.h>

/*
 * The help command, printed from the program's tables: its topics, and the keys of a sweep file.
 * help_dataset.c has the names of a dataset, help_markdown.c the reference.
 */

const char *help_form(const struct param *param, char text[HELP_FORM])
{
    size_t used = 0;

    if (param->kind == PARAM_BOOLEAN) {
        snprintf(text, HELP_FORM, "true | false");
    } else if (param->kind == PARAM_WORD) {
        for (int i = 0; param->words[i] && used < HELP_FORM; i++)
            used += (size_t)snprintf(text + used, HELP_FORM - used, "%s%s", i ? " | " : "", param->words[i]);
    } else {
        used += (size_t)snprintf(text, HELP_FORM, param->kind == PARAM_REAL ? "number" : "integer");
        if (isfinite(param->min))
            used += (size_t)snprintf(
                text + used, HELP_FORM - used, " %s %.12g", param->min_open ? ">" : ">=", param->min);
        if (isfinite(param->max))
            snprintf(text + used, HELP_FORM - used, "%s %s %.12g", isfinite(param->min) ? "," : "",
                param->max_open ? "<" : "<=", param->max);
    }
    return text;
}

static void print_param(const struct param *param)
{
    char form[HELP_FORM], initial[64];

    printf("%s: %s; default %s%s%s%s\n", param->name, help_form(param, form),
        param_format(param, param->initial, initial, sizeof(initial)),
        strcmp(param->unit, "1") == 0 ? "" : "; in ", strcmp(param->unit, "1") == 0 ? "" : param->unit,
        param->axis ? "; may be an axis" : "");
    help_wrapped(param->help);
}

static void print_key(enum key key)
{
    const struct key_row *row = &key_table[key];

    printf("%s: %s%s%s\n", row->name, row->form, row->initial[0] ? "; default " : "", row->initial);
    help_wrapped(row->help);
}

void help_lists(void)
{
    puts("A parameter that may be an axis becomes one if its value is a list:\n"
         "    [a, b, ...]                     these values\n"
         "    {range: [a, b]}                 the integers from a to b, both included\n"
         "    {range: [a, b], points: n}      n values, evenly spaced\n"
         "    {log: [a, b], points: n}        n values, evenly spaced on a logarithmic scale\n"
         "    {..., plus: [c, ...]}           also these values\n"
         "Generated values are rounded to 12 significant digits; both ends are exact.");
}

static void print_params(void)
{
    for (size_t i = 0; i < param_count; i++)
        print_param(&param_table[i]);
    for (enum key key = 0; key < KEY_COUNT; key++)
        print_key(key);
    help_lists();
}

static void offer(void *context, const char *name, const char *help)
{
    (void)help;
    nearest_offer(context, name);
}

/* Refuses an unknown topic and suggests the nearest one. */
static int refuse_topic(const char *topic)
{
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;
    struct error error;

    nearest_init(&nearest, topic);
    nearest_offer(&nearest, "params");
    nearest_offer(&nearest, "metrics");
    for (size_t i = 0; i < param_count; i++)
        nearest_offer(&nearest, param_table[i].name);
    for (enum key key = 0; key < KEY_COUNT; key++)
        nearest_offer(&nearest, key_table[key].name);
    help_each_of_dataset(offer, &nearest);
    error_set(&error, ERROR_INPUT, "normsweep help: unknown name '%s'%s", place_excerpt(topic, excerpt),
        nearest.best ? nearest_hint(&nearest, hint)
                     : "; see normsweep help params and normsweep help metrics");
    return command_fail(&error);
}

static bool is_value(const struct param *param, const char *word)
{
    if (param->kind == PARAM_BOOLEAN)
        return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
    for (int i = 0; param->kind == PARAM_WORD && param->words[i]; i++)
        if (strcmp(param->words[i], word) == 0)
            return true;
    return false;
}

/* Explains the parameters of which the topic is a value. False: there is none. */
static bool print_value(const char *topic)
{
    bool found = false;

    for (size_t i = 0; i < param_count; i++) {
        if (!is_value(&param_table[i], topic))
            continue;
        printf("%s is a value of %s\n", topic, param_table[i].name);
        print_param(&param_table[i]);
        found = true;
    }
    return found;
}

/* Explains a parameter or another key of the sweep file. False: there is none of this name. */
static bool print_input(const char *topic)
{
    const struct param *param = param_find(topic);
    enum key key = key_find(topic);

    if (param)
        print_param(param);
    if (param && param->axis)
        help_lists();
    if (key < KEY_COUNT)
        print_key(key);
    return param || key < KEY_COUNT;
}

static int print_topic(const char *topic)
{
    if (strcmp(topic, "params") == 0) {
        print_params();
    } else if (strcmp(topic, "metrics") == 0) {
        help_metrics();
    } else if (command_find(topic)) {
        command_page(stdout, command_find(topic));
    } else {
        bool input = print_input(topic), dataset = help_dataset(topic); /* `heads` is in both */
        bool value = print_value(topic); /* `none` is of two keys, `phase` a variable, too */
        if (!input && !dataset && !value)
            return refuse_topic(topic);
    }
    return 0;
}

int command_help(int argc, char **argv)
{
    struct arguments arguments;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    if (arguments_has(&arguments, OPTION_MARKDOWN))
        status = help_markdown(arguments.operand[0]);
    else if (arguments_has(&arguments, OPTION_SCHEMA))
        status = schema_print();
    else if (arguments.names)
        status = help_names(arguments.names);
    else if (arguments.operand_count > 0)
        status = print_topic(arguments.operand[0]);
    else {
        command_overview(stdout);
        status = 0;
    }
    arguments_release(&arguments);
    return command_flush(status);
}
