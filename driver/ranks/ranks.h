#ifndef NORMSWEEP_DRIVER_RANKS_RANKS_H
#define NORMSWEEP_DRIVER_RANKS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/job/job.h"
#include "driver/output/output.h"
#include "model/core/error.h"
#include "worker/host/host.h"
#include "worker/wire/wire.h"

/*
 * Raises this process's limit of file descriptors, which mpirun inherits, if it is too low for `workers`
 * workers, `spares` spares and a coordinator on this machine. -1 with a message in error: the limit cannot be
 * raised that far.
 */
int descriptors_reserve(int workers, int spares, struct error *error);

/*
 * The ranks of a job besides the coordinator: the machine of each, whether it is alive, and which worker it
 * is. Workers are numbered from 0. A worker keeps its number when a spare, a rank that waits for this, takes
 * its place.
 */
struct peer {
    int address; /* on the wire */
    int worker; /* -1: a spare, a late rank that will be one, or a rank whose place a spare has taken */
    struct process process; /* valid once said_hello */
    char host[HOST_SIZE]; /* "?" before said_hello */
    struct seat seat; /* among the workers of its host; a spare has the one of the worker that it replaces */
    int node; /* number of its machine, in the order of hellos */
    struct peer *next; /* on the same machine, in a ring; NULL before said_hello */
    bool said_hello, ready, here; /* here: on the coordinator's machine */
    bool spare; /* waits for the place of a worker */
    bool was_spare;
    bool bad_hello; /* its first message was not a hello that a process can send */
    bool dead, silent; /* silent: given up, although it may come back */
    bool reported; /* another rank of its machine has found it dead */
    double awaited; /* clock: since when its next message is expected */
    uint64_t ticket; /* of its last report */
    double patience; /* seconds that it may be silent, by its last report */
};

struct peers {
    int ranks;
    struct peer *peer; /* [ranks], by address; the first one is rank 1 */
    int workers, spares; /* spares: that still wait */
    struct peer **worker; /* [workers] the rank of each */
    bool assigned; /* workers and spares are told apart */
    int spares_each; /* that each machine has started with, if it has so many ranks besides a worker */
    char host[HOST_SIZE]; /* the coordinator's */
    int nodes;
    struct peer **node; /* [nodes] the first rank of each machine that has said hello */
    int64_t host_workers, host_ranks; /* on these machines, without the coordinator */
};

/* For the `ranks` besides the coordinator. They have not said hello yet. All functions here take `now` from
 * one clock. */
void peers_init(struct peers *peers, int ranks, int spares_each, double now);
void peers_release(struct peers *peers);

/* Waits some seconds for the hellos of all ranks, then assigns them. */
void peers_await(struct peers *peers, struct wire *wire, double now);

/* The state of the other ranks at the end. */
struct dispatch_end {
    bool together; /* all ranks are alive, so MPI_Finalize is safe */
    bool abandoned; /* no worker is left */
};

/*
 * Runs a job on the assigned ranks behind the wire: their messages become the coordinator's events, its
 * orders become messages and writes. Returns when every run has ended, a signal has stopped all, or the job
 * has failed; by then every rank has been told to quit.
 */
struct dispatch_end dispatch_run(struct job *job, struct wire *wire, struct peers *peers);

/* Tells every rank to quit if no job was begun. */
void dispatch_dismiss(struct wire *wire);

/* The commands that start ranks, for the MPI library with which this program is built. */
enum mpirun_kind { MPIRUN_OPEN_MPI, MPIRUN_HYDRA /* MPICH and what derives from it */, MPIRUN_OTHER };

struct mpirun {
    enum mpirun_kind kind;
    const char *command; /* "mpirun" */
    int release; /* the major release of Open MPI; 0: another MPI */
    const char *hosts; /* the file of hosts that the user has given; NULL: none */
};

/* Does this text of wire_library() name Open MPI? */
bool mpirun_is_open_mpi(const char *library);

