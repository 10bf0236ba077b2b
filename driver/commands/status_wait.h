#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_WAIT_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_WAIT_H

#include <stdbool.h>

#include "model/core/error.h"

/* Seconds without a process that holds the dataset, after which waiting ends unless --limit says otherwise.
 */
enum { WAIT_LIMIT = 60 };

/*
 * Returns when the sweep has ended: its runs, and the process that trained them. Prints its status then, with
 * `json` as one object. For up to `limit` seconds also waits for a dataset that is not there yet, and for a
 * stopped sweep to be continued. Returns the exit status: 0, 1 if runs failed, 75 if the sweep was stopped
 * for so long, 124 if the dataset was missing for so long (with a line on stderr), 130 after SIGINT; -1 with
 * a message in error.
 */
int status_wait(const char *path, double limit, bool json, struct error *error);

#endif
