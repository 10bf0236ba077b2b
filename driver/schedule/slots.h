#ifndef NORMSWEEP_DRIVER_SCHEDULE_SLOTS_H
#define NORMSWEEP_DRIVER_SCHEDULE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/schedule/chain.h"

enum { SLOT_NONE = -1 };

/* A ticket that a worker holds; run SLOT_NONE: taken away, but not yet handed back. */
struct slot {
    uint64_t ticket;
    int64_t run;
};

/* The tickets that workers hold, each worker's in the order of training. */
struct slots {
    int workers, each;
    struct slot *slot; /* [workers][each] */
    int *used; /* [workers] */
    struct chain holders; /* workers with a run ahead that others can take over */
    int64_t runs; /* in all slots */
    int64_t training; /* in first slots */
    uint64_t ticket; /* the last one given */
};

/* -1: no memory; slots_release is still allowed. */
int slots_init(struct slots *slots, int workers, int each);
void slots_release(struct slots *slots);

/* The first slot of a worker. */
struct slot *slots_of(const struct slots *slots, int worker);

/* The index of a worker's slot with this ticket; SLOT_NONE: it has none. */
int slots_find(const struct slots *slots, int worker, uint64_t ticket);

/* The last slot of a worker that holds a run ahead. */
int slots_last(const struct slots *slots, int worker);

/* Is there a run in the worker's first slot? */
bool slots_train(const struct slots *slots, int worker);

/* Gives a worker a run, under a new ticket. The worker has a free slot. */
struct slot slots_give(struct slots *slots, int worker, int64_t run);

/* Takes the run of a slot away; the ticket stays. Returns the slot as it was. */
struct slot slots_void(struct slots *slots, int worker, int at);

/* Removes a slot, whose ticket was handed back, or all slots, which hold no runs. */
struct slot slots_remove(struct slots *slots, int worker, int at);
void slots_clear(struct slots *slots, int worker);

#endif
