#ifndef NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H
#define NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H

#include "driver/sweep/sweep.h"
#include "driver/text/exit_status.h"

/*
 * Says on stdout what the dataset of a sweep holds now, and on stderr which runs have failed and why.
 * `seconds`: what it took; below 0: nothing was left to do. Returns the exit status that follows from it: 0,
 * 1 when runs have failed, 75 when runs are left, or, with its line on stderr, what a dataset that cannot be
 * read leads to.
 */
int summary_print(const struct sweep *sweep, double seconds);

#endif
