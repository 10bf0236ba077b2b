/* The reference as Markdown: every table of the program. docs/reference.md is its output. */
#include "driver/commands/help.h"

#include "driver/commands/commands.h"
#include "driver/commands/help_dataset.h"
#include "driver/commands/help_markdown.h"
#include "driver/commands/help_text.h"
#include "driver/tables/dataset_tables.h"
#include "driver/tables/key.h"
#include "driver/text/exit_status.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 96, MEANING_SIZE = 1024 };

/* Puts a name into backquotes. */
static const char *code(const char *text, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "`%s`", text);
    return name;
}

static void print_command(const struct command *command)
{
    char text[OPTION_FORM], name[NAME_SIZE];

    printf("### %s\n\n```\n", command->name);
    command_usage(stdout, command);
    printf("```\n\n");
    printf("%c%s.\n", toupper((unsigned char)command->help[0]), command->help + 1);
    printf("\n| option | meaning |\n|---|---|\n");
    if (command_operand(command))
        help_row((const char *[]){code(command->operands, name), command_operand(command)}, 2);
    for (enum option option = 0; option < OPTION_COUNT; option++)
        if (command_takes(command, option))
            help_row(
                (const char *[]){code(command_option(option, text), name), option_table[option].help}, 2);
}

static void print_commands(void)
{
    for (const struct command *command = command_table; command->name; command++) {
        if (command != command_table)
            puts("");
        print_command(command);
    }
}

static void print_exits(void)
{
    char status[NAME_SIZE], number[16];

    puts("| status | in short | meaning |\n|---|---|---|");
    for (int i = 0; i < EXIT_STATUS_COUNT; i++) {
        const struct exit_status_row *row = &exit_status_table[i];
        snprintf(number, sizeof(number), "%d", row->status);
        help_row((const char *[]){code(number, status), row->brief, row->meaning}, 3);
    }
}

static void print_params(void)
{
    char form[HELP_FORM], initial[64], name[NAME_SIZE];

    puts("| key | value | default | axis | meaning |\n|---|---|---|---|---|");
    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        help_row((const char *[]){code(param->name, name), help_form(param, form),
                     param_format(param, param->initial, initial, sizeof(initial)),
                     param->axis ? "yes" : "no", param->help},
            5);
    }
}

static void print_lists(void)
{
    puts("```");
    help_lists();
    puts("```");
}

static void print_keys(void)
{
    char name[NAME_SIZE];

    puts("| key | value | default | meaning |\n|---|---|---|---|");
    for (enum key key = 0; key < KEY_COUNT; key++) {
        const struct key_row *row = &key_table[key];
        help_row((const char *[]){code(row->name, name), row->form, row->initial, row->help}, 4);
    }
}

static void print_dimensions(void)
{
    char name[NAME_SIZE], meaning[MEANING_SIZE];

    puts("| dimension | meaning |\n|---|---|");
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        const struct metric_dimension_row *row = &metric_dimension_table[dimension];
        snprintf(
            meaning, sizeof(meaning), "%s%s%s", row->long_name, row->comment[0] ? ": " : "", row->comment);
        help_row((const char *[]){code(row->name, name), meaning}, 2);
    }
}

static void print_groups(void)
{
    char name[NAME_SIZE], names[HELP_NAMES];

    puts("| group | measured | metrics |\n|---|---|---|");
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        help_row((const char *[]){code(metric_group_names[group], name), help_measured(group),
                     help_members(group, names)},
            3);
}

static void print_natures(void)
{
    char name[NAME_SIZE];

    puts("| nature | meaning |\n|---|---|");
    for (enum nature nature = 0; nature < NATURE_COUNT; nature++)
        help_row((const char *[]){code(nature_table[nature].word, name), nature_table[nature].meaning}, 2);
}

static void print_metrics(void)
{
    char name[NAME_SIZE], over[HELP_DIMENSIONS], meaning[MEANING_SIZE];

    puts("| variable | over | unit | measured with | nature | meaning |\n|---|---|---|---|---|---|");
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &metric_table[metric];
        snprintf(meaning, sizeof(meaning), "%s: %s", row->long_name, row->help);
        help_row((const char *[]){code(row->name, name), help_dimensions(row->shape, over), row->unit,
                     metric_group_names[row->group], nature_table[row->nature].word, meaning},
            6);
    }
}

static void print_runs(void)
{
    char name[NAME_SIZE], values[HELP_NAMES], meaning[MEANING_SIZE];

    puts("| variable | values | meaning |\n|---|---|---|");
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++) {
        const struct run_variable_row *row = &run_variable_table[variable];
        snprintf(meaning, sizeof(meaning), "%s: %s", row->long_name, row->comment);
        help_row((const char *[]){code(row->name, name), help_values(variable, values), meaning}, 3);
    }
}

