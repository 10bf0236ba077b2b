#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_H

#include <stdbool.h>

#include "driver/picture/survey.h"

/* The state of a sweep, which the command `status` prints. */
struct status {
    struct view view;
    struct survey survey;
    bool held; /* a process writes the dataset, or may */
    double written; /* seconds since the last write; NaN: unknown */
};

/* Reads the dataset at a path; `before` and `now` as in survey_make. -1: an error, nothing to release. */
int status_read(
    struct status *status, const char *path, const struct survey *before, double now, struct error *error);
void status_release(struct status *status);

/* Are there runs that have not ended, and a process that may train them? */
bool status_is_going(const struct status *status);

/* Prints the status on stdout as plain lines. */
void status_print(const struct status *status);

#endif
