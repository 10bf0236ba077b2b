#ifndef NORMSWEEP_WORKER_WIRE_LOOP_INSIDE_H
#define NORMSWEEP_WORKER_WIRE_LOOP_INSIDE_H

#include "worker/checkpoint/keeper.h"
#include "worker/wire/loop.h"

/* The state of a worker's loop, for loop.c and loop_setup.c. */

enum { HELD_MAX = 32 };

struct loop {
    struct wire *wire;
    struct setup setup;
    struct seat seat;
    int64_t rank, worker;
    bool contacted; /* the coordinator has sent something. Before its first setup: this rank is a spare */
    unsigned char *pieces; /* of the setup, while it arrives */
    int64_t pieces_come, pieces_total; /* bytes */
    struct corpus corpus;
    struct arena arena;
    struct unigram unigram;
    struct keeper keeper;
    bool ready, quit, together;
    int status; /* valid once quit and together are set */
    struct train_order held[HELD_MAX]; /* held[0] is the current run while `training` */
    int used;
    bool training, stop, drop; /* stop: hand back the current run; drop: without saving it */
    struct run_progress progress; /* of the current run */
    struct metric_form form; /* of its rows */
    double looked, longest; /* time of the last end of a step; longest time between two */
    struct breath breath; /* called while files are read and written */
    double breathed, longest_breath; /* time of the last breath; longest time between two, over all files */
    double polled, reported; /* time of the last poll for messages, and of the last report of progress */
    double begun, spoken, heard; /* times of the hello, the last message sent and the last one received */
    struct message message; /* room for one message, sent or received */
};

/* Returns room for a message of a kind to send; all other bytes are 0. */
struct message *loop_blank(struct loop *loop, enum message_kind kind);

/* Sends the message. Ends the process if the coordinator no longer takes messages. */
void loop_send(struct loop *loop);

/* Ends the process: without a coordinator that it can trust, a worker must neither train nor write. */
_Noreturn void loop_leave(const char *why);

/* Reports a failure after which neither this worker nor the sweep can go on. */
void loop_refuse(struct loop *loop, enum error_status status, const char *why);

/* Call before a file is read or written: breaths then report progress. */
void loop_begin_file(struct loop *loop);

/* Takes a piece of the setup; after the last one, sets the worker up. */
void loop_take_piece(struct loop *loop, const struct setup_piece *piece);

#endif
