#ifndef NORMSWEEP_DRIVER_OUTPUT_LEASE_RECORD_H
#define NORMSWEEP_DRIVER_OUTPUT_LEASE_RECORD_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "worker/host/process.h"

/*
 * The inside of a lease file: two records of fixed size, the first its owner's, the second its coordinator's.
 * Each process writes its own alone, with a single write.
 */
enum lease_place { LEASE_OWNER, LEASE_COORDINATOR, LEASE_PLACES };

/* What one process says of itself. */
struct lease_record {
    struct process process;
    long life; /* how many coordinators the owner has started; a coordinator's: which of them it is */
    int stage, status, kept;
    long beat; /* see struct coordinator_news */
};

/* This process, starting. */
struct lease_record lease_record_self(void);

/* A lease file for reading, or for writing too: a plain file alone, no link followed. -1 with errno; ENXIO:
 * something else has the name. */
int lease_file_open(const char *path, bool write);

/* -1: it could not be written. */
int lease_record_put(int file, enum lease_place place, const struct lease_record *record);

/* False: lease_record_put has not written it, or not in full. */
bool lease_record_get(int file, enum lease_place place, struct lease_record *record);

/* Shuts the coordinator's record out: -1 with errno. */
int lease_record_drop_coordinator(int file);

/*
 * Does a process hold the lease in `file`? Who, or who did last, in *holder; pid 0: that cannot be read. One
 * on this machine holds it while it lives. One elsewhere, and one that cannot be read, holds it for
 * LEASE_DEAD_SECONDS after the last write; `now` is the time by the clock of the file system, as far as the
 * caller knows it.
 */
bool lease_file_is_held(int file, time_t now, struct lease_record *holder);

enum { LEASE_DEAD_SECONDS = 60 };

#endif
