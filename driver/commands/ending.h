#ifndef NORMSWEEP_DRIVER_COMMANDS_ENDING_H
#define NORMSWEEP_DRIVER_COMMANDS_ENDING_H

#include "driver/output/journal.h"

/* How a `run` ended, for its log and for its --notify. */
struct ending {
    const char *script; /* of --notify; NULL: none */
    struct journal *journal; /* NULL: none */
    const char *output; /* the dataset, which need not exist; NULL: unknown */
    int status; /* the exit status */
    bool refused; /* it never had the lease */
    bool own; /* it has the lease now */
    const char *message; /* the error, or "" */
    double seconds; /* since the start */
    char *text; /* [size] for the script, made by ending_log */
    size_t size;
};

/*
 * Both are called once, by the process that the user has started, or under another's mpirun by the
 * coordinator. Neither does anything after a second Ctrl-C, with which the user wants an end at once.
 */

/* Surveys the dataset and writes the last line of the log. If this process has the lease, it must still hold
 * it: another's numbers would be told, and in another's lines. */
void ending_log(struct ending *ending);

/* Runs the script with what ending_log has found, after the lease was given up. Frees the text. */
void ending_notify(struct ending *ending);

#endif
