#ifndef NORMSWEEP_DRIVER_OUTPUT_LEASE_TAKE_H
#define NORMSWEEP_DRIVER_OUTPUT_LEASE_TAKE_H

#include "driver/output/lease_record.h"

/*
 * Creates the lease file `path`, which is absolute, with `self` as its owner, replacing a dead lease. If
 * several processes try at once, on any machines, exactly one succeeds. Returns 0; EBUSY: *holder holds the
 * lease or is taking it (pid 0: unknown); or another errno. *of_folder: no file could be created beside
 * `path`; else `path` itself is at fault.
 */
int lease_file_take(
    const char *path, const struct lease_record *self, struct lease_record *holder, bool *of_folder);

#endif
