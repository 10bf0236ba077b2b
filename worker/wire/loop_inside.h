#ifndef NORMSWEEP_WORKER_WIRE_LOOP_INSIDE_H
#define NORMSWEEP_WORKER_WIRE_LOOP_INSIDE_H

#include "worker/checkpoint/keeper.h"
#include "worker/wire/loop.h"

/* The inside of a worker's life, for the files of which it consists. */

enum { HELD_MAX = 16 };

struct loop {
    struct wire *wire;
    struct setup setup;
    struct seat seat;
    int64_t number;
    unsigned char *pieces; /* of the setup, while it arrives */
    int64_t pieces_come;
    struct corpus corpus;
    struct arena arena;
    struct keeper keeper;
    bool ready, quit, together;
    struct train_order held[HELD_MAX]; /* held[0] is the one that trains, while `training` */
    int used;
    bool training, stop, drop; /* stop: the run that trains is to be handed back; drop: without saving it */
    struct run_progress progress; /* of the run that trains */
    double looked, longest; /* when it last came to a step's end, and the longest time between two */
    struct breath breath; /* while files are read and written */
    double breathed, longest_breath; /* the same of its breaths, over all files */
    double polled, reported; /* the last look for messages, word of the run's progress */
    double spoken, heard; /* the last word sent, and heard of the coordinator */
    struct message message; /* room for one, in either direction */
};

/* Room for a message to be sent, of a kind, all else 0. */
struct message *loop_blank(struct loop *loop, enum message_kind kind);

/* Sends it. Ends the process where the coordinator takes no messages any more. */
void loop_send(struct loop *loop);

/* A line for the user. */
void loop_say(struct loop *loop, const char *line);

/* Neither this worker nor the sweep can go on. */
void loop_refuse(struct loop *loop, enum error_status status, const char *why);

/* How far the run is, and how many seconds may pass until the next word. */
void loop_progress(struct loop *loop, double patience);

/* A file is about to be read or written: from now on breaths are words. */
void loop_begin_file(struct loop *loop);

/* A piece of the setup has come. */
void loop_take_piece(struct loop *loop, const struct setup_piece *piece);

#endif
