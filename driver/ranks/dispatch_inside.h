#ifndef NORMSWEEP_DRIVER_RANKS_DISPATCH_INSIDE_H
#define NORMSWEEP_DRIVER_RANKS_DISPATCH_INSIDE_H

#include "driver/ranks/dispatch.h"

/* The state of a dispatch, shared by its files. */
struct dispatch {
    struct job *job;
    struct wire *wire;
    struct peers *peers; /* borrowed */
    int lost; /* ranks that ever died or were given up, also those that a spare has replaced */
    unsigned char *setup;
    size_t setup_size;
    struct message in, out;
    const struct result *result; /* of the event being handled */
    char last_words[REASON_SIZE]; /* last log line of the worker that died in this event; "": none */
    int64_t waits; /* how often workers had to wait, when last checked */
    bool told_ready, begun, stopping, finished, abandoned; /* begun: runs are handed out */
    double looked, forgiving; /* forgiving: until this time no run is blamed for a death */
    double clock; /* clock_now() of this round */
    double told_alive; /* clock of the last ALIVE message to every worker */
    /* Listening time in seconds; frozen while this process is paused, so that no worker times out. */
    double now;
};

/* Prints a line on stderr, with the name of the output before it. */
void dispatch_say(const struct dispatch *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Passes an event to the coordinator, with the present time, and carries out its orders. */
void dispatch_tell(struct dispatch *d, struct event event);

struct peer *dispatch_peer(const struct dispatch *d, int worker);

/* Ends a worker that has sent `what`, which cannot be true, and ignores what it still sends. Its runs go to
 * others; the one in training may have done the damage, and is blamed as for a death. */
void dispatch_distrust(struct dispatch *d, int worker, const char *what);

/* A worker has been silent for too long; an order about its run follows. */
void dispatch_note_silence(struct dispatch *d, const struct order *order);

/* Is the worker silent, and may it still be waiting for a slow disk? When it comes back, it has measured how
 * slow the disk is. */
bool dispatch_may_come_back(const struct dispatch *d, const struct peer *peer);

/* Looks for dead workers; their runs go to others. */
void dispatch_bury(struct dispatch *d);

/* Gives the places of lost workers to spares if there are runs that no worker is training. */
void dispatch_replace(struct dispatch *d);

/* Sends a rank what it needs before its first order. */
void dispatch_set_up(struct dispatch *d, const struct peer *peer);

#endif
