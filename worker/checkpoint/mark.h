#ifndef NORMSWEEP_WORKER_CHECKPOINT_MARK_H
#define NORMSWEEP_WORKER_CHECKPOINT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/error.h"

/*
 * A coordinator's mark: an empty file in the folder of checkpoints for as long as its workers may write
 * there. A worker that does not see it is on a host that has another folder of that name; one that sees it no
 * more has outlived its sweep. Each start has a mark of its own.
 */
enum { MARK_SIZE = 48 };

/* Makes the folder and the mark, whose name goes to `mark`; removes those of coordinators that are gone. -1:
 * ERROR_ENVIRONMENT. */
int mark_leave(const char *folder, int64_t session, char mark[MARK_SIZE], struct error *error);

/* Is it there? 0 or an errno; ENOENT: no. */
int mark_look(const char *folder, const char *mark);

/* Leaves it again where somebody has removed it, and makes it look new to those who remove old files. */
void mark_renew(const char *folder, const char *mark);

/* Takes it away. An empty name: there is none. */
void mark_remove(const char *folder, const char *mark);

/* Removes all marks from the folder: of coordinators that are gone. */
void mark_sweep(const char *folder);

#endif
