#ifndef NORMSWEEP_WORKER_MESSAGE_H
#define NORMSWEEP_WORKER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/digest.h"
#include "worker/run.h"
#include "worker/setup.h"
#include "worker/train.h"

/*
 * The wire between coordinator (rank 0) and workers: small messages, point to point, never waiting. Whoever
 * is dead is simply not heard of; a message stays below the size from which MPI makes both ends wait for each
 * other (4 KiB in shared memory), and longer things are sent in pieces.
 */
enum message_kind {
    MESSAGE_HELLO = 1, /* worker: here I am */
    MESSAGE_SETUP, /* coordinator: a piece of what setup_encode made */
    MESSAGE_READY, /* worker: set up, waiting for orders */
    MESSAGE_REFUSED, /* worker: cannot be set up, `text` says why */
    MESSAGE_ORDER, /* coordinator: train this after what you have */
    MESSAGE_STOP, /* coordinator: hand back the order of `ticket`; 0: everything */
    MESSAGE_QUIT, /* coordinator: end */
    MESSAGE_PROGRESS, /* worker: how far its run is, and that it lives */
    MESSAGE_ROW, /* worker: a piece of a row of measurements */
    MESSAGE_RESULT, /* worker: how its run ended */
};

enum { PIECE_BYTES = 3072, PIECE_VALUES = 384 };

struct hello {
    int64_t pid;
    char host[HOST_SIZE];
};

struct setup_piece {
    int64_t total, offset, count; /* bytes */
    unsigned char bytes[PIECE_BYTES]; /* `count` of them are sent */
};

struct train_order {
    uint64_t ticket;
    int64_t cell;
    struct run run;
    struct digest digest; /* of the run: names its files */
};

struct quit {
    int64_t together; /* all ranks are alive: end MPI as it should be */
};

struct run_progress {
    uint64_t ticket;
    int64_t step, last_step;
    int64_t tokens; /* trained on so far */
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
        struct train_order order;
        uint64_t ticket; /* STOP */
        struct quit quit;
        struct run_progress progress;
        struct row_piece row;
        struct run_result result;
    } as;
};

struct wire;

/* Starts MPI. NULL when it cannot be. */
struct wire *wire_open(int *argc, char ***argv);

/* Ends MPI; `together`: all ranks do so and none has died, as MPI_Finalize waits for every one. Without,
 * the process has to leave by _exit. */
void wire_close(struct wire *wire, bool together);

int wire_rank(const struct wire *wire);
int wire_size(const struct wire *wire);

/* "Open MPI v4.1.4 ...", in memory of the wire. */
const char *wire_library(const struct wire *wire);

/* Copies the message and sends it without waiting. */
void wire_send(struct wire *wire, int rank, const struct message *message);

/* The next message that has arrived; false when there is none. One that is malformed is dropped. */
bool wire_receive(struct wire *wire, int *rank, struct message *message);

/* Waits until at most `most` of the messages sent are still under way, or `seconds` have passed. */
void wire_drain(struct wire *wire, size_t most, double seconds);

#endif
