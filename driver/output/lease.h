#ifndef NORMSWEEP_DRIVER_OUTPUT_LEASE_H
#define NORMSWEEP_DRIVER_OUTPUT_LEASE_H

#include <stdbool.h>

#include "driver/output/output.h"
#include "model/core/breath.h"
#include "model/core/error.h"
#include "worker/host/process.h"

/*
 * The right to write an output: a file OUT.nc.lease beside it. Its first record belongs to the process that
 * took the lease, its second to the coordinator that this process started; the lease is alive while either
 * process is. Both renew it every 10 s. The lease is dead when both processes are gone, if they ran on this
 * machine, and otherwise 60 s after the last renewal, by the clock of the file system; lease_take.c describes
 * how another process then takes it. The second record also tells a launcher about its coordinator, since
 * mpirun does not pass on exit statuses reliably.
 */
struct lease;

#define LEASE_RENEW_SECONDS 10

enum coordinator_stage {
    STAGE_NONE, /* no coordinator has joined */
    STAGE_STARTING, /* some ranks are still starting; a signal would kill those without a handler */
    STAGE_READY,
    STAGE_ENDED, /* with `status` */
};

struct coordinator_news {
    enum coordinator_stage stage;
    int status;
    bool dead; /* it ran on this machine and is gone, without STAGE_ENDED */
    bool kept; /* it has written something durable: a result or a checkpoint */
    long beat; /* increases with every lease_beat and lease_renew */
    struct process process;
};

/*
 * Takes the lease of an output. On failure -1: ERROR_ENVIRONMENT if the output is in use, ERROR_INPUT if its
 * folder cannot be written.
 */
int lease_take(struct lease **lease, const char *output, struct error *error);

/* Would lease_take succeed, as far as that can be told without writing? On failure -1, with its error. */
int lease_look(const char *output, struct error *error);

/* Does any process on any machine hold the lease of an output? True if that is unknown, with an errno; with 0
 * a process holds it. Writes nothing, so the age of a lease from another machine is measured by this
 * machine's clock. */
bool lease_is_held(const char *output);

/*
 * For the launcher, before it starts a coordinator: clears the record of an earlier coordinator, which can no
 * longer renew the lease even if it is still alive, and notes which file is at the output. -1: the lease was
 * lost, or cannot be written.
 */
int lease_begin_life(struct lease *lease, struct error *error);

/* What a coordinator needs to join: the launcher passes it as LEASE_VARIABLE in the environment. Valid for
 * the life that lease_begin_life began last. */
#define LEASE_VARIABLE "NORMSWEEP_LEASE"
const char *lease_token(const struct lease *lease);

/* The file that the launcher found at the output when it began the life of this coordinator. Unknown without
 * a launcher, and if the launcher is on another machine, where files may have other numbers. */
struct output_file lease_file(const struct lease *lease);

/* Joins the lease that a launcher has taken. On failure -1: ERROR_ENVIRONMENT if the launcher no longer holds
 * it or the life is over. */
int lease_join(struct lease **lease, const char *output, const char *token, struct error *error);

/*
 * Renews the lease from a thread of its own until lease_release, even while the caller is busy or waits for a
 * disk. If no thread can be created, only lease_renew renews it.
 */
void lease_keep(struct lease *lease);

/* Counts a sign of progress, which the next renewal writes. Cheap. */
void lease_beat(struct lease *lease);

/* Slow work that calls lease_beat. */
struct breath lease_breath(struct lease *lease);

/*
 * Checks and renews the lease. Call it at least every LEASE_RENEW_SECONDS, and after a pause before writing
 * anything. If it fails, nothing may be written any more: LEASE_TAKEN: another process holds the lease; -1:
 * its file is gone or cannot be reached.
 */
enum { LEASE_TAKEN = -2 };
int lease_renew(struct lease *lease, struct error *error);

/* For the coordinator that joined: tells its launcher how it stands. -1: it could not be written. */
int lease_tell(struct lease *lease, enum coordinator_stage stage, int status);
void lease_tell_kept(struct lease *lease);

/* The process that took the lease. */
struct process lease_owner(const struct lease *lease);

/* For a coordinator that joined: is its launcher alive? True if the launcher is on another machine. */
bool lease_owner_lives(const struct lease *lease);

/* For the launcher: what its coordinator has told. */
struct coordinator_news lease_news(const struct lease *lease);

/* Gives up the lease; the process that took it removes the file. Takes NULL. */
void lease_release(struct lease *lease);

#endif
