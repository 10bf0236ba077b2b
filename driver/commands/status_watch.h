#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H

#include "model/core/error.h"

/*
 * Shows the status repeatedly until the sweep has ended or no process runs it: as a picture that is redrawn
 * on a terminal, otherwise as blocks of plain lines. Returns the exit status, which is 130 after SIGINT; -1
 * with a message in error.
 */
int status_watch(const char *path, struct error *error);

#endif
