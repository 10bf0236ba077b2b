#ifndef NORMSWEEP_DRIVER_STATUS_INSIDE_H
#define NORMSWEEP_DRIVER_STATUS_INSIDE_H

#include <stdbool.h>

#include "driver/status/status.h"

/*
 * `held`: a process writes the dataset, or may. `before`: an earlier survey of the same dataset, which knows
 * when each run's last row was first seen; NULL: none. `now`: seconds on any clock. The view must outlive the
 * survey. -1: an error, nothing to release.
 */
int survey_make(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error);

/* The number of runs that will have been trained in the end: `runs`, or while a search chooses among them,
 * its estimate. */
double survey_expected(const struct survey *survey);

/* Also accepts a survey that is all zeros. */
void survey_release(struct survey *survey);

/*
 * The state in one word. running: a process holds the dataset, to train or to begin or end the sweep; no
 * process does otherwise. altered: there is a fault. stopped: runs are left. failed: all runs have ended, and
 * some failed. complete: all have ended, and none failed.
 */
const char *status_state(const struct status *status);

/*
 * The state of a sweep for scripts. docs/status.schema.json describes the object; a change that existing
 * readers could trip over raises STATUS_JSON_VERSION.
 */
enum { STATUS_JSON_VERSION = 1 };

#endif
