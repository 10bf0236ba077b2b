#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_WATCH_H

#include "model/core/error.h"

/*
 * Follows a sweep until it has ended or nobody is at it, on a terminal by a picture that is drawn anew, else
 * by blocks of plain lines. The exit status, which is 130 after SIGINT; -1: error.
 */
int status_watch(const char *path, struct error *error);

#endif
