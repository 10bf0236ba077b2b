#ifndef NORMSWEEP_DRIVER_SCHEDULE_DEADLINE_H
#define NORMSWEEP_DRIVER_SCHEDULE_DEADLINE_H

/*
 * A binary heap of deadlines, the earliest first. Every message of a worker postpones its deadline, and
 * deadlines hardly ever pass; so postponing is O(1): the heap keeps the older, earlier time and is corrected
 * once that time comes. An earlier deadline moves at once, O(log size).
 */
struct deadlines {
    int size;
    struct deadline_entry *heap; /* [size] the first `count` are in use */
    int count;
    double *due; /* [size] by worker; INFINITY: none */
    int *place; /* [size] by worker: its index in the heap, or DEADLINE_NONE */
};

enum { DEADLINE_NONE = -1 };

/* For workers 0 .. size - 1, without deadlines. -1: no memory; deadlines_release is still allowed. */
int deadlines_init(struct deadlines *deadlines, int size);
void deadlines_release(struct deadlines *deadlines);

/* `due` is in seconds on the caller's clock; INFINITY: never. */
void deadline_set(struct deadlines *deadlines, int worker, double due);

/* Returns a worker whose deadline is before `now` and removes that deadline; DEADLINE_NONE if there is none.
 */
int deadline_passed(struct deadlines *deadlines, double now);

#endif
