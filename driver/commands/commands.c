/*
 * The table of commands, and the help that follows from it and from the table of options: usage lines, the
 * page of a command, the overview; and the versions that bug reports should quote. main.c finds the command
 * and passes its function to command_call(), which reads the command line, prints the error, if any, and
 * makes the exit status of it.
 */
#include "driver/commands/inside.h"
#include "model/kernels/kernels.h"
#include "worker/wire/wire.h"

#include <errno.h>
#include <string.h>

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

bool command_takes(const struct command *command, enum option option)
{
    return (command->options | OPTION_BIT(HELP)) >> option & 1;
}

/* "normsweep check SWEEP.yaml [-o OUT.nc] [--set KEY=VALUE]..." */
static void command_usage(const struct command *command)
{
    printf("normsweep %s %s", command->name, command->operands);
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (!(command->options >> option & 1))
            continue;
        if (row->letter)
            printf(" [-%c", row->letter);
        else
            printf(" [--%s", row->word);
        if (row->value)
            printf(" %s", row->value);
        fputs(row->kind == STORE_TEXTS ? "]..." : "]", stdout);
    }
    putchar('\n');
}

void command_page(const struct command *command)
{
    command_usage(command);
    printf("    %s\n", command->help);
    if (command->operand_help)
        printf("  %-20s  %s\n", command->operands, command->operand_help);
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (!command_takes(command, option))
            continue;
        int columns =
            row->letter ? printf("  -%c, --%s", row->letter, row->word) : printf("      --%s", row->word);
        if (row->value)
            columns += printf(" %s", row->value);
        printf("%*s  %s\n", columns < 22 ? 22 - columns : 0, "", row->help);
    }
}

void command_overview(void)
{
    for (const struct command *command = command_table; command->name; command++) {
        command_usage(command);
        printf("    %s\n", command->help);
    }
    fputs("exit status: ", stdout);
    for (int i = 0; i < EXIT_STATUS_COUNT; i++)
        printf("%s%d %s", i ? ", " : "", exit_status_table[i].status, exit_status_table[i].brief);
    putchar('\n');
    puts("normsweep COMMAND --help explains the options; normsweep --version shows versions");
}

int command_fail(const struct error *error)
{
    if (starter_find().rank <= 0) /* only one of the ranks prints it */
        fprintf(stderr, "%s\n", error->text);
    return error->status;
}

int command_flush(int status, struct error *error)
{
    static bool told;
    struct error fault;

    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    error_set(&fault, ERROR_ENVIRONMENT, "normsweep: output: %s", strerror(errno));
    if (!told)
        fprintf(stderr, "%s\n", fault.text);
    told = true;
    if (status != ERROR_ENVIRONMENT) /* else the first error counts */
        *error = fault;
    return ERROR_ENVIRONMENT;
}

int command_unknown(const char *name)
{
    struct nearest nearest;
    struct error error;

    nearest_init(&nearest, name);
    for (const struct command *command = command_table; command->name; command++)
        nearest_offer(&nearest, command->name);
    error_set(&error, ERROR_INPUT, "normsweep: unknown command '%s'%s", text_excerpt(name).text,
        nearest.best ? nearest_hint(&nearest).text : "; see normsweep help");
    return command_fail(&error);
}

/* "normsweep 0.1.0 0123456789ab" */
static void print_version(void)
{
    printf("normsweep %s%s%s\n", version_number, version_commit[0] ? " " : "", version_commit);
}

int command_call(const struct command *command,
    int (*function)(const struct arguments *arguments, struct error *error), int argc, char **argv)
{
    struct arguments arguments;
    struct error error = {.text = ""};
    int status = arguments_parse(&arguments, command, argc, argv, &error);

    if (status < 0) {
        status = command_fail(&error);
        return starter_find().rank > 0 ? 0
                                       : status; /* else mpirun could end rank 0 before it prints the line */
    }
    if (arguments_has(&arguments, OPTION_HELP))
        command_page(command);
    else if (arguments_has(&arguments, OPTION_VERSION))
        print_version();
    else
        status = function(&arguments, &error);
    arguments_release(&arguments);
    return status < 0 ? command_fail(&error) : command_flush(status, &error);
}

/* ---- the version ---- */

/* "MPI       Open MPI v4.1.4, ..."; only the first line of the text, which names the library. */
static void print_row(const char *name, const char *text)
{
    printf("%-10s%.*s\n", name, (int)strcspn(text, "\r\n"), text);
}

void about(void)
{
    char path[4096];
    bool runs;

    print_version();
    print_row("compiler", version_compiler);
    print_row("", version_flags);
    printf("%-10s%s in use, of", "vectors", kernels_level_in_use());
    for (int i = 0; kernels_level(i, &runs); i++)
        printf("%s %s%s", i ? "," : "", kernels_level(i, &runs), runs ? "" : " (not on this processor)");
    printf("\n");
    print_row("MPI", wire_library());
    environment_library_file("cblas_sgemm", path, sizeof(path));
    if (environment_sets_threads()) {
        printf("%-10s%s\n", "BLAS", environment_blas());
        printf("%-10skernel %s, 1 thread; %s\n", "", environment_blas_kernel(), path);
    } else {
        printf("%-10snot OpenBLAS, may start threads of its own; %s\n", "BLAS", path);
    }
    printf("%-10s%.*s\n", "netCDF", (int)strcspn(view_library(), " "), view_library()); /* no date */
    print_row("libyaml", yaml_library());
}
