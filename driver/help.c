#include "driver/commands.h"

#include "driver/help.h"
#include "driver/key.h"
#include "driver/nearest.h"

#include <math.h>
#include <string.h>

/*
 * What the program says of itself, printed from its tables alone: here the keys of a sweep file and the
 * parameters, each as a list for the terminal, as one page, and as the table that the README holds.
 */

enum { FORM_SIZE = 256 };

/* "integer >= 1", "number > 0", "pre | post | out" */
static void format_form(const struct param *param, char form[FORM_SIZE])
{
    size_t used = 0;

    if (param->kind == PARAM_BOOLEAN) {
        snprintf(form, FORM_SIZE, "true | false");
    } else if (param->kind == PARAM_WORD) {
        for (int i = 0; param->words[i] && used < FORM_SIZE; i++)
            used += (size_t)snprintf(form + used, FORM_SIZE - used, "%s%s", i ? " | " : "", param->words[i]);
    } else {
        used += (size_t)snprintf(form, FORM_SIZE, param->kind == PARAM_REAL ? "number" : "integer");
        if (isfinite(param->min))
            used += (size_t)snprintf(
                form + used, FORM_SIZE - used, " %s %.12g", param->min_open ? ">" : ">=", param->min);
        if (isfinite(param->max))
            snprintf(form + used, FORM_SIZE - used, "%s %s %.12g", isfinite(param->min) ? "," : "",
                param->max_open ? "<" : "<=", param->max);
    }
}

static void markdown_params(void)
{
    char form[FORM_SIZE], initial[64], name[80];

    puts("| key | value | default | axis | meaning |\n|---|---|---|---|---|");
    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        format_form(param, form);
        snprintf(name, sizeof(name), "`%s`", param->name);
        help_row((const char *[]){name, form, param_format(param, param->initial, initial, sizeof(initial)),
                     param->axis ? "yes" : "no", param->help},
            5);
    }
}

static void markdown_keys(void)
{
    char name[80];

    puts("| key | value | default | meaning |\n|---|---|---|---|");
    for (enum key key = 0; key < KEY_COUNT; key++) {
        const struct key_row *row = &key_table[key];
        snprintf(name, sizeof(name), "`%s`", row->name);
        help_row((const char *[]){name, row->form, row->initial, row->help}, 4);
    }
}

static void print_param(const struct param *param)
{
    char form[FORM_SIZE], initial[64];

    format_form(param, form);
    printf("%s: %s; default %s%s%s%s\n", param->name, form,
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

static void print_lists(void)
{
    puts("A parameter that may be an axis becomes one with\n"
         "    [a, b, ...]                     these values\n"
         "    {range: [a, b]}                 the integers from a to b, both included\n"
         "    {range: [a, b], points: n}      n values, evenly spaced\n"
         "    {log: [a, b], points: n}        n values, evenly spaced in the logarithm\n"
         "    {..., plus: [c, ...]}           and these\n"
         "Made values are rounded to 12 significant digits, their ends are exact.");
}

static void print_params(void)
{
    for (size_t i = 0; i < param_count; i++)
        print_param(&param_table[i]);
    for (enum key key = 0; key < KEY_COUNT; key++)
        print_key(key);
    print_lists();
}

/* A topic that is none, with the one that it may have been. */
static int unknown(const char *topic)
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
    help_offer_dataset(&nearest);
    error_set(&error, ERROR_INPUT, "normsweep help: nothing is called '%s'%s", place_excerpt(topic, excerpt),
        nearest_hint(&nearest, hint));
    place_clean(&error);
    return command_fail(&error);
}

/* A parameter or a key of a sweep file. False: none has that name. */
static bool print_input(const char *topic)
{
    const struct param *param = param_find(topic);
    enum key key = key_find(topic);

    if (param)
        print_param(param);
    if (param && param->axis)
        print_lists();
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
        bool input = print_input(topic), dataset = help_dataset(topic); /* heads is in both */
        if (!input && !dataset)
            return unknown(topic);
    }
    return 0;
}

/* The tables that the README holds. */
static int print_markdown(const char *topic)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } tables[] = {{"params", markdown_params}, {"keys", markdown_keys}, {"metrics", help_metrics_markdown}};
    struct error error;

    for (size_t i = 0; topic && i < sizeof(tables) / sizeof(*tables); i++) {
        if (strcmp(topic, tables[i].name) == 0) {
            tables[i].print();
            return 0;
        }
    }
    error_set(&error, ERROR_INPUT, "normsweep help: --markdown takes params, keys or metrics");
    return command_fail(&error);
}

int command_help(int argc, char **argv)
{
    struct arguments arguments;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    if (arguments_has(&arguments, OPTION_MARKDOWN))
        status = print_markdown(arguments.operand[0]);
    else if (arguments.operand_count > 0)
        status = print_topic(arguments.operand[0]);
    else {
        command_overview(stdout);
        status = 0;
    }
    arguments_release(&arguments);
    return command_flush(status);
}
