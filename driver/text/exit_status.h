#ifndef NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H
#define NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H

#include "model/core/error.h"

/* The exit statuses of the program, the only place where they are explained: X(NAME, status, in short,
 * meaning). Help and reference follow from it. */
#define EXIT_STATUSES(X)                                                                                     \
    X(DONE, 0, "all is well",                                                                                \
        "the command has done what it should; of `run` and `status --wait`: every run has ended, done or "   \
        "diverged, which is a result, too")                                                                  \
    X(RUNS_FAILED, 1, "runs failed",                                                                         \
        "of `run` and `status --wait`: every run has ended, and some have failed, each named with its "      \
        "reason; of `verify`: a run gave other values")                                                      \
    X(INPUT, ERROR_INPUT, "bad input",                                                                       \
        "for you to correct: the command line, the sweep file, its texts, an output that cannot be written " \
        "or is not a dataset of this program, weights, token ids; of `status --wait`: something else has "   \
        "altered the dataset; nothing was begun, or what was trained is kept")                               \
    X(ENVIRONMENT, ERROR_ENVIRONMENT, "trouble with the machine",                                            \
        "MPI, memory, input and output, a full disk, an output that is in use; results are kept, and the "   \
        "same command continues")                                                                            \
    X(STOPPED, 75, "stopped",                                                                                \
        "of `run`: asked to stop, with all runs saved; of `status --wait`: runs are left, and for --limit "  \
        "seconds no process has trained them; run the same command again to continue")                       \
    X(EXPIRED, 124, "not there in time", "of `status --wait`: there was no dataset for --limit seconds")     \
    X(INTERRUPTED, 130, "interrupted",                                                                       \
        "of `run`: ended by a second Ctrl-C; of `status --watch` and `--wait`: by the first")

enum exit_status {
#define X(name, status, ...) STATUS_##name = status,
    EXIT_STATUSES(X)
#undef X
        STATUS_DIFFERENT = STATUS_RUNS_FAILED, /* of `verify`: a run gave other values */
    STATUS_ABANDONED = 76, /* a coordinator tells its launcher: no worker is left; no command ends with it */
};

#define X(...) +1
enum { EXIT_STATUS_COUNT = EXIT_STATUSES(X) };
#undef X

struct exit_status_row {
    int status;
    const char *brief, *meaning;
};
extern const struct exit_status_row exit_status_table[EXIT_STATUS_COUNT]; /* ascending */

#endif
