#ifndef NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H
#define NORMSWEEP_DRIVER_TEXT_EXIT_STATUS_H

/* What the program tells by how it ends, beside enum error_status. */
enum {
    STATUS_DONE = 0,
    STATUS_RUNS_FAILED = 1,
    STATUS_STOPPED = 75,
    STATUS_INTERRUPTED = 130,
    STATUS_ABANDONED = 76, /* from a coordinator to its launcher: it has no worker left */
};

#endif
