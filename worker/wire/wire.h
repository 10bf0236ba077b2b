#ifndef NORMSWEEP_WORKER_WIRE_WIRE_H
#define NORMSWEEP_WORKER_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/corpora/corpora.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

enum { HOST_SIZE = 64 };

/* What every worker needs before its first order. */
struct setup {
    struct corpus_source source;
    struct digest corpus; /* what the worker loads must be what the coordinator has loaded */
    struct measure measure;
    struct starts starts;
    int64_t threads; /* of every run; 0: they differ */
    char *folder; /* of checkpoints, final weights and logs */
    int64_t session; /* of the dataset */
    double checkpoint_seconds; /* between two of a run */
    char host[HOST_SIZE]; /* the coordinator's */
    char mark[MARK_SIZE]; /* in the folder */
};

/* The setup as bytes, which the caller frees; NULL without memory. */
unsigned char *setup_encode(const struct setup *setup, size_t *size);

/*
 * The wire between coordinator (rank 0) and workers: small point-to-point messages that never block. A dead
 * process simply stays silent. Messages are smaller than MPI's eager limit (4 KiB in shared memory), above
 * which both ends would wait for each other; longer data are sent in pieces.
 */
enum message_kind {
    MESSAGE_DAMAGED, /* what wire_receive makes of a message that nobody can have sent */
    MESSAGE_HELLO, /* worker: has started */
    MESSAGE_SETUP, /* coordinator: a piece of what setup_encode made */
    MESSAGE_READY, /* worker: set up, waiting for orders */
    MESSAGE_FAILED, /* worker: the sweep cannot continue */
    MESSAGE_NOTE, /* worker: a line for the user */
    MESSAGE_ORDER, /* coordinator: train this run after those you have */
    MESSAGE_STOP, /* coordinator: hand back an order, or everything */
    MESSAGE_QUIT, /* coordinator: end */
    MESSAGE_NEIGHBOURS, /* coordinator: ranks of your host, at which to look from time to time */
    MESSAGE_ALIVE, /* coordinator: is alive. Before the first MESSAGE_SETUP: the rank is a spare */
    MESSAGE_LOSS, /* worker or spare: one of these ranks is dead */
    MESSAGE_PROGRESS, /* worker: the step of its run; ticket 0: is alive */
    MESSAGE_CHECKPOINT, /* worker: has saved its run, or the state that it shares */
    MESSAGE_ROW, /* worker: a piece of a row of measurements */
    MESSAGE_RESULT, /* worker: the end of its run. The last kind */
};

enum { PIECE_BYTES = 3072, PIECE_VALUES = 384, NEIGHBOURS_MOST = 32 };

/* A place among the ranks of a machine (in a hello) or among its workers (in a setup), which selects
 * processors. Negative: unknown. */
struct seat {
    int64_t number, count;
};

struct hello {
    struct process process;
    struct seat seat;
};

struct setup_piece {
    struct seat seat; /* to take: its own, or that of the lost worker that it replaces */
    int64_t rank, worker; /* its numbers for its log, both from 1 */
    int64_t total, offset, count; /* bytes */
    unsigned char bytes[PIECE_BYTES]; /* `count` of them are sent */
};

struct train_order {
    uint64_t ticket;
    int64_t cell;
    struct run run;
    struct digest digest; /* of the run: names its files */
    struct digest trunk; /* if it shares states with other runs; see keeper_share */
    int64_t shares;
    int64_t resume; /* the run was begun before and may have a checkpoint */
};

struct stop {
    uint64_t ticket; /* 0: everything */
    int64_t save; /* save the run in training first: no other worker has it yet */
};

struct quit {
    int64_t together; /* all ranks are alive: end with MPI_Finalize */
    int64_t save; /* as in stop */
    int64_t status; /* to exit with, if together */
};

struct neighbours {
    int64_t count;
    struct neighbour {
        int64_t address, pid;
        uint64_t start; /* of its process; see struct process */
    } rank[NEIGHBOURS_MOST]; /* `count` of them are sent */
};

struct lost_rank {
    int64_t address;
};

/* A failure that no other worker could avoid: it ends the sweep. */
struct failure {
    int64_t status; /* of enum error_status */
    char text[REASON_SIZE];
};

struct run_progress {
    uint64_t ticket;
    int64_t step, last_step; /* step -1: not begun; the next step reported is where the run begins */
    int64_t tokens; /* trained on so far */
    double patience; /* seconds until the next message, at most; 0: unknown */
};

struct run_checkpoint {
    uint64_t ticket;
    int64_t kept; /* the state that it shares with other runs, not a checkpoint of its own */
};

struct row_piece {
    uint64_t ticket;
    int64_t step;
    int64_t offset, count; /* values */
    double values[PIECE_VALUES]; /* `count` of them are sent */
};

struct run_result {
    uint64_t ticket;
    struct result result;
};

struct message {
    int64_t kind;
    union {
        struct hello hello;
        struct setup_piece setup;
        char text[REASON_SIZE];
        struct failure failure;
        struct train_order order;
        struct stop stop;
        struct quit quit;
        struct neighbours neighbours;
        struct lost_rank lost;
        struct run_progress progress;
        struct run_checkpoint checkpoint;
        struct row_piece row;
        struct run_result result;
    } as;
};

struct wire;

/* Starts MPI. NULL if that fails. */
struct wire *wire_open(int *argc, char ***argv);

/* Ends MPI. `together`: all ranks do so and none has died, as MPI_Finalize waits for each of them; if one
 * dies at that moment, the process exits with `status` after a while. Otherwise the caller must leave by
 * _exit. */
void wire_close(struct wire *wire, bool together, int status);

bool wire_is_coordinator(const struct wire *wire);
int wire_size(const struct wire *wire); /* all ranks */

/* "Open MPI v4.1.4, ..." or "MPICH 4.0.2", in static memory. May be called before wire_open, and without it.
 */
const char *wire_library(void);

/* The length of its beginning that names the library and its version: "Open MPI v4.1.4". */
int wire_library_name(void);

/* Copies the message, which is whole, and sends it without waiting. */
void wire_send(struct wire *wire, int address, const struct message *message);

/* The next message that has arrived; false if there is none. It is whole, or of kind MESSAGE_DAMAGED. */
bool wire_receive(struct wire *wire, int *address, struct message *message);

/* The process is dead: nothing more is sent to it, and nothing waits for messages under way to it. */
void wire_forget(struct wire *wire, int address);

/*
 * The loop of a worker: says hello, receives its setup, trains the runs that it is ordered to, and reports,
 * until it is told to quit. Closes the wire. Returns the exit status of the process, or calls _exit if MPI
 * cannot be finalised.
 */
int worker_loop(struct wire *wire);

#endif
