#ifndef NORMSWEEP_DRIVER_OUTPUT_LEASE_H
#define NORMSWEEP_DRIVER_OUTPUT_LEASE_H

#include <stdbool.h>

#include "model/core/error.h"
#include "worker/host/process.h"

/*
 * The right to write an output: a file OUT.nc.lease beside it. Its first record is of the process that took
 * it, its second of a coordinator that this process started; a lease is alive while either is. Both renew it
 * every 10 s; it is dead once both processes are gone, where they ran on this machine, and otherwise 60 s
 * after the last renewal, by the clock of the file system (lease_take.c says how it changes hands). The
 * second record is also how a launcher hears of its coordinator, whose exit status mpirun does not pass on
 * reliably.
 */
struct lease;

#define LEASE_RENEW_SECONDS 10

enum coordinator_stage {
    STAGE_NONE, /* none has joined */
    STAGE_STARTING, /* its ranks are not all there: a signal would kill those without a handler */
    STAGE_READY,
    STAGE_ENDED, /* with `status` */
};

struct coordinator_news {
    enum coordinator_stage stage;
    int status;
    bool dead; /* it was on this machine and is gone without having ended */
    bool kept; /* something it has written is there for good: a result, a checkpoint */
    long beat; /* goes on with every lease_beat and lease_renew */
    struct process process;
};

/*
 * Takes the lease of an output. On failure -1: ERROR_ENVIRONMENT when it is in use, ERROR_INPUT when its
 * folder cannot be written.
 */
int lease_take(struct lease **lease, const char *output, struct error *error);

/* Does any process, on whatever machine, hold the lease of an output? True where that cannot be told. Writes
 * nothing: the age of a lease from another machine is by this one's clock. */
bool lease_is_held(const char *output);

/*
 * For the launcher, before it starts a coordinator: forgets what one that is gone has told, and shuts it out
 * should it still write. -1: the lease was lost, or cannot be written.
 */
int lease_begin_life(struct lease *lease, struct error *error);

/* What a coordinator needs to join: to be handed over as LEASE_VARIABLE in its environment. Of the life that
 * was begun last. */
#define LEASE_VARIABLE "NORMSWEEP_LEASE"
const char *lease_token(const struct lease *lease);

/* Joins the lease that a launcher has taken: ERROR_ENVIRONMENT when it is no longer that launcher's, or the
 * life is over. */
int lease_join(struct lease **lease, const char *output, const char *token, struct error *error);

/*
 * Renews it from a thread of its own until it is released, however long this one is busy or waits for a disk.
 * Without memory for a thread, lease_renew is all there is.
 */
void lease_keep(struct lease *lease);

/* Says that this process goes on, which is told with the next renewal. Cheap. */
void lease_beat(struct lease *lease);

/* Checks and renews; to be called at least every LEASE_RENEW_SECONDS, and after a pause before anything is
 * written. -1: another process has taken it; nothing may be written any more. */
int lease_renew(struct lease *lease, struct error *error);

/* For the coordinator that joined: what its launcher is to know. */
int lease_tell(struct lease *lease, enum coordinator_stage stage, int status); /* -1: it cannot be told */
void lease_tell_kept(struct lease *lease);

/* For a coordinator that joined: does its launcher live? True where it is on another machine. */
bool lease_owner_lives(const struct lease *lease);

/* For the launcher. */
struct coordinator_news lease_news(const struct lease *lease);

/* Gives the lease up: who took it removes the file. Takes NULL. */
void lease_release(struct lease *lease);

#endif
