#ifndef NORMSWEEP_DRIVER_RANKS_INSIDE_H
#define NORMSWEEP_DRIVER_RANKS_INSIDE_H

#include <netinet/in.h>
#include <sys/types.h>

#include "driver/ranks/ranks.h"

/*
 * Tells workers from spares: the last `spares_each` ranks of a machine are spares, but one of its ranks is
 * always a worker. Ranks that have not said hello become workers until each machine has its number of
 * workers; the rest become spares when they say hello.
 */
void peers_assign(struct peers *peers);

/* Has every rank sent its first message? */
bool peers_are_there(const struct peers *peers);

/* The rank at an address; NULL: none. */
struct peer *peers_at(const struct peers *peers, int64_t address);

/* Records the hello of a rank. */
void peers_hello(struct peers *peers, struct peer *peer, const struct hello *hello, double now);

/* Records that a rank has sent a message. */
void peers_hear(struct peer *peer, double now);

/* Lets a spare of the same machine that is alive take the place of a worker, whose old rank then is not a
 * worker any more. NULL: there is none. */
struct peer *peers_replace(struct peers *peers, int worker, double now);

/*
 * Is a rank dead? True if its process on this machine is gone, if another rank of another machine says so of
 * one there, if it does not say hello in time, or if a worker falls silent before it is ready. For other
 * workers the coordinator has deadlines.
 */
bool peer_is_dead(const struct peer *peer, double now);

/* The variable that names a file of hosts for Open MPI's mpirun; "none" there: none. */
const char *mpirun_hostfile_variable(const struct mpirun *mpirun);

/* What Open MPI's mpirun prints of the ranks that it would start with no number of them given: one for each
 * slot of an allocation. Starts nothing; takes a fifth of a second. The caller frees it; NULL: nothing. */
char *mpirun_map(const struct mpirun *mpirun);

/* Are the networks of Open MPI left open, in the environment and in files of parameters? Where the user has
 * chosen one, another choice beside it could be an error. Takes a third of a second. */
bool mpirun_may_set_network(void);

/* Tells Open MPI 4 where its session folders are to be. */
#define SESSION_VARIABLE "OMPI_MCA_orte_tmpdir_base"

/* The folder in which Open MPI creates its session folders. Sets *variable to the name of the environment
 * variable that chooses it, "" if none does. Borrowed. */
const char *mpirun_folder(const char **variable);

/* The host of this process alone, without a limit of ranks. */
struct hosts hosts_here(void);

/* The hosts of an allocation or a hostfile, as mpirun itself finds them: from its map. NULL: unknown. */
struct hosts hosts_parse(const char *map);

/* All slots, at most INT_MAX. */
int hosts_slots(const struct hosts *hosts);

void hosts_release(struct hosts *hosts);

/*
 * How many ranks to start in all, so that there is a coordinator on the first host, `workers` workers (0: as
 * the slots allow), and on each host that has a worker `spares` more. mpirun fills the slots of one host
 * after the other, and shares the ranks beyond them out evenly. 0: unknown.
 */
int hosts_ranks(const struct hosts *hosts, int workers, int spares);

enum { NETWORK_SIZE = INET_ADDRSTRLEN + 4 };

/* Writes the IPv4 network "10.77.0.0/24" of an interface of this host in which all other hosts are, by their
 * names. False: there is none. */
bool hosts_network(const struct hosts *hosts, char network[NETWORK_SIZE]);

/*
 * Can this be true of the run of a cell? A worker whose memory is damaged, or that runs another program, may
 * say anything; what it says must not get into the dataset, and must not let the coordinator fail. A cell
 * below 0: the message is not about a run.
 */
bool plausible_progress(const struct job *job, int64_t cell, const struct run_progress *progress);
bool plausible_row(const struct job *job, int64_t cell, const struct row_piece *row);
bool plausible_result(const struct job *job, int64_t cell, const struct result *result);

/* Can a process have introduced itself like this? */
bool plausible_hello(const struct hello *hello);

enum { PUMP_LINE = 4096, PUMP_NOISE = 8192, PUMP_BLOCK_LINES = 40 };

/*
 * Copies the output of a child line by line. With `quiet`, mpirun's own messages are held back, so that they
 * do not hide the one line that matters: blocks between dashed (or, MPICH's, double-dashed) lines (at most
 * PUMP_BLOCK_LINES long, as the closing line may be missing), and errors of its daemons when a rank has died.
 */
struct pump {
    int from, to;
    bool quiet, ended;
    bool in_block; /* between two dashed lines */
    char line[PUMP_LINE]; /* not yet complete */
    size_t length;
    int status; /* from a PUMP_STATUS line, which is not copied; -1: none yet */
    char last[PUMP_LINE]; /* the last line that was copied and is not blank, without its end; "": none */
    int block_lines;
    char noise[PUMP_NOISE]; /* the beginning of what was held back */
    size_t noise_length;
};

/* The pump takes ownership of `from`. */
void pump_init(struct pump *pump, int from, int to, bool quiet);

/* Copies the available lines without waiting. */
void pump_move(struct pump *pump);

/* The same, and an incomplete last line; nothing is read after that. */
void pump_finish(struct pump *pump);

/* Writes what was held back. */
void pump_tell_noise(struct pump *pump);

/*
 * The ranks on this machine as their launcher sees them: descendants of the command that it started, through
 * any number of wrapper scripts, that run this program.
 */
struct rank_processes {
    pid_t command; /* the command that was started */
    bool proxied; /* ranks are children of a proxy, and that one of mpirun: with MPICH */
    pid_t mpirun; /* started the ranks, or their proxy; equal to command until a rank is seen */
    struct process mpirun_process; /* the same, distinguishable from later processes with its pid */
    int ranks; /* number of live ranks; -1: the system does not tell */
    int most; /* largest number of ranks seen at once */
    double grown; /* clock: when `most` last grew */
    char *session; /* path of mpirun's folder; NULL: unknown */
    unsigned long job; /* its number; 0: unknown */
    bool release_5; /* the names are those of Open MPI 5 */
};

void rank_processes_init(struct rank_processes *ranks, pid_t command, bool proxied, double now);

/* Updates the struct from the process table. Takes some milliseconds. */
void rank_processes_look(struct rank_processes *ranks, double now);

/*
 * While ranks are starting: has a rank died, or are some of the `expected` ranks (0: unknown) overdue? The
 * other ranks would wait for them in MPI_Init forever. The answer may change, as a late rank may still come.
 */
bool rank_processes_lost(const struct rank_processes *ranks, int expected, double now);

/* Removes what a killed mpirun has left on this machine: its files and the shared memory of its ranks.
 * Only after the command and its ranks are gone, and as the last call. */
void rank_processes_tidy(struct rank_processes *ranks);

#endif
