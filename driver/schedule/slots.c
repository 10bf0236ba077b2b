/*
 * Which tickets each worker holds: the first slot is the run that it trains, the others are runs ahead. A
 * ticket whose run was taken away stays until the worker hands it back, so that the worker is known to be
 * busy and its late messages find no run. coordinator.c gives, voids and removes slots.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int slots_init(struct slots *slots, int workers, int each)
{
    *slots = (struct slots){
        .workers = workers,
        .each = each,
        .slot = calloc((size_t)(workers + 1) * (size_t)each, sizeof(*slots->slot)),
        .used = calloc((size_t)workers + 1, sizeof(*slots->used)),
    };
    return chain_init(&slots->holders, workers) == 0 && slots->slot && slots->used ? 0 : -1;
}

void slots_release(struct slots *slots)
{
    chain_release(&slots->holders);
    free(slots->slot);
    free(slots->used);
    *slots = (struct slots){0};
}

struct slot *slots_of(const struct slots *slots, int worker)
{
    INVARIANT(worker >= 0 && worker < slots->workers, "worker %d of %d", worker, slots->workers);
    return &slots->slot[(size_t)worker * (size_t)slots->each];
}

int slots_find(const struct slots *slots, int worker, uint64_t ticket)
{
    const struct slot *slot = slots_of(slots, worker);

    for (int i = 0; i < slots->used[worker]; i++)
        if (slot[i].ticket == ticket)
            return i;
    return SLOT_NONE;
}

int slots_last(const struct slots *slots, int worker)
{
    const struct slot *slot = slots_of(slots, worker);
    int at = slots->used[worker] - 1;

    while (at > 0 && slot[at].run == SLOT_NONE)
        at--;
    INVARIANT(at > 0, "worker %d is a holder without a run ahead", worker);
    return at;
}

bool slots_train(const struct slots *slots, int worker)
{
    return slots->used[worker] > 0 && slots_of(slots, worker)[0].run != SLOT_NONE;
}

/* Keeps the worker in the chain of holders exactly while another can take over one of its runs ahead. */
static void note_holder(struct slots *slots, int worker)
{
    const struct slot *slot = slots_of(slots, worker);
    bool holds = false;

    for (int i = 1; i < slots->used[worker]; i++)
        holds = holds || slot[i].run != SLOT_NONE;
    if (holds)
        chain_append(&slots->holders, worker);
    else
        chain_remove(&slots->holders, worker);
}

struct slot slots_give(struct slots *slots, int worker, int64_t run)
{
    struct slot *slot = &slots_of(slots, worker)[slots->used[worker]];

    INVARIANT(slots->used[worker] < slots->each, "worker %d holds %d", worker, slots->used[worker]);
    INVARIANT(run >= 0, "run %" PRId64 " for worker %d", run, worker);
    *slot = (struct slot){++slots->ticket, run};
    slots->runs++;
    slots->training += slots->used[worker]++ == 0;
    note_holder(slots, worker);
    return *slot;
}

struct slot slots_void(struct slots *slots, int worker, int at)
{
    struct slot *slot = slots_of(slots, worker);

    INVARIANT(at >= 0 && at < slots->used[worker], "slot %d of %d", at, slots->used[worker]);
    struct slot before = slot[at];
    INVARIANT(before.run != SLOT_NONE, "worker %d, ticket %" PRIu64, worker, before.ticket);
    slot[at].run = SLOT_NONE;
    slots->runs--;
    slots->training -= at == 0;
    note_holder(slots, worker);
    return before;
}

struct slot slots_remove(struct slots *slots, int worker, int at)
{
    struct slot *slot = slots_of(slots, worker);

    INVARIANT(at >= 0 && at < slots->used[worker], "slot %d of %d", at, slots->used[worker]);
    struct slot before = slot[at];
    INVARIANT(before.ticket > 0 && before.ticket <= slots->ticket, "ticket %" PRIu64, before.ticket);
    slots->training -= slots_train(slots, worker);
    slots->runs -= before.run != SLOT_NONE;
    slots->used[worker]--;
    memmove(&slot[at], &slot[at + 1], (size_t)(slots->used[worker] - at) * sizeof(*slot));
    slots->training += slots_train(slots, worker);
    note_holder(slots, worker);
    return before;
}

void slots_clear(struct slots *slots, int worker)
{
    for (int i = 0; i < slots->used[worker]; i++)
        INVARIANT(slots_of(slots, worker)[i].run == SLOT_NONE, "worker %d, slot %d", worker, i);
    slots->used[worker] = 0;
    note_holder(slots, worker);
}