/* -1 with a message in error: this program is built with Open MPI, the user is root and the two variables
 * that Open MPI then requires are not set. */
int mpirun_check_root(struct error *error);

/* Checks that Open MPI can create its session folder, in $TMPDIR or /tmp, by creating one (`look`: only by
 * the permissions), and that the disk has room for that of so many ranks. -1 with a message in error: mpirun
 * itself would print pages, or hang. */
int mpirun_check_folder(int ranks, bool look, struct error *error);

/* Checks that mpirun can read its file of hosts. -1 with a message in error. */
int mpirun_check_hosts(const struct mpirun *mpirun, struct error *error);

/* Finds the command on the PATH that belongs to this program's MPI. -1 with a message in error: there is
 * none, or no PATH. */
int mpirun_find(struct mpirun *mpirun, struct error *error);

/* Does a scheduler or a file of hosts tell mpirun which machines to use? */
bool mpirun_has_allocation(const struct mpirun *mpirun);

/* The hosts on which mpirun starts ranks, in its order. */
struct hosts {
    int count; /* 0: unknown */
    struct host {
        char name[HOST_SIZE];
        int slots;
    } * host; /* [count], owned */
};

/* The list of runs to which ranks restrict their sweep: see sweep_keep_chosen. Not set: none. */
#define CHOSEN_VARIABLE "NORMSWEEP_CHOSEN"

/* For the coordinator: how many of the ranks of a host are spares. */
#define SPARES_VARIABLE "NORMSWEEP_SPARES"

/* What the command that launches ranks hands on to them, and records of them. */
struct launch_observer {
    void *context;
    const char *variable; /* of the ranks' environment, whose value is asked for at each start of mpirun */
    const char *(*value)(char *text, size_t size); /* returns text */
    void (*restarts)(void *context, const char *why); /* mpirun is lost and will be started again */
};

/* What is started. */
struct launch {
    struct lease *lease; /* held by this process */
    const char *output; /* the dataset, for messages */
    const struct mpirun *mpirun; /* from mpirun_find */
    int argc; /* the ranks' command line; argv[0] is the command's name */
    char **argv;
    int workers; /* besides a coordinator; 0: as many as the allocation has */
    int spares; /* that each host starts besides its workers */
    struct launch_observer observer;
};

/*
 * Runs this program's command line under mpirun and supervises it: copies its output, forwards signals as
 * SIGUSR1, ends it if it hangs, and restarts it if the coordinator or all workers are lost, up to three times
 * in a row without a result or checkpoint in between. Returns the coordinator's exit status,
 * STATUS_INTERRUPTED after a second SIGINT, or -1 with a message in error. With a status of an error, the
 * last line that the ranks printed, which is on stderr already, is in error, too.
 */
int launcher_run(const struct launch *launch, struct error *error);

/* What a coordinator prints for the launcher if it cannot write its lease. */
#define PUMP_STATUS "normsweep: the coordinator ends with status " /* followed by the number */

/* What has started this process as one of several ranks: mpirun, mpiexec or srun, known by the variables that
 * each of them sets. */
struct starter {
    int rank; /* -1: this process was started plainly */
    int size; /* the number of processes that were started; 0: unknown */
    const char *variable; /* the variable with the rank; NULL: started plainly */
    bool hopeless; /* MPI would end this process with pages of text, because srun was told of no MPI */
};

struct starter starter_find(void);

/*
 * MPI says that there are `size` ranks, 1 if it was not asked. -1 with a message in error: the starter has
 * started more, which MPI does not connect, as they are of another MPI. Each would train the whole sweep.
 */
int starter_check(const struct starter *starter, int size, struct error *error);

/* Says on stderr that `asked` workers (-j; not positive: none were asked for) are not what the starter has
 * decided on, perhaps long ago, before the shell in which this process runs. */
void starter_warn_of_jobs(const char *output, int asked, int workers);

/* Says on stderr why `asked` spares (--spares; not positive: none were asked for) have no effect. */
void starter_warn_of_spares(const char *output, int asked, const char *why);

#endif
