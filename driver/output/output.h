#ifndef NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H
#define NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "driver/text/text.h"
#include "model/core/breath.h"
#include "model/core/error.h"
#include "worker/host/host.h"

/* The folder's path. The caller frees it; NULL: no memory. */
char *folder_of(const char *output);

/* The folder in it for states of shorter runs, likewise. */
char *folder_states(const char *output);

/*
 * For an output whose runs have all ended: removes their checkpoints and marks, and the logs of workers, from
 * any start of the program, and `with_states` also what runs have left for others; keeps final weights and
 * the logs of failed runs. Removes the folder if it is then empty. -1: ERROR_ENVIRONMENT.
 */
int folder_clear(const char *output, bool with_states, struct error *error);

/* Renames the folder after its output was renamed to OUT.nc.old; replaces an earlier OUT.nc.old.d. -1:
 * ERROR_ENVIRONMENT. */
int folder_set_aside(const char *output, struct error *error);

/*
 * Moves the files of runs, but not the states for longer ones, to the folder of the output `old`, which is
 * made if it does not exist; nothing without such files. If it was interrupted, it may be repeated. -1:
 * ERROR_ENVIRONMENT.
 */
int folder_move_runs(const char *output, const char *old, struct error *error);

/* Which file lies at a path, for processes of one machine; inode 0: unknown. Signed, for records of text. */
struct output_file {
    long long device, inode;
};

/*
 * The absolute path of an output, with all links followed, so that the dataset and its lease have one name
 * however they are reached. The output need not exist, nor the target of the last link. 0, and the caller
 * frees the path; or an errno, and it is NULL.
 */
int output_resolve(const char *path, char **whole);

/* The folder in which an output lies or will be created: the one in its path, or if the path is a link, that
 * of the link's target. The caller frees it; NULL: unknown. */
char *output_folder(const char *path);

/* After an errno: must the user choose another path? All other errors are the machine's. */
bool output_is_at_fault(int cause);

/* The errno with which creating a file in a folder would fail; 0: no reason is known. */
int output_folder_fault(const char *folder);

/*
 * What is at a path? *kind is its file type, 0 if there is nothing. Returns 0, or the errno with which that
 * is unknown. Only ENOENT and ENOTDIR mean nothing: a file that a server or disk hides for a moment must not
 * be overwritten.
 */
int output_kind(const char *path, mode_t *kind);

/*
 * The path of a new file that is to be renamed to `path` once it is whole: beside it, with the number of this
 * process. Nothing is there, not even what a killed process of this number has left. Create it with O_EXCL:
 * another machine may have such a process, too. 0, and the caller frees the path; or an errno, and it is
 * NULL.
 */
int output_fresh(const char *path, char **new);

/* Renames a new file to a path that does not exist. 0 or an errno; EEXIST: the path exists and is left alone.
 */
int output_name(const char *new, const char *path);

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

/* Does any process on any machine hold the lease of an output? True if that is unknown: *unknown is the errno
 * that says why, otherwise 0. Writes nothing, so the age of a lease from another machine is measured by this
 * machine's clock. */
bool lease_is_held(const char *output, int *unknown);

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
