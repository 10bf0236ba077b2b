#ifndef NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H
#define NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H

#include <stdbool.h>

#include "driver/commands/help.h"
#include "driver/commands/help_dataset.h"

/*
 * Inside the completion command: what may be typed where, from the tables of the program, for the files that
 * write it down in a shell's language. All on stdout.
 */

/* The lists of names that placeholders in usage lines stand for. */
struct completion_list {
    const char *placeholder; /* "KEY" */
    const char *name; /* in the script: "keys" */
    void (*each)(help_take *take, void *context);
};
enum { COMPLETION_LISTS = 5 };
extern const struct completion_list completion_lists[COMPLETION_LISTS];

/* Calls take with every name whose values are words, and these words with blanks between. */
void completion_values(help_take *take, void *context);

/* What may stand for a placeholder or, of several with bars between, for one of them. */
enum completion_kind {
    COMPLETION_NOTHING, /* nothing that could be known */
    COMPLETION_FILE, /* a file; `detail`: the ending of its name, "" for any */
    COMPLETION_PAIRS, /* what the script's function `detail` knows: set, at, over */
    COMPLETION_LIST, /* a name of the list `detail` */
    COMPLETION_WORD, /* the word itself */
};
struct completion {
    enum completion_kind kind;
    const char *detail; /* with `length` characters */
    int length;
};

/* The next one of *placeholders, which moves behind it; false at its end. Brackets do not count. */
bool completion_next(const char **placeholders, struct completion *completion);

/* The next operand of a usage line, "OUT.nc" or "[VARIABLE]"; its characters are *length. NULL at the end. */
const char *completion_operand(const char **operands, int *length);

/* Text in single quotes, for either shell. */
void completion_quote(const char *text);

int command_completion(int argc, char **argv);

#endif
