#ifndef NORMSWEEP_DRIVER_COMMANDS_START_H
#define NORMSWEEP_DRIVER_COMMANDS_START_H

#include "driver/commands/launching.h"
#include "driver/output/journal.h"
#include "driver/output/lease.h"

/* Resources of one start of `run`. */
struct start {
    int argc;
    char **argv; /* the command's name first */
    struct arguments arguments;
    struct sweep sweep;
    struct corpus corpus;
    struct lease *lease;
    struct journal *journal; /* NULL: there is no log */
    double begun; /* clock */
    struct breath breath; /* called while texts are read; beats on the lease for the launcher */
    bool has_sweep, has_corpus;
    bool held; /* this start has had the lease: whatever happens then happens to the sweep */
    struct launching launching; /* of ranks */
};

/* Loads the sweep, and opens the log, which must not be one of the sweep's own files. If the sweep cannot be
 * loaded, the log tells so. -1 with the error set. */
int start_begin(struct start *start, struct error *error);

/* Joins the lease that a launcher has taken. -1 with the error set. */
int start_join(struct start *start, const char *token, struct error *error);

/* -1 with the error set. */
int start_load_corpus(struct start *start, struct error *error);

/* Takes the lease, and creates or extends the dataset as the sweep needs. Returns the number of pending runs,
 * or -1. */
int64_t start_open_output(struct start *start, struct error *error);

/* Writes the last line of the log while the lease is still held, so that the next start finds it written;
 * none after a second Ctrl-C. Then gives the lease up. */
void start_tell_end(struct start *start, int status, const struct error *error);

/* The same for a start that ends with an error before it has read its sweep. */
void start_tell_refusal(struct start *start, int status, const struct error *error);

void start_release(struct start *start);

#endif
