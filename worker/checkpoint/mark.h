#ifndef NORMSWEEP_WORKER_CHECKPOINT_MARK_H
#define NORMSWEEP_WORKER_CHECKPOINT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/error.h"

/*
 * A coordinator's mark: an empty file in the folder of checkpoints that exists as long as its workers may
 * write there. A worker that never sees the mark is on a host with another folder of that name; a worker that
 * no longer sees it has outlived its sweep. Each start has its own mark.
 */
enum { MARK_SIZE = 48 };

/* Makes the folder and the mark, and writes its name to `mark`; removes marks of dead coordinators. -1:
 * ERROR_ENVIRONMENT. */
int mark_leave(const char *folder, int64_t session, char mark[MARK_SIZE], struct error *error);

/* 0 if the mark exists, ENOENT if not, or another errno. */
int mark_look(const char *folder, const char *mark);

/* The same, but waits so many seconds for a mark that cannot be seen yet. */
int mark_await(const char *folder, const char *mark, double seconds);

/* Writes the mark again if it was removed, and renews its time stamp, so that cleaners of old files spare it.
 */
void mark_renew(const char *folder, const char *mark);

/* Removes the mark. Does nothing for an empty name. */
void mark_remove(const char *folder, const char *mark);

/* Removes all marks from the folder, which dead coordinators have left. */
void mark_sweep(const char *folder);

#endif