static void print_boundary(void)
{
    char name[NAME_SIZE], values[HELP_NAMES], meaning[MEANING_SIZE];

    puts("| variable | over | values | meaning |\n|---|---|---|---|");
    for (enum boundary_variable variable = 0; variable < BOUNDARY_VARIABLE_COUNT; variable++) {
        const struct boundary_variable_row *row = &boundary_variable_table[variable];
        snprintf(
            meaning, sizeof(meaning), "%s%s%s", row->long_name, row->comment[0] ? ": " : "", row->comment);
        help_row((const char *[]){code(row->name, name), boundary_over_text(row->over),
                     help_flags(variable, values), meaning},
            4);
    }
}

static void print_sessions(void)
{
    char name[NAME_SIZE];

    puts("| variable | meaning |\n|---|---|");
    for (enum session_variable variable = 0; variable < SESSION_VARIABLE_COUNT; variable++)
        help_row((const char *[]){code(session_variable_table[variable].name, name),
                     session_variable_table[variable].long_name},
            2);
}

static void print_attributes(void)
{
    char name[NAME_SIZE];

    puts("| attribute | meaning |\n|---|---|");
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        help_row((const char *[]){code(attribute_table[i].name, name), attribute_table[i].meaning}, 2);
}

/* The sections of the reference, in order. */
static const struct table {
    const char *name, *title, *text;
    void (*print)(void);
} tables[] = {
    {"commands", "Commands",
        "Options may stand anywhere after the command's name; `--` ends them. Every command also takes "
        "`--version`.",
        print_commands},
    {"exits", "Exit statuses",
        "Of every command; a command has those that fit it. The Python scripts of `analysis/` end with 1 for "
        "an error, bad input included, and with 2 if they do not know an option or miss an argument.",
        print_exits},
    {"params", "Parameters", "Keys of the sweep file that describe a run. Those marked as axes accept lists.",
        print_params},
    {"lists", "Lists", "A single value fixes a parameter; a list makes it an axis.", print_lists},
    {"keys", "Keys about the sweep itself", "Like all keys, each may appear at most once.", print_keys},
    {"dimensions", "Dimensions of a dataset",
        "First come the axes of the grid, in the order of the sweep file, each with a coordinate variable of "
        "numbers or texts. Numbers and truth values ascend strictly along their axis, or descend if the list "
        "in the sweep file does; words keep the order of the file. When values are added, the order may turn "
        "round: choose by value, not by index. An axis of `together` has labels as its coordinate, and its "
        "keys as further coordinates. Metrics may have the following dimensions after these. Values at "
        "indices that a run does not have (a layer, a step) are NaN.",
        print_dimensions},
    {"groups", "Groups of metrics",
        "The words of `measure: {metrics: [...]}`, except `always`, whose metrics cannot be left out.",
        print_groups},
    {"natures", "Natures of variables",
        "The attribute `nature` of a metric says what kind of number it is; pictures choose scales and means "
        "by it. All other variables of runs and sessions have the nature `record`.",
        print_natures},
    {"metrics", "Metrics",
        "Over the axes of the grid and the dimensions in the second column. NaN: not measured yet.",
        print_metrics},
    {"runs", "Other variables of each run", "Over the axes of the grid.", print_runs},
    {"boundary", "The boundary",
        "Written when all runs have ended, if `refine` looks for a boundary along one axis, or weight_decay "
        "is an axis; NaN until then, and where there is none. Slopes are there if learning_rate, or steps, "
        "is an axis of several values. Attributes of `boundary` say what crosses (`variable`) which value "
        "(`at`) along which axis (`along`).",
        print_boundary},
    {"sessions", "Sessions",
        "Over `sessions`, one for each start of the program: texts that describe it, and numbers that are "
        "updated while it runs, NaN until they are known. A run's `session` is an index into these.",
        print_sessions},
    {"attributes", "Global attributes",
        "The dataset also has an attribute for every parameter that is not an axis, under the parameter's "
        "name.",
        print_attributes},
};
enum { TABLES = (int)(sizeof(tables) / sizeof(*tables)) };

static void print_page(void)
{
    puts("# Reference\n\n"
         "All names, printed by the program from its own tables (`normsweep help --markdown`).\n"
         "`normsweep help NAME` explains one of them in the terminal.");
    for (int i = 0; i < TABLES; i++) {
        printf("\n## %s\n\n", tables[i].title);
        help_paragraph(tables[i].text);
        puts("");
        tables[i].print();
    }
}

int help_markdown(const char *name)
{
    char names[HELP_NAMES] = "";
    struct error error;

    for (int i = 0; name && i < TABLES; i++) {
        size_t used = strlen(names);
        if (strcmp(name, tables[i].name) == 0) {
            tables[i].print();
            return 0;
        }
        snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", tables[i].name);
    }
    if (!name) {
        print_page();
        return 0;
    }
    error_set(&error, ERROR_INPUT, "normsweep help: --markdown takes nothing or one of %s", names);
    return command_fail(&error);
}
