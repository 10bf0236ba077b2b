#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H

#include <stdbool.h>

#include "model/core/error.h"

/*
 * Shows the status repeatedly until the sweep has ended or no process runs it: with `json` as one object a
 * line, else as a picture that is redrawn on a terminal, and elsewhere as blocks of plain lines. Returns the
 * exit status, which is 130 after SIGINT; -1 with a message in error.
 */
int status_watch(const char *path, bool json, struct error *error);

#endif
