#ifndef NORMSWEEP_WORKER_WIRE_MESSAGE_H
#define NORMSWEEP_WORKER_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "worker/host/process.h"
#include "worker/run/run.h"
#include "worker/train/train.h"
#include "worker/wire/setup.h"

/*
 * The wire between coordinator (rank 0) and workers: small messages, point to point, never waiting. Whoever
 * is dead is simply not heard of; a message stays below the size from which MPI makes both ends wait for each
 * other (4 KiB in shared memory), and longer things are sent in pieces.
 */
enum message_kind {
    MESSAGE_HELLO = 1, /* worker: here I am */
    MESSAGE_SETUP, /* coordinator: a piece of what setup_encode made */
    MESSAGE_READY, /* worker: set up, waiting for orders */
    MESSAGE_FAILED, /* worker: neither it nor the sweep can go on */
    MESSAGE_NOTE, /* worker: a line for the user */
    MESSAGE_ORDER, /* coordinator: train this after what you have */
    MESSAGE_STOP, /* coordinator: hand back an order, or everything */
    MESSAGE_QUIT, /* coordinator: end */
    MESSAGE_ALIVE, /* coordinator: still here */
    MESSAGE_PROGRESS, /* worker: how far its run is, and that it lives; ticket 0: that alone */
    MESSAGE_CHECKPOINT, /* worker: its run is saved */
    MESSAGE_ROW, /* worker: a piece of a row of measurements */
    MESSAGE_RESULT, /* worker: how its run ended */
};

enum { PIECE_BYTES = 3072, PIECE_VALUES = 384 };

/* Where a worker sits among those of its machine: which processors are its own. */
struct seat {
    int64_t number, count;
};

struct hello {
    struct process process;
    struct seat seat;
};

struct setup_piece {
    struct seat seat; /* that it is to take: its own, or that of the dead worker it replaces */
    int64_t worker; /* its number, as users know it */
    int64_t total, offset, count; /* bytes */
    unsigned char bytes[PIECE_BYTES]; /* `count` of them are sent */
};

struct train_order {
    uint64_t ticket;
    int64_t cell;
    struct run run;
    struct digest digest; /* of the run: names its files */
    int64_t resume; /* it was begun before: there may be a checkpoint */
};

struct stop {
    uint64_t ticket; /* 0: everything */
    int64_t save; /* the run that trains is saved first: it is nobody else's yet */
};

struct quit {
    int64_t together; /* all ranks are alive: end MPI as it should be */
    int64_t save; /* as in stop */
};

/* What no worker can do anything about. */
struct failure {
    int64_t status; /* of enum error_status */
    char text[REASON_SIZE];
};

struct run_progress {
    uint64_t ticket;
    int64_t step, last_step; /* step -1: it has not begun; the first after that is where it begins */
    int64_t tokens; /* trained on so far */
    double patience; /* seconds until the next word, at the most; 0: cannot be told */
};

struct run_checkpoint {
    uint64_t ticket;
    int64_t step; /* that it goes on from */
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
        struct run_progress progress;
        struct run_checkpoint checkpoint;
        struct row_piece row;
        struct run_result result;
    } as;
};

struct wire;

/*
 * Whom a message goes to or comes from: 0 is the coordinator, 1 .. wire_size - 1 are the workers that were
 * started with it, further numbers those that it has spawned.
 */
enum { ADDRESS_COORDINATOR = 0 };

/* Starts MPI. NULL when it cannot be. */
struct wire *wire_open(int *argc, char ***argv);

/* Ends MPI; `together`: all ranks do so and none has died, as MPI_Finalize waits for every one. Should one
 * die just then, the process ends itself with `status` after a while. Without, it has to leave by _exit. */
void wire_close(struct wire *wire, bool together, int status);

bool wire_is_coordinator(const struct wire *wire);
int wire_size(const struct wire *wire); /* the coordinator and the workers that were started with it */

/* "Open MPI v4.1.4 ...", in static memory. May be called before wire_open, and without it. */
const char *wire_library(void);

/* Copies the message and sends it without waiting. */
void wire_send(struct wire *wire, int address, const struct message *message);

/* The next message that has arrived; false when there is none. One that is malformed is dropped. */
bool wire_receive(struct wire *wire, int *address, struct message *message);

/* Waits until at most `most` of the messages sent are still under way; false: `seconds` have passed. */
bool wire_drain(struct wire *wire, size_t most, double seconds);

/* Who is dead gets nothing more, and nobody waits for what is under way to it. */
void wire_forget(struct wire *wire, int address);

/*
 * For the coordinator: starts one more process of the program `argument[0]` (a path) with the arguments after
 * it [ends with NULL], on a host, while this one goes on. One at a time; false when it cannot be begun.
 */
bool wire_spawn(struct wire *wire, const char *host, char **argument);

enum wire_spawned { SPAWN_NONE, SPAWN_UNDER_WAY, SPAWN_DONE, SPAWN_FAILED };

/* What has become of it; SPAWN_DONE gives its address, once. */
enum wire_spawned wire_spawned(struct wire *wire, int *address);

#endif
