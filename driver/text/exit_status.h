#ifndef NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H
#define NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H

/* Exit statuses, in addition to those of enum error_status. */
enum {
    STATUS_DONE = 0,
    STATUS_RUNS_FAILED = 1,
    STATUS_DIFFERENT = 1, /* of `verify`: a run gave other values */
    STATUS_STOPPED = 75,
    STATUS_INTERRUPTED = 130,
    STATUS_ABANDONED = 76, /* a coordinator tells its launcher: no worker is left */
};

#endif
