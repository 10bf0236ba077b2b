#ifndef NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H
#define NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H

#include <stdio.h>

/* That line, then one for each part of the build and each library that was found. Does not start MPI. */
void about(FILE *file);

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
            OPTION_BIT(SENTINEL) | OPTION_BIT(OUTPUT) | OPTION_BIT(STATES) | OPTION_BIT(JSON) |              \
            OPTION_BIT(THREADS),                                                                             \
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

struct command {
    const char *name;
    unsigned options; /* bits of OPTION_BIT */
    const char *operands; /* as in the usage line */
    int least, most; /* number of operands */
    const char *help; /* one line */
};

/* The table; a row without a name ends it. */
extern const struct command command_table[COMMAND_COUNT + 1];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

/* Prints an error about an unknown command; returns the exit status. */
int command_unknown(const char *name);

/* Flushes stdout. Returns `status`, or 3 with a message on stderr if the output could not be written. */
int command_flush(int status);

#endif
