#ifndef NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H
#define NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H

/* Prints the version, then a line for each part of the build and each library that was found. Does not start
 * MPI. */
void about(void);

/* The commands: X(name, options, operands, least, most, help, help about the operand or NULL). */
#define COMMANDS(X)                                                                                          \
    X(run,                                                                                                   \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SPARES) | OPTION_BIT(HOSTS) | OPTION_BIT(SET) |   \
            OPTION_BIT(FRESH) | OPTION_BIT(RETRY_FAILED) | OPTION_BIT(DRY_RUN) | OPTION_BIT(BUDGET) |        \
            OPTION_BIT(PART) | OPTION_BIT(ONLY) | OPTION_BIT(LOG),                                           \
        "SWEEP.yaml", 1, 1, "train every run of a sweep, or continue where it stopped", NULL)                \
    X(plan,                                                                                                  \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(PART) | OPTION_BIT(ONLY) |      \
            OPTION_BIT(VALUES),                                                                              \
        "SWEEP.yaml", 1, 1,                                                                                  \
        "estimate what a sweep takes: runs, memory, disk, hours; trains a few steps for it", NULL)           \
    X(verify,                                                                                                \
        OPTION_BIT(OUTPUT) | OPTION_BIT(JOBS) | OPTION_BIT(SET) | OPTION_BIT(RUNS) | OPTION_BIT(VALUES),     \
        "SWEEP.yaml", 1, 1, "train a sample of the finished runs again and compare every value bit for bit", \
        NULL)                                                                                                \
    X(check, OPTION_BIT(OUTPUT) | OPTION_BIT(SET) | OPTION_BIT(VALUES), "SWEEP.yaml", 1, 1,                  \
        "check that a sweep file is valid", NULL)                                                            \
    X(status, OPTION_BIT(WATCH) | OPTION_BIT(WAIT) | OPTION_BIT(LIMIT) | OPTION_BIT(JSON), "OUT.nc", 1, 1,   \
        "show the progress of a sweep or a folder of parts, and whether the data are complete", NULL)        \
    X(show, OPTION_BIT(AT) | OPTION_BIT(OVER), "OUT.nc [VARIABLE]", 1, 2,                                    \
        "draw the phase diagram, or a variable over two axes, in the terminal", NULL)                        \
    X(inspect,                                                                                               \
        OPTION_BIT(AT) | OPTION_BIT(TOKENS) | OPTION_BIT(LINES) | OPTION_BIT(CONTEXT) | OPTION_BIT(MASK) |   \
            OPTION_BIT(SENTINEL) | OPTION_BIT(OUTPUT) | OPTION_BIT(STATES) | OPTION_BIT(JSON) |              \
            OPTION_BIT(THREADS),                                                                             \
        "NET.weights.nc", 1, 1,                                                                              \
        "measure the norms of a trained network; with a text also its loss, saturation and attention",       \
        "a run's final weights, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or those "   \
        "of others, which analysis/weights import writes; or with --at a dataset, of which it names a run")  \
    X(help, OPTION_BIT(JSON) | OPTION_BIT(SCHEMA), "[params|metrics|KEY|NAME|COMMAND]", 0, 1,                \
        "explain keys of the sweep file, metrics, other names of a dataset, and commands", NULL)             \
    X(completion, 0, "bash|zsh", 1, 1,                                                                       \
        "print a script with which this shell completes commands, options, keys and variables", NULL)

enum command_number {
#define X(name, ...) COMMAND_##name,
    COMMANDS(X)
#undef X
        COMMAND_COUNT,
};

struct arguments;
struct error;

/*
 * A command: prints results on stdout and returns the exit status, or -1 with the error set. What it says of
 * its success may go on to stderr. Only main.c refers to them.
 */
int command_run(const struct arguments *arguments, struct error *error);
int command_plan(const struct arguments *arguments, struct error *error);
int command_verify(const struct arguments *arguments, struct error *error);
int command_check(const struct arguments *arguments, struct error *error);
int command_status(const struct arguments *arguments, struct error *error);
int command_show(const struct arguments *arguments, struct error *error);
int command_inspect(const struct arguments *arguments, struct error *error);
int command_help(const struct arguments *arguments, struct error *error);
int command_completion(const struct arguments *arguments, struct error *error);

struct command {
    const char *name;
    unsigned options; /* bits of OPTION_BIT */
    const char *operands; /* as in the usage line */
    int least, most; /* number of operands */
    const char *help; /* one line */
    const char *operand_help; /* what its operand may be; NULL: its name says it */
};

/* The table; a row without a name ends it. */
extern const struct command command_table[COMMAND_COUNT + 1];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

/* Prints an error about an unknown command; returns the exit status. */
int command_unknown(const char *name);

/* Parses the command line, of which argv[0] is the command's name, calls the command, prints its error as one
 * line on stderr, and flushes stdout. --help and --version are answered here. Returns the exit status. */
int command_call(const struct command *command,
    int (*function)(const struct arguments *arguments, struct error *error), int argc, char **argv);

/* Flushes stdout. Returns `status`; or, if the output could not be written, 3 with the error set, unless
 * `status` was 3 for another one. It is printed once. */
int command_flush(int status, struct error *error);

#endif
