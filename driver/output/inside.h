#ifndef NORMSWEEP_DRIVER_OUTPUT_INSIDE_H
#define NORMSWEEP_DRIVER_OUTPUT_INSIDE_H

#include <stdbool.h>
#include <time.h>

#include "driver/output/output.h"

/*
 * The contents of a lease file: two records of fixed size, first the owner's, then the coordinator's. Each
 * process writes only its own record, with a single write.
 */
enum lease_role { LEASE_OWNER, LEASE_COORDINATOR };

/* The state of one process. */
struct lease_record {
    struct process process;
    long life; /* the number of coordinators started so far; in a coordinator's record, its own number */
    int stage, status, kept;
    long beat; /* see struct coordinator_news */
    struct output_file file; /* of an owner: see lease_file */
};

/* A record of this process, all else 0. */
struct lease_record lease_record_self(void);

/* Opens a lease file for reading, or also for writing; must be a regular file, links are not followed. The
 * descriptor; or -1, and *cause is an errno; ENXIO: the path is something else. */
int lease_file_open(const char *path, bool write, int *cause);

/* These return 0 or an errno. */
int lease_record_put(int file, enum lease_role role, const struct lease_record *record);

int lease_record_get(
    int file, enum lease_role role, struct lease_record *record); /* ENODATA: missing, or incomplete */
int lease_record_drop_coordinator(int file);

/*
 * Does a process hold the lease in `file`? *holder is the process, or the last one; pid 0: the record cannot
 * be read. A process on this machine holds the lease while it lives. A process elsewhere, or one whose record
 * cannot be read, holds it for LEASE_DEAD_SECONDS after the last write; `now` is the caller's best estimate
 * of the file system's clock.
 */
bool lease_file_is_held(int file, time_t now, struct lease_record *holder);

enum { LEASE_DEAD_SECONDS = 60 };

/*
 * Creates the lease file `path`, which is absolute, with `self` as its owner, replacing a dead lease. If
 * several processes try at once, on any machines, exactly one succeeds. Returns 0; EBUSY: *holder holds the
 * lease or is taking it (pid 0: unknown); or another errno. *of_folder: no file could be created beside
 * `path`; else `path` itself is at fault.
 */
int lease_file_take(
    const char *path, const struct lease_record *self, struct lease_record *holder, bool *of_folder);

#endif
