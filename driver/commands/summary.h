#ifndef NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H
#define NORMSWEEP_DRIVER_COMMANDS_SUMMARY_H

#include "driver/sweep/sweep.h"

/*
 * Says on stdout what the dataset of a sweep holds now, and on stderr which runs have failed and why.
 * `seconds`: what it took; below 0: nothing was left to do. Returns the exit status that follows from it: 0,
 * 1 when runs have failed, 75 when runs are left, or, with its line on stderr, what a dataset that cannot be
 * read leads to.
 */
int summary_print(const struct sweep *sweep, double seconds);

enum {
    STATUS_DONE = 0,
    STATUS_RUNS_FAILED = 1,
    STATUS_STOPPED = 75,
    STATUS_INTERRUPTED = 130,
    STATUS_ABANDONED = 76, /* from a coordinator to its launcher: it has no worker left */
};

#endif
