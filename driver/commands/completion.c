/*
 * What may be typed where. A placeholder of the usage lines says what stands in its place: NAME.ending a
 * file, the placeholder of a list one of its names, a word in small letters itself. So a new command or
 * option is completed without a word here, unless its value is of a new kind.
 */
#include "driver/commands/completion.h"

#include "driver/commands/commands.h"
#include "driver/commands/completion_bash.h"
#include "driver/commands/completion_zsh.h"
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

/* What `show` draws: numbers over the grid. */
static void each_variable(help_take *take, void *context)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        take(context, metric_table[metric].name, metric_table[metric].long_name);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        if (run_variable_table[variable].type != STORED_TEXT)
            take(context, run_variable_table[variable].name, run_variable_table[variable].long_name);
}

/* Axes of the grid, as far as they are parameters, and dimensions of metrics. */
static void each_axis(help_take *take, void *context)
{
    for (size_t i = 0; i < param_count; i++)
        if (param_table[i].axis)
            take(context, param_table[i].name, param_table[i].help);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        take(context, metric_dimension_table[dimension].name, metric_dimension_table[dimension].long_name);
}

const struct completion_list completion_lists[COMPLETION_LISTS] = {
    {"COMMAND", "commands", each_command},
    {"KEY", "keys", each_key},
    {"VARIABLE", "variables", each_variable},
    {"AXIS", "axes", each_axis},
    {"NAME", "names", help_each_of_dataset},
};

/* "post pre out" */
static void join(const char *const *words, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
}

void completion_values(help_take *take, void *context)
{
    const char *tensors[LAYER_TENSOR_COUNT + 1] = {NULL};
    char words[512];

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        if (param->kind == PARAM_WORD)
            join(param->words, words, sizeof(words));
        if (param->kind == PARAM_WORD || param->kind == PARAM_BOOLEAN)
            take(context, param->name, param->kind == PARAM_WORD ? words : "true false");
    }
    for (int i = 0; i < LAYER_TENSOR_COUNT; i++)
        tensors[i] = tensor_name(LAYER_TENSOR_FIRST + i);
    join(tensors, words, sizeof(words));
    take(context, metric_dimension_table[DIMENSION_TENSOR].name, words);
}

/* Placeholders that are neither a list's nor a file's name. Those that are not here take what nobody knows:
 * N. */
static const struct {
    const char *placeholder;
    enum completion_kind kind;
    const char *detail;
} values[] = {
    {"IDS", COMPLETION_FILE, ""},
    {"KEY=VALUE", COMPLETION_PAIRS, "set"},
    {"NAME=VALUE", COMPLETION_PAIRS, "at"},
    {"X[,Y]", COMPLETION_PAIRS, "over"},
};

static bool is_same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static struct completion find(const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        if (is_same(values[i].placeholder, text, length))
            return (struct completion){values[i].kind, values[i].detail, (int)strlen(values[i].detail)};
    for (int i = 0; i < COMPLETION_LISTS; i++) {
        const char *name = completion_lists[i].name;
        if (is_same(completion_lists[i].placeholder, text, length))
            return (struct completion){COMPLETION_LIST, name, (int)strlen(name)};
    }
    if (dot)
        return (struct completion){COMPLETION_FILE, dot + 1, (int)(text + length - dot - 1)};
    return (struct completion){
        islower((unsigned char)text[0]) ? COMPLETION_WORD : COMPLETION_NOTHING, text, (int)length};
}

bool completion_next(const char **placeholders, struct completion *completion)
{
    const char *text = *placeholders;
    size_t length = strcspn(text, "| ");

    if (length == 0)
        return false;
    *placeholders = text + length + (text[length] == '|');
    if (text[0] == '[') {
        text++;
        length--;
    }
    if (text[length - 1] == ']' && !memchr(text, '[', length))
        length--;
    *completion = find(text, length);
    return true;
}

const char *completion_operand(const char **operands, int *length)
{
    const char *text = *operands + strspn(*operands, " ");

    *length = (int)strcspn(text, " ");
    *operands = text + *length;
    return *length > 0 ? text : NULL;
}

void completion_quote(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            putchar(*text);
    }
    putchar('\'');
}

int command_completion(int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}};
    struct arguments arguments;
    char excerpt[EXCERPT_SIZE];
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    const char *shell = arguments.operand[0];
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
        if (strcmp(shell, shells[i].shell) == 0) {
            shells[i].print();
            arguments_release(&arguments);
            return command_flush(0);
        }
    }
    error_set(&error, ERROR_INPUT, "normsweep completion: takes bash or zsh and not '%s'",
        place_excerpt(shell, excerpt));
    place_clean(&error);
    arguments_release(&arguments);
    return command_fail(&error);
}
