#ifndef NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H
#define NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H

#include <stdio.h>

#include "driver/commands/arguments.h"

/* The commands: X(name, options, operands, least, most, help). main.c alone has their functions. */
#define COMMANDS(X)                                                                                          \
    X(run,                                                                                                   \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(FRESH) |                        \
            OPTION_BIT(RETRY_FAILED),                                                                        \
        "SWEEP.yaml", 1, 1, "train every run of a sweep, or carry on where it stopped")                      \
    X(plan, OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(VALUES), "SWEEP.yaml", 1,   \
        1, "what a sweep would take: runs, memory, disk, hours; trains a few steps to know")                 \
    X(check, OPTION_BIT(SET), "SWEEP.yaml", 1, 1, "is a sweep file valid?")                                  \
    X(status, OPTION_BIT(WATCH), "OUT.nc", 1, 1, "how far a sweep is, and whether its dataset is whole")     \
    X(show, OPTION_BIT(AT) | OPTION_BIT(OVER) | OPTION_BIT(SERIES), "OUT.nc [VARIABLE]", 1, 2,               \
        "the phase diagram, any variable over two axes, or over steps, in the terminal")                     \
    X(inspect, OPTION_BIT(TOKENS) | OPTION_BIT(HEADS) | OPTION_BIT(CONTEXT) | OPTION_BIT(THREADS),           \
        "WEIGHTS.safetensors", 1, 1,                                                                         \
        "norms of a trained GPT-2; with a text also its loss, its saturation and what its heads attend to")  \
    X(help, OPTION_BIT(MARKDOWN) | OPTION_BIT(NAMES), "[params|metrics|KEY|NAME|COMMAND]", 0, 1,             \
        "what a sweep file may hold, what is measured, how a command is called")                             \
    X(completion, 0, "bash|zsh", 1, 1,                                                                       \
        "a script by which that shell completes commands, options, keys and variables")

enum command_number {
#define X(name, ...) COMMAND_##name,
    COMMANDS(X)
#undef X
        COMMAND_COUNT,
};

struct command {
    const char *name;
    unsigned options; /* bits of OPTION_BIT */
    const char *operands; /* as in the usage line */
    int least, most; /* how many operands */
    const char *help; /* one line */
};

/* The table; a row without a name ends it. */
extern const struct command command_table[COMMAND_COUNT + 1];

/* The row of a name, or NULL. */
const struct command *command_find(const char *name);

/*
 * Takes the command line apart as argv[0]'s row says. 0: go on; 1: all is done, return *status: --help or
 * --version have been printed, or the line was wrong and its message is on stderr.
 */
int command_arguments(struct arguments *arguments, int argc, char **argv, int *status);

/* Says an error on stderr; returns its exit status. */
int command_fail(const struct error *error);

/* All commands, one usage line each. */
void command_overview(FILE *file);

/* "normsweep check SWEEP.yaml [--set KEY=VALUE]..." */
void command_usage(FILE *file, const struct command *command);

/* Is an option one of the command's own, or --help? */
bool command_takes(const struct command *command, enum option option);

/* "-o, --output OUT.nc"; returns text. */
enum { OPTION_FORM = 64 };
const char *command_option(enum option option, char text[OPTION_FORM]);

/* A command's page: usage, what it is, its options. */
void command_page(FILE *file, const struct command *command);

/* An unknown command: its line on stderr; returns the exit status. */
int command_unknown(const char *name);

/* What was printed has to arrive: `status`, or 3 with a line on stderr. */
int command_flush(int status);

#endif
