#ifndef NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H
#define NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H

#include <stdio.h>

#include "driver/commands/arguments.h"

/* The commands: X(name, options, operands, least, most, help). */
#define COMMANDS(X)                                                                                          \
    X(run,                                                                                                   \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SPARES) | OPTION_BIT(SET) | OPTION_BIT(FRESH) |   \
            OPTION_BIT(RETRY_FAILED) | OPTION_BIT(DRY_RUN) | OPTION_BIT(LOG),                                \
        "SWEEP.yaml", 1, 1, "train every run of a sweep, or continue where it stopped")                      \
    X(plan, OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(VALUES), "SWEEP.yaml", 1,   \
        1, "estimate what a sweep takes: runs, memory, disk, hours; trains a few steps for it")              \
    X(verify,                                                                                                \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(RUNS) | OPTION_BIT(VALUES),     \
        "SWEEP.yaml", 1, 1, "train a sample of the finished runs again and compare every value bit for bit") \
    X(check, OPTION_BIT(OUTPUT) | OPTION_BIT(SET) | OPTION_BIT(VALUES), "SWEEP.yaml", 1, 1,                  \
        "check that a sweep file is valid")                                                                  \
    X(status, OPTION_BIT(WATCH) | OPTION_BIT(WAIT) | OPTION_BIT(LIMIT) | OPTION_BIT(JSON), "OUT.nc", 1, 1,   \
        "show the progress of a sweep, and whether its dataset is complete")                                 \
    X(show, OPTION_BIT(AT) | OPTION_BIT(OVER), "OUT.nc [VARIABLE]", 1, 2,                                    \
        "draw the phase diagram, or a variable over two axes, in the terminal")                              \
    X(inspect,                                                                                               \
        OPTION_BIT(TOKENS) | OPTION_BIT(LINES) | OPTION_BIT(CONTEXT) | OPTION_BIT(MASK) |                    \
            OPTION_BIT(SENTINEL) | OPTION_BIT(OUTPUT) | OPTION_BIT(STATES) | OPTION_BIT(VALUES) |            \
            OPTION_BIT(JSON) | OPTION_BIT(THREADS),                                                          \
        "NET.weights.nc", 1, 1,                                                                              \
        "measure the norms of a trained network; with a text also its loss, saturation and attention")       \
    X(help, OPTION_BIT(JSON) | OPTION_BIT(SCHEMA), "[params|metrics|KEY|NAME|COMMAND]", 0, 1,                \
        "explain keys of the sweep file, metrics, other names of a dataset, and commands")                   \
    X(completion, 0, "bash|zsh", 1, 1,                                                                       \
        "print a script with which this shell completes commands, options, keys and variables")

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
    int least, most; /* number of operands */
    const char *help; /* one line */
};

/*
 * Each takes the command line from its own name on (argv[0] is "run"), prints results on stdout and at most
 * one line of error on stderr, and returns the exit status. Only main.c refers to them.
 */
int command_run(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_check(int argc, char **argv);
int command_status(int argc, char **argv);
int command_show(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_help(int argc, char **argv);
int command_completion(int argc, char **argv);

/* The table; a row without a name ends it. */
extern const struct command command_table[COMMAND_COUNT + 1];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

/*
 * Parses the command line of the command argv[0]. 0: go on; 1: return *status, because --help or --version
 * was printed, or the line was wrong and a message is on stderr.
 */
int command_arguments(struct arguments *arguments, int argc, char **argv, int *status);

/* Prints an error on stderr; returns its exit status. */
int command_fail(const struct error *error);

/* Prints all commands: a usage line and a line of help for each. */
void command_overview(FILE *file);

/* What its operand may be; NULL: its name says it. */
const char *command_operand(const struct command *command);

/* Is the option in the command's row, or --help? */
bool command_takes(const struct command *command, enum option option);

/* Prints the help of a command: usage, description, options. */
void command_page(FILE *file, const struct command *command);

/* Writes all tables as one JSON object; the caller checks `out` for errors. */
void help_json(FILE *out);

/* The forms of a list in a sweep file, in lines; when a group is measured: "in every sweep". */
extern const char help_lists[];
const char *help_measured(enum metric_group group);

/* Prints an error about an unknown command; returns the exit status. */
int command_unknown(const char *name);

/* Flushes stdout. Returns `status`, or 3 with a message on stderr if the output could not be written. */
int command_flush(int status);

#endif
