#ifndef NORMSWEEP_DRIVER_RANKS_DISPATCH_INSIDE_H
#define NORMSWEEP_DRIVER_RANKS_DISPATCH_INSIDE_H

#include "driver/ranks/dispatch.h"
#include "driver/ranks/peers.h"
#include "driver/ranks/replace.h"

/* The inside of a dispatch, for the files of which it consists. */
struct dispatch {
    struct job *job;
    struct wire *wire;
    struct peers peers;
    struct replacements replacements;
    int hellos, lost; /* lost: workers that are dead or were given up, ever */
    unsigned char *setup;
    size_t setup_size;
    struct message in, out;
    const struct result *result; /* of the event that is handled */
    char last_words[REASON_SIZE]; /* of the worker that was lost in this event; "": none */
    int64_t waits; /* of workers, at the last look */
    bool told_ready, stopping, finished, abandoned;
    double looked, forgiving; /* forgiving: until then a death is laid to no run */
    double clock; /* clock_now() of this round */
    double told_alive; /* clock: the last word to every worker */
    double now; /* seconds since the begin; stands while this process does not listen: nobody is silent */
};

/* A line for the user, with the name of the output before it. */
void dispatch_say(const struct dispatch *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An event for the coordinator, at the present time; its orders are obeyed. */
void dispatch_tell(struct dispatch *d, struct event event);

struct peer *dispatch_peer(struct dispatch *d, int worker);

/* Looks for workers that are dead; what they trained goes to others. */
void dispatch_bury(struct dispatch *d);

/* Gives one of the dead a new process while there are more runs than the others train. */
void dispatch_replace(struct dispatch *d);

#endif
