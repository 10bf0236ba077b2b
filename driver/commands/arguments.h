#ifndef NORMSWEEP_DRIVER_COMMANDS_ARGUMENTS_H
#define NORMSWEEP_DRIVER_COMMANDS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/sweep/sweep.h"
#include "model/core/error.h"

/*
 * The options of all commands: X(OPTION, letter, word, value, store, help). A command takes those whose bit
 * is in its row of the command table; all take --help and --version. `store` is a row's own place in struct
 * arguments, which two options never share: FLAG, TEXT(field), TEXTS(field) for what may come more than once,
 * or NUMBER(field, of what, least, most).
 */
#define OPTIONS(X)                                                                                           \
    X(OUTPUT, 'o', "output", "OUT.nc", TEXT(output), "the dataset; default: output in the sweep file")       \
    X(JOBS, 'j', "jobs", "N", NUMBER(jobs, "workers", 0, 1000000),                                           \
        "workers; default: as many as there are cores for; 0: no MPI, in this process")                      \
    X(SET, 0, "set", "KEY=VALUE", TEXTS(setting),                                                            \
        "lay a value over the sweep file, any YAML; null takes the key out")                                 \
    X(FRESH, 0, "fresh", NULL, FLAG, "begin anew; an existing dataset is renamed to OUT.nc.old")             \
    X(RETRY_FAILED, 0, "retry-failed", NULL, FLAG, "run what has failed once more")                          \
    X(WATCH, 0, "watch", NULL, FLAG, "stay and follow until the sweep has ended")                            \
    X(VALUES, 0, "values", NULL, FLAG, "as lines of key=value, for scripts; times in seconds")               \
    X(AT, 0, "at", "NAME=VALUE", TEXTS(at),                                                                  \
        "look at one value of an axis, or of step, layer, head...; more after commas")                       \
    X(OVER, 0, "over", "X[,Y]", TEXT(over),                                                                  \
        "the axes that are drawn; of a series the one that tells its lines apart")                           \
    X(SERIES, 0, "series", NULL, FLAG, "a variable over steps, as lines; default: param_norm")               \
    X(TOKENS, 0, "tokens", "IDS", TEXT(tokens), "a text of token ids, for what is measured on a text")       \
    X(HEADS, 0, "heads", "N", NUMBER(heads, "heads", 1, 1 << 20),                                            \
        "attention heads; default: n_head of config.json beside the weights")                                \
    X(CONTEXT, 0, "context", "T", NUMBER(context, "tokens", 1, 1 << 20),                                     \
        "the text is cut into windows of T; default: the model's context")                                   \
    X(THREADS, 0, "threads", "N", NUMBER(threads, "threads", 1, 1024),                                       \
        "default: as many as there are cores for")                                                           \
    X(MARKDOWN, 0, "markdown", NULL, FLAG,                                                                   \
        "all tables as docs/reference.md holds them, or the one that is named")                              \
    X(NAMES, 0, "names", "KIND", TEXT(names),                                                                \
        "names and what they are, for completions: of KEY, VARIABLE, show...")                               \
    X(HELP, 'h', "help", NULL, FLAG, "how the command is called")                                            \
    X(VERSION, 'V', "version", NULL, FLAG, "the version")

enum option {
#define X(option, letter, word, value, store, help) OPTION_##option,
    OPTIONS(X)
#undef X
        OPTION_COUNT,
};

/* What an option's value is stored as. */
enum store_kind {
    STORE_FLAG, /* it takes none */
    STORE_TEXT, /* const char * */
    STORE_TEXTS, /* struct texts */
    STORE_NUMBER, /* int */
};

struct option_store {
    enum store_kind kind;
    size_t offset; /* in struct arguments, of all but flags */
    const char *of; /* a number of workers */
    int least, most; /* that it may be */
};

struct option_row {
    char letter; /* 0: none */
    const char *word;
    const char *value; /* NULL: it takes none */
    struct option_store store;
    const char *help;
};

extern const struct option_row option_table[OPTION_COUNT];

_Static_assert(OPTION_COUNT <= 8 * sizeof(unsigned), "a bit of `given` per option");

#define OPTION_BIT(option) (1u << OPTION_##option)
#define OPTIONS_ALWAYS (OPTION_BIT(HELP) | OPTION_BIT(VERSION))

enum { OPERANDS_MOST = 2 };

/* What an option was given, in order. The texts are argv's; the array is the struct's. */
struct texts {
    const char **text; /* [count] */
    int count;
};

/* A command line, taken apart. All strings are argv's. */
struct arguments {
    unsigned given; /* a bit per option */
    const char *operand[OPERANDS_MOST];
    int operand_count;
    const char *output; /* -o; NULL: not given */
    int jobs; /* -j; -1: not given */
    const char *tokens, *names; /* NULL: not given */
    int heads, context, threads; /* 0: not given */
    struct texts setting, at;
    const char *over; /* NULL: not given */
};

/*
 * Takes argv[1 .. argc-1] apart for the command named argv[0]: options of `allowed` and those that every
 * command takes, anywhere among `least` to `most` operands; "--" ends the options. With --help or --version
 * the operands are not counted. On failure -1 and nothing held.
 */
int arguments_parse(struct arguments *arguments, int argc, char **argv, unsigned allowed, int least, int most,
    struct error *error);
void arguments_release(struct arguments *arguments);

static inline bool arguments_has(const struct arguments *arguments, enum option option)
{
    return arguments->given >> option & 1;
}

/* The sweep of operand 0 under --set and -o. */
int arguments_load_sweep(const struct arguments *arguments, struct sweep *sweep, struct error *error);

#endif
