#ifndef NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H
#define NORMSWEEP_DRIVER_COMMANDS_COMMANDS_H

#include <stdio.h>

#include "driver/commands/arguments.h"

/*
 * The commands of the program. Each takes the command line from its own name on (argv[0] is "run"), prints
 * its results on stdout and its one line of failure on stderr, and returns the exit status.
 */
int command_run(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_check(int argc, char **argv);
int command_status(int argc, char **argv);
int command_show(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_help(int argc, char **argv);
int command_completion(int argc, char **argv);

struct command {
    const char *name;
    int (*function)(int argc, char **argv);
    unsigned options; /* bits of OPTION_BIT */
    const char *operands; /* as in the usage line */
    int least, most; /* how many operands */
    const char *help; /* one line */
};

/* The table; a row without a name ends it. */
extern const struct command command_table[];

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
