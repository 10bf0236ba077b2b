#ifndef NORMSWEEP_DRIVER_COMMANDS_INSIDE_H
#define NORMSWEEP_DRIVER_COMMANDS_INSIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "driver/commands/commands.h"
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/output/output.h"
#include "driver/ranks/ranks.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"
#include "model/core/error.h"
#include "worker/host/host.h"

/*
 * The options of all commands: X(OPTION, letter, word, value, store, help). A command takes the options whose
 * bits are in its row of the command table; all commands take --help and --version. `store` says where struct
 * arguments keeps the value: FLAG, TEXT(field), TEXTS(field) for an option that may be repeated,
 * NUMBER(field, of what, least, most) or TIME(field, of what). Each option has its own field.
 */
#define OPTIONS(X)                                                                                           \
    X(OUTPUT, 'o', "output", "OUT.nc", TEXT(output),                                                         \
        "the dataset (default: output in the sweep file; for inspect: none)")                                \
    X(JOBS, 'j', "jobs", "N", NUMBER(jobs, "a number of workers", 0, 1000000),                               \
        "number of workers (default: as many as the available cores allow); 0 runs without MPI")             \
    X(SPARES, 0, "spares", "N", NUMBER(spares, "a number of spares", 0, 1000),                               \
        "ranks that each host starts besides its workers, to take the place of lost ones (default: 1; "      \
        "under an mpirun of your own: 0)")                                                                   \
    X(HOSTS, 0, "hosts", "FILE", TEXT(hosts),                                                                \
        "train on the hosts of FILE, a host file of mpirun: on all their slots, unless -j is given")         \
    X(SET, 0, "set", "KEY=VALUE", TEXTS(setting), "override a key with any YAML value; null removes it")     \
    X(FRESH, 0, "fresh", NULL, FLAG, "start over; an existing dataset is renamed to OUT.nc.old")             \
    X(DRY_RUN, 0, "dry-run", NULL, FLAG, "say what would be done, and write and train nothing")              \
    X(RETRY_FAILED, 0, "retry-failed", NULL, FLAG, "repeat failed runs")                                     \
    X(RUNS, 'n', "runs", "N", NUMBER(runs, "a number of runs", 1, 1000000000),                               \
        "number of finished runs to train again (default: one in a hundred, at least one)")                  \
    X(BUDGET, 0, "budget", "TIME", TIME(budget, "a time such as 90m or 1h30m"),                              \
        "save all runs and end after TIME, as after a signal: 5400 or 5400s, 90m, 1h30m, 2d")                \
    X(PART, 0, "part", "I/N", TEXT(part),                                                                    \
        "only every N-th run from the I-th on, into OUT.parts/I-of-N.nc; together they are the sweep")       \
    X(ONLY, 0, "only", "NAME=VALUE", TEXTS(only),                                                            \
        "train only the runs with this value of an axis, the others later; separate several by commas; "     \
        "repeat it for more runs")                                                                           \
    X(LOG, 0, "log", "FILE", TEXT(log), "append what happens to FILE: one JSON object a line")               \
    X(WATCH, 0, "watch", NULL, FLAG, "keep showing the status until the sweep has ended")                    \
    X(WAIT, 0, "wait", NULL, FLAG, "wait until the sweep has ended; the exit status says how")               \
    X(LIMIT, 0, "limit", "SECONDS", NUMBER(limit, "a number of seconds", 0, INT_MAX),                        \
        "how long to wait for a dataset that is not there, or that no process trains (default: 60)")         \
    X(VALUES, 0, "values", NULL, FLAG, "print values for scripts: key=value, times in seconds")              \
    X(AT, 0, "at", "NAME=VALUE", TEXTS(at),                                                                  \
        "only this value of an axis, or with show of step, layer, head...; separate several by commas")      \
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
    int argc;
    char **argv; /* the command's name first */
    unsigned given; /* a bit per option */
    const char *operand[OPERANDS_MOST];
    int operand_count;
    const char *output, *tokens, *over, *log, *hosts, *part; /* NULL: not given */
    int jobs, spares; /* -1: not given */
    int runs, context, threads, budget; /* 0: not given; budget: seconds */
    int mask, sentinel, limit; /* valid if given */
    struct texts setting, at, only;
};

/* What an option's value is stored as. */
enum store_kind {
    STORE_FLAG, /* no value */
    STORE_TEXT, /* const char * */
    STORE_TEXTS, /* struct texts */
    STORE_NUMBER, /* int */
    STORE_TIME, /* int, seconds */
};

struct option_row {
    const char *word;
    const char *value; /* placeholder in usage lines; NULL: no value */
    const char *help;
    char letter; /* 0: none */
    enum store_kind kind;
    size_t offset; /* in struct arguments; unused for flags */
    const char *of; /* numbers and times: what it takes, "a number of workers" */
    int least, most; /* the same: bounds, both included */
};

extern const struct option_row option_table[OPTION_COUNT];

_Static_assert(OPTION_COUNT <= 8 * sizeof(unsigned), "a bit of `given` per option");

