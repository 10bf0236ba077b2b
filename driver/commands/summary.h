#ifndef NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H
#define NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H

#include "driver/sweep/sweep.h"
#include "driver/text/exit_status.h"

/*
 * Prints the outcomes of a sweep on stdout, and on stderr which runs failed and why. `seconds`: duration of
 * the sweep; below 0: there was nothing left to do. Returns the exit status: 0, 1 if runs failed, 75 if runs
 * are left; -1 with the error set if the dataset cannot be read.
 */
int summary_print(const struct sweep *sweep, double seconds, struct error *error);

#endif
