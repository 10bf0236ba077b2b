#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* `known` is never later than the worker's true deadline. */
struct deadline_entry {
    double known;
    int worker;
};

int deadlines_init(struct deadlines *d, int size)
{
    size_t room = (size_t)size + 1;

    *d = (struct deadlines){
        .size = size,
        .heap = malloc(room * sizeof(*d->heap)),
        .due = malloc(room * sizeof(*d->due)),
        .place = malloc(room * sizeof(*d->place)),
    };
    if (!d->heap || !d->due || !d->place)
        return -1;
    for (int i = 0; i < size; i++) {
        d->due[i] = INFINITY;
        d->place[i] = DEADLINE_NONE;
    }
    return 0;
}

void deadlines_release(struct deadlines *d)
{
    free(d->heap);
    free(d->due);
    free(d->place);
    *d = (struct deadlines){0};
}

static void put_entry(struct deadlines *d, int at, struct deadline_entry entry)
{
    d->heap[at] = entry;
    d->place[entry.worker] = at;
}

static void sift_up(struct deadlines *d, int at, struct deadline_entry entry)
{
    for (; at > 0 && entry.known < d->heap[(at - 1) / 2].known; at = (at - 1) / 2)
        put_entry(d, at, d->heap[(at - 1) / 2]);
    put_entry(d, at, entry);
}

static void sift_down(struct deadlines *d, int at, struct deadline_entry entry)
{
    for (int child = 2 * at + 1; child < d->count; child = 2 * at + 1) {
        child += child + 1 < d->count && d->heap[child + 1].known < d->heap[child].known;
        if (entry.known <= d->heap[child].known)
            break;
        put_entry(d, at, d->heap[child]);
        at = child;
    }
    put_entry(d, at, entry);
}

void deadline_set(struct deadlines *d, int worker, double due)
{
    INVARIANT(worker >= 0 && worker < d->size, "worker %d of %d", worker, d->size);
    int at = d->place[worker];
    INVARIANT(at == DEADLINE_NONE || (at < d->count && d->heap[at].worker == worker), "worker %d at %d of %d",
        worker, at, d->count);
    INVARIANT(!isnan(due), "worker %d", worker);
    d->due[worker] = due;
    if (at == DEADLINE_NONE && due < INFINITY)
        sift_up(d, d->count++, (struct deadline_entry){due, worker});
    else if (at != DEADLINE_NONE && due < d->heap[at].known)
        sift_up(d, at, (struct deadline_entry){due, worker});
}

static void drop_top(struct deadlines *d)
{
    int worker = d->heap[0].worker;

    INVARIANT(d->place[worker] == 0, "the first worker, %d, is at %d", worker, d->place[worker]);
    d->place[worker] = DEADLINE_NONE;
    d->count--;
    if (d->count > 0)
        sift_down(d, 0, d->heap[d->count]);
}

int deadline_passed(struct deadlines *d, double now)
{
    while (d->count > 0 && d->heap[0].known < now) {
        int worker = d->heap[0].worker;
        INVARIANT(d->heap[0].known <= d->due[worker] || d->due[worker] == INFINITY,
            "worker %d is due at %g, not %g", worker, d->due[worker], d->heap[0].known);
        double due = d->due[worker];
        if (due >= now && due < INFINITY) {
            sift_down(d, 0, (struct deadline_entry){due, worker});
            continue;
        }
        drop_top(d);
        d->due[worker] = INFINITY;
        if (due < now)
            return worker;
    }
    return DEADLINE_NONE;
}
