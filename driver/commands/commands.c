/*
 * The table of commands, and the help that follows from it and from the table of options: usage lines, the
 * page of a command, the overview. main.c calls the commands themselves.
 */
#include "driver/commands/inside.h"
#include "driver/ranks/ranks.h"
#include "driver/text/text.h"

#include <errno.h>
#include <string.h>

enum { OPTION_FORM = 64 };

const struct command command_table[COMMAND_COUNT + 1] = {
#define X(name, ...) [COMMAND_##name] = {#name, __VA_ARGS__},
    COMMANDS(X)
#undef X
};

const struct command *command_find(const char *name)
{
    const struct command *command = command_table;

    while (command->name && strcmp(command->name, name) != 0)
        command++;
    return command->name ? command : NULL;
}

/* " [-o OUT.nc]" */
static void print_option(FILE *file, enum option option)
{
    const struct option_row *row = &option_table[option];

    if (row->letter)
        fprintf(file, " [-%c", row->letter);
    else
        fprintf(file, " [--%s", row->word);
    if (row->value)
        fprintf(file, " %s", row->value);
    fputs(row->store.kind == STORE_TEXTS ? "]..." : "]", file);
}

/* Prints "normsweep check SWEEP.yaml [--set KEY=VALUE]...". */
static void command_usage(FILE *file, const struct command *command)
{
    fprintf(file, "normsweep %s %s", command->name, command->operands);
    for (enum option option = 0; option < OPTION_COUNT; option++)
        if (command->options >> option & 1)
            print_option(file, option);
    fputc('\n', file);
}

static const struct {
    const char *operands, *meaning;
} operand_table[] = {
    {"NET.weights.nc",
        "a run's final weights, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or those of "
        "others, which analysis/weights import writes"},
};

const char *command_operand(const struct command *command)
{
    for (size_t i = 0; i < sizeof(operand_table) / sizeof(*operand_table); i++)
        if (strcmp(operand_table[i].operands, command->operands) == 0)
            return operand_table[i].meaning;
    return NULL;
}

bool command_takes(const struct command *command, enum option option)
{
    return (command->options | OPTION_BIT(HELP)) >> option & 1;
}

/* "-o, --output OUT.nc"; returns text. */
static const char *option_form(const struct option_row *row, char text[OPTION_FORM])
{
    char letter[] = {'-', row->letter, ',', ' ', '\0'};

    snprintf(text, OPTION_FORM, "%s--%s%s%s", row->letter ? letter : "", row->word, row->value ? " " : "",
        row->value ? row->value : "");
    return text;
}

void command_page(FILE *file, const struct command *command)
{
    char text[OPTION_FORM];

    command_usage(file, command);
    fprintf(file, "    %s\n", command->help);
    if (command_operand(command))
        fprintf(file, "  %-20s  %s\n", command->operands, command_operand(command));
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (command_takes(command, option))
            fprintf(file, "  %s%-*s  %s\n", row->letter ? "" : "    ", row->letter ? 20 : 16,
                option_form(row, text), row->help);
    }
}

void command_overview(FILE *file)
{
    for (const struct command *command = command_table; command->name; command++) {
        command_usage(file, command);
        fprintf(file, "    %s\n", command->help);
    }
    fputs("exit status: ", file);
    for (int i = 0; i < EXIT_STATUS_COUNT; i++)
        fprintf(file, "%s%d %s", i ? ", " : "", exit_status_table[i].status, exit_status_table[i].brief);
    fputc('\n', file);
    fputs("normsweep COMMAND --help explains the options; normsweep --version shows versions\n", file);
}

int command_fail(const struct error *error)
{
    if (starter_find().rank <= 0) /* only one of the ranks prints it */
        fprintf(stderr, "%s\n", error->text);
    return error->status;
}

int command_flush(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "normsweep: output: %s\n", strerror(errno));
    return ERROR_ENVIRONMENT;
}

int command_unknown(const char *name)
{
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;
    struct error error;

    nearest_init(&nearest, name);
    for (const struct command *command = command_table; command->name; command++)
        nearest_offer(&nearest, command->name);
    error_set(&error, ERROR_INPUT, "normsweep: unknown command '%s'%s", place_excerpt(name, excerpt),
        nearest.best ? nearest_hint(&nearest, hint) : "; see normsweep help");
    return command_fail(&error);
}

int command_arguments(struct arguments *arguments, int argc, char **argv, int *status)
{
    const struct command *command = command_find(argv[0]);
    struct error error;

    if (arguments_parse(arguments, argc, argv, command->options, command->least, command->most, &error) < 0) {
        *status = command_fail(&error);
        return 1;
    }
    if (!(arguments->given & OPTIONS_ALWAYS))
        return 0;
    if (arguments_has(arguments, OPTION_HELP))
        command_page(stdout, command);
    else
        about_version(stdout);
    arguments_release(arguments);
    *status = command_flush(0);
    return 1;
}
