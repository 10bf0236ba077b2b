/*
 * Lists of names for the completions in docs/completion. They come from the program's tables, so that a new
 * command, option or key needs no change here, unless an option takes a value of a new kind.
 */
#include "driver/commands/help_names.h"

#include "driver/commands/commands.h"
#include "driver/commands/help_dataset.h"
#include "driver/tables/dataset_tables.h"
#include "driver/tables/key.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void each_command(help_take *take, void *context)
{
    for (const struct command *command = command_table; command->name; command++)
        take(context, command->name, command->help);
}

static void each_key(help_take *take, void *context)
{
    for (size_t i = 0; i < param_count; i++)
        take(context, param_table[i].name, param_table[i].help);
    for (enum key key = 0; key < KEY_COUNT; key++)
        take(context, key_table[key].name, key_table[key].help);
}

/* The variables that `show` draws: numbers over the grid. */
static void each_variable(help_take *take, void *context)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        take(context, metric_table[metric].name, metric_table[metric].long_name);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        if (run_variable_table[variable].type != STORED_TEXT)
            take(context, run_variable_table[variable].name, run_variable_table[variable].long_name);
    for (enum boundary_variable variable = 0; variable < BOUNDARY_VARIABLE_COUNT; variable++)
        take(context, boundary_variable_table[variable].name, boundary_variable_table[variable].long_name);
}

/* Parameters that may be axes, and dimensions of metrics. */
static void each_axis(help_take *take, void *context)
{
    for (size_t i = 0; i < param_count; i++)
        if (param_table[i].axis)
            take(context, param_table[i].name, param_table[i].help);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        take(context, metric_dimension_table[dimension].name, metric_dimension_table[dimension].long_name);
}

/* The lists of names for the placeholders in usage lines. */
static const struct {
    const char *placeholder;
    void (*each)(help_take *take, void *context);
} lists[] = {
    {"COMMAND", each_command},
    {"KEY", each_key},
    {"VARIABLE", each_variable},
    {"AXIS", each_axis},
    {"NAME", help_each_of_dataset},
};

static void print_name(void *context, const char *name, const char *help)
{
    (void)context;
    printf("%s\t%s\n", name, help);
}

/* "-o<tab>the dataset<tab>OUT.nc", "1<tab>operand<tab>SWEEP.yaml" */
static void print_command(const struct command *command)
{
    const char *operand = command->operands;

    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        const char *value = row->value ? row->value : "";
        if (!command_takes(command, option))
            continue;
        if (row->letter)
            printf("-%c\t%s\t%s\n", row->letter, row->help, value);
        printf("--%s\t%s\t%s\n", row->word, row->help, value);
    }
    for (int place = 1; *operand; place++) {
        operand += strspn(operand, " [");
        int length = (int)strcspn(operand, " ]");
        printf("%d\toperand\t%.*s\n", place, length, operand);
        operand += length + (int)strspn(operand + length, "]");
    }
}

/* Prints the values of a parameter, or of the dimension of tensors. False: they are not words. */
static bool print_values(const char *name)
{
    const struct param *param = param_find(name);

    if (strcmp(name, metric_dimension_table[DIMENSION_TENSOR].name) == 0) {
        for (int i = 0; i < LAYER_TENSOR_COUNT; i++)
            print_name(NULL, tensor_table[LAYER_TENSOR_FIRST + i].name, "");
        return true;
    }
    if (param && param->kind == PARAM_BOOLEAN)
        printf("true\t\nfalse\t\n");
    for (int i = 0; param && param->kind == PARAM_WORD && param->words[i]; i++)
        print_name(NULL, param->words[i], "");
    return param && (param->kind == PARAM_BOOLEAN || param->kind == PARAM_WORD);
}

/* One of the alternatives between bars: a placeholder, or a literal word. */
static void print_placeholder(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        if (strlen(lists[i].placeholder) == length && strncmp(lists[i].placeholder, text, length) == 0)
            lists[i].each(print_name, NULL);
    if (islower((unsigned char)text[0]))
        printf("%.*s\t\n", (int)length, text);
}

int help_names(const char *kind)
{
    const struct command *command = command_find(kind);

    if (command) {
        print_command(command);
        return 0;
    }
    if (print_values(kind) || param_find(kind))
        return 0;
    while (*kind) {
        size_t length = strcspn(kind, "|");
        print_placeholder(kind, length);
        kind += length + (kind[length] == '|');
    }
    return 0;
}
