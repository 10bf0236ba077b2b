#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_H

#include <stdbool.h>

#include "driver/picture/survey.h"

/* How a sweep stands: what the command `status` prints, once or again and again. */
struct status {
    struct view view;
    struct survey survey;
    bool held; /* a process writes the dataset, or may */
    double written; /* seconds since it was written last; NaN: not known */
};

/* Reads the dataset at a path; `before` and `now` as in survey_make. On failure -1, nothing held. */
int status_read(
    struct status *status, const char *path, const struct survey *before, double now, struct error *error);
void status_release(struct status *status);

/* Are there runs that have not ended, and somebody to end them? */
bool status_is_going(const struct status *status);

/* Prints all there is to say on stdout, as plain lines. */
void status_print(const struct status *status);

#endif