/*
 * Parses argv[1 .. argc-1]: the options of the command and those of every command, in any order among its
 * operands; "--" ends the options. With --help or --version fewer operands are accepted. -1 with a message in
 * error, nothing to release.
 */
int arguments_parse(
    struct arguments *arguments, const struct command *command, int argc, char **argv, struct error *error);
void arguments_release(struct arguments *arguments);

static inline bool arguments_has(const struct arguments *arguments, enum option option)
{
    return arguments->given >> option & 1;
}

/* Prints an error on stderr; returns its exit status. */
int command_fail(const struct error *error);

/* Prints all commands: a usage line and a line of help for each. */
void command_overview(void);

/* Is the option in the command's row, or --help? */
bool command_takes(const struct command *command, enum option option);

/* Prints the help of a command: usage, description, options. */
void command_page(const struct command *command);

/* Prints all tables as one JSON object. */
void help_json(void);

/* The forms of a list in a sweep file, in lines; when a group is measured: "in every sweep". */
extern const char help_lists[];
const char *help_measured(enum metric_group group);

/* The parts of a start, all zeros but for the arguments before they are there. */
struct start {
    const struct arguments *arguments; /* borrowed */
    int argc;
    char **argv; /* command line of ranks, the command's name first */
    struct sweep sweep;
    struct corpus corpus;
    struct lease *lease;
    struct journal *journal; /* NULL: there is no log */
    double begun; /* clock */
    struct breath breath; /* called while texts are read; beats on the lease for the launcher */
    struct mpirun mpirun; /* to start ranks with; command NULL: not looked for yet */
    bool held; /* this start has had the lease: whatever happens then happens to the sweep */
    bool quiet; /* says nothing on stdout of how it trains */
};

/* Loads the sweep file that is operand 0, with --set and -o applied. -1 with the error set. */
int start_load(struct start *start, struct error *error);

/* Loads the sweep, and opens the log, which must not be one of the sweep's own files. If the sweep cannot be
 * loaded, the log tells so. -1 with the error set. */
int start_begin(struct start *start, struct error *error);

/* Loads the texts, with signs of life on the lease if it is held. -1 with the error set. */
int start_load_corpus(struct start *start, struct error *error);

/* What to do with an existing output, by the arguments. */
struct dataset_options start_options(const struct start *start);

/* Takes the lease, and creates or extends the dataset as the sweep needs. Returns the number of pending runs,
 * or -1. */
int64_t start_open_output(struct start *start, struct error *error);

/* Writes the last line of the log while the lease is still held, so that the next start finds it written;
 * none after a second Ctrl-C. Then gives the lease up. */
void start_tell_end(struct start *start, int status, const struct error *error);

void start_release(struct start *start);

/* As many workers as requested, or as the cores allow, but no more than there are runs. 0: as the allocation
 * has. */
int launching_workers(const struct start *start, int64_t pending);

/* The ranks that each host starts besides its workers; 0 with MPICH, whose mpiexec ends all ranks if one
 * dies. Valid once launching_prepare has found mpirun. */
int launching_spares(const struct start *start);

/* Prepares for so many runs: finds mpirun, and reserves descriptors for the ranks. -1 with the error set. */
int launching_prepare(struct start *start, int64_t pending, struct error *error);

/* Checks what a sweep on ranks needs before anything is written; `look`: without writing anything for it. A
 * finished sweep needs none of it. -1 with the error set. */
int launching_check(struct start *start, bool look, struct error *error);

/*
 * Trains what is pending at the output of a start that has its sweep and its corpus, here or on ranks that it
 * starts. Takes the lease. Returns the exit status, or -1; *pending: runs that were left, valid unless it
 * is -1.
 */
int run_output(struct start *start, int64_t *pending, struct error *error);

/*
 * `run --dry-run`: goes through the checks of a start in their order, and prints what the start would do with
 * the dataset and with each kind of run, on which workers. Writes no file and takes no lease. Returns an exit
 * status, 0 if it would train something, else that with which `run` would end at once; or -1 with its error.
 */
int dry_run(struct start *start, const struct starter *starter, struct error *error);

/*
 * Prints one line on stdout about how a sweep will train: workers (0: as many as the allocation has),
 * threads, BLAS kernel, vector level, and a warning if there are more threads than processors. `here`: all
 * workers share the processors of this process; otherwise each worker has as many as this process. Then the
 * remarks on the sweep, on stderr.
 */
void report_start(const struct sweep *sweep, int workers, bool here);

/*
 * Prints the outcomes of a sweep on stdout, and on stderr which runs failed and why. `seconds`: duration of
 * the sweep; below 0: there was nothing left to do. Returns the exit status: 0, 1 if runs failed, 75 if runs
 * are left; -1 with the error set if the dataset cannot be read.
 */
int report_end(const struct sweep *sweep, double seconds, struct error *error);

/* Opens a dataset and reads its outcomes [view->cells]. The caller frees them and closes the view; NULL with
 * the error set, and nothing to release. */
signed char *outcomes_read(struct view *view, const char *path, struct error *error);

#endif
