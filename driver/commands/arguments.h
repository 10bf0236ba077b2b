#ifndef NORMSWEEP_DRIVER_COMMANDS_ARGUMENTS_H
#define NORMSWEEP_DRIVER_COMMANDS_ARGUMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver/sweep/sweep.h"
#include "model/core/error.h"

/*
 * The options of all commands: X(OPTION, letter, word, value, store, help). A command takes the options whose
 * bits are in its row of the command table; all commands take --help and --version. `store` says where struct
 * arguments keeps the value: FLAG, TEXT(field), TEXTS(field) for an option that may be repeated, or
 * NUMBER(field, of what, least, most). Each option has its own field.
 */
#define OPTIONS(X)                                                                                           \
    X(OUTPUT, 'o', "output", "OUT.nc", TEXT(output),                                                         \
        "the dataset (default: output in the sweep file; for inspect: none)")                                \
    X(JOBS, 'j', "jobs", "N", NUMBER(jobs, "a number of workers", 0, 1000000),                               \
        "number of workers (default: as many as the available cores allow); 0 runs without MPI")             \
    X(SPARES, 0, "spares", "N", NUMBER(spares, "a number of spares", 0, 1000),                               \
        "ranks that each host starts besides its workers, to take the place of lost ones (default: 1; "      \
        "under an mpirun of your own: 0)")                                                                   \
    X(SET, 0, "set", "KEY=VALUE", TEXTS(setting), "override a key with any YAML value; null removes it")     \
    X(FRESH, 0, "fresh", NULL, FLAG, "start over; an existing dataset is renamed to OUT.nc.old")             \
    X(DRY_RUN, 0, "dry-run", NULL, FLAG, "say what would be done, and write and train nothing")              \
    X(RETRY_FAILED, 0, "retry-failed", NULL, FLAG, "repeat failed runs")                                     \
    X(RUNS, 'n', "runs", "N", NUMBER(runs, "a number of runs", 1, 1000000000),                               \
        "number of finished runs to train again (default: one in a hundred, at least one)")                  \
    X(LOG, 0, "log", "FILE", TEXT(log), "append what happens to FILE: one JSON object a line")               \
    X(WATCH, 0, "watch", NULL, FLAG, "keep showing the status until the sweep has ended")                    \
    X(WAIT, 0, "wait", NULL, FLAG, "wait until the sweep has ended; the exit status says how")               \
    X(LIMIT, 0, "limit", "SECONDS", NUMBER(limit, "a number of seconds", 0, INT_MAX),                        \
        "how long to wait for a dataset that is not there, or that no process trains (default: 60)")         \
    X(VALUES, 0, "values", NULL, FLAG,                                                                       \
        "print values for scripts: key=value, times in seconds; for inspect: a table with tabs")             \
    X(AT, 0, "at", "NAME=VALUE", TEXTS(at),                                                                  \
        "draw one value of an axis, or of step, layer, head...; separate several by commas")                 \
    X(OVER, 0, "over", "X[,Y]", TEXT(over), "the axes to draw")                                              \
    X(TOKENS, 0, "tokens", "IDS", TEXT(tokens), "file of token ids; also measure what needs a text")         \
    X(CONTEXT, 0, "context", "T", NUMBER(context, "a number of tokens", 1, 1 << 20),                         \
        "tokens per window of the text (default: the model's context, at most 1024)")                        \
    X(THREADS, 0, "threads", "N", NUMBER(threads, "a number of threads", 1, 1024),                           \
        "number of threads (default: one per available core)")                                               \
    X(LINES, 0, "lines", NULL, FLAG, "each line of IDS is a sequence of its own")                            \
    X(MASK, 0, "mask", "ID", NUMBER(mask, "a token id", 0, INT_MAX),                                         \
        "id of the mask token; also measure an encoder's loss on masked words")                              \
    X(SENTINEL, 0, "sentinel", "ID", NUMBER(sentinel, "a token id", 0, INT_MAX),                             \
        "id of the first sentinel, for text of an encoder-decoder; the next ones count down")                \
    X(STATES, 0, "states", NULL, FLAG, "also write the states of the first sequences to OUT.nc")             \
    X(JSON, 0, "json", NULL, FLAG,                                                                           \
        "print JSON for scripts: of status, one object (with --watch, one a line); of inspect, the "         \
        "dataset; of help, all tables")                                                                      \
    X(SCHEMA, 0, "schema", NULL, FLAG,                                                                       \
        "print a JSON Schema of sweep files, by which editors complete and check")                           \
    X(HELP, 'h', "help", NULL, FLAG, "show this help")                                                       \
    X(VERSION, 'V', "version", NULL, FLAG, "show the version")

enum option {
#define X(option, letter, word, value, store, help) OPTION_##option,
    OPTIONS(X)
#undef X
        OPTION_COUNT,
};

/* What an option's value is stored as. */
enum store_kind {
    STORE_FLAG, /* no value */
    STORE_TEXT, /* const char * */
    STORE_TEXTS, /* struct texts */
    STORE_NUMBER, /* int */
};

struct option_store {
    enum store_kind kind;
    size_t offset; /* in struct arguments; unused for flags */
    const char *of; /* STORE_NUMBER: what it takes, "a number of workers" */
    int least, most; /* STORE_NUMBER: bounds, both included */
};

struct option_row {
    char letter; /* 0: none */
    const char *word;
    const char *value; /* placeholder in usage lines; NULL: no value */
    struct option_store store;
    const char *help;
};

extern const struct option_row option_table[OPTION_COUNT];

_Static_assert(OPTION_COUNT <= 8 * sizeof(unsigned), "a bit of `given` per option");

#define OPTION_BIT(option) (1u << OPTION_##option)
#define OPTIONS_ALWAYS (OPTION_BIT(HELP) | OPTION_BIT(VERSION))

enum { OPERANDS_MOST = 2 };

/* The values of a repeated option, in order. The array is owned, its texts are argv's. */
struct texts {
    const char **text; /* [count] */
    int count;
};

/* A parsed command line. All strings are argv's. */
struct arguments {
    unsigned given; /* a bit per option */
    const char *operand[OPERANDS_MOST];
    int operand_count;
    const char *output; /* -o; NULL: not given */
    int jobs, spares; /* -1: not given */
    int runs; /* -n; 0: not given */
    const char *tokens; /* NULL: not given */
    int context, threads; /* 0: not given */
    int mask, sentinel; /* valid if given */
    struct texts setting, at;
    const char *over; /* NULL: not given */
    const char *log; /* NULL: not given */
    int limit; /* valid if given */
};

/*
 * Parses argv[1 .. argc-1] for the command named argv[0]: the options in `allowed` and those of every
 * command, in any order among `least` to `most` operands; "--" ends the options. With --help or --version
 * fewer operands are accepted. -1 with a message in error, nothing to release.
 */
int arguments_parse(struct arguments *arguments, int argc, char **argv, unsigned allowed, int least, int most,
    struct error *error);
void arguments_release(struct arguments *arguments);

static inline bool arguments_has(const struct arguments *arguments, enum option option)
{
    return arguments->given >> option & 1;
}

/* Loads the sweep file that is operand 0, with --set and -o applied. */
int arguments_load_sweep(const struct arguments *arguments, struct sweep *sweep, struct error *error);

/* The number of processes that train at once for a command without MPI: -j, or as many as the processors
 * allow; at least 1. */
int arguments_workers(const struct arguments *arguments, const struct sweep *sweep);

#endif
