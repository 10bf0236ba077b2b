#ifndef NORMSWEEP_DRIVER_OUTPUT_LEASE_TAKE_H
#define NORMSWEEP_DRIVER_OUTPUT_LEASE_TAKE_H

#include "driver/output/lease_record.h"

/*
 * Makes a file at `path` that holds `self` as its owner, in the place of one whose holder is dead. However
 * many processes try at once, on whatever machines, one of them succeeds. 0; EBUSY: *holder holds it, or
 * takes it just now (pid 0: it cannot be told who); or another errno.
 */
int lease_file_take(const char *path, const struct lease_record *self, struct lease_record *holder);

#endif
