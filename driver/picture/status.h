#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_H

#include <stdbool.h>

#include "driver/picture/survey.h"
#include "worker/checkpoint/set.h"

/* The state of a sweep, which the command `status` prints. */
struct status {
    struct view view;
    struct survey survey;
    bool held; /* a process writes the dataset, or may */
    char *fault; /* what run would refuse; NULL: nothing */
    char *folder; /* of `saved`; NULL: the sweep is not stopped */
    struct checkpoint_set saved; /* runs that were under way; the next start resumes them */
    double written; /* seconds since the last write; NaN: unknown */
};

/* Reads the dataset at a path; `before` and `now` as in survey_make. -1: an error, nothing to release. */
int status_read(
    struct status *status, const char *path, const struct survey *before, double now, struct error *error);

/* The same for the process that holds the lease, once it trains nothing any more: the dataset counts as free.
 */
int status_read_own(struct status *status, const char *path, double now, struct error *error);
void status_release(struct status *status);

/*
 * The state in one word. running: a process holds the dataset, to train or to begin or end the sweep; no
 * process does otherwise. altered: there is a fault. stopped: runs are left. failed: all runs have ended, and
 * some failed. complete: all have ended, and none failed.
 */
const char *status_state(const struct status *status);

/* Are there runs that have not ended, and a process that may train them? */
bool status_is_going(const struct status *status);

/* Prints the status on stdout as plain lines. -1: some could not be read, and are not printed. */
int status_print(const struct status *status, struct error *error);

#endif
