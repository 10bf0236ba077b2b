#ifndef NORMSWEEP_DRIVER_SCHEDULE_DEADLINE_H
#define NORMSWEEP_DRIVER_SCHEDULE_DEADLINE_H

/*
 * Whose deadline passes first: a binary heap. Deadlines are put off with every word of a worker and hardly
 * ever pass, so putting one off costs O(1): the heap goes by the older, earlier time and is put right when
 * that comes. One that is brought forward moves at once, O(log size).
 */
struct deadlines {
    struct deadline_entry *heap; /* [size] the first `count` are in use */
    int count;
    double *due; /* [size] by worker; INFINITY: none */
    int *place; /* [size] by worker: where it stands in the heap; -1: not there */
};

enum { DEADLINE_NONE = -1 };

/* For workers 0 .. size - 1, none with a deadline. -1: no memory; it can be released all the same. */
int deadlines_init(struct deadlines *deadlines, int size);
void deadlines_release(struct deadlines *deadlines);

/* In seconds on the caller's clock; INFINITY: never. */
void deadline_set(struct deadlines *deadlines, int worker, double due);

/* A worker whose deadline is before `now`, which is thereby gone; DEADLINE_NONE when there is none. */
int deadline_passed(struct deadlines *deadlines, double now);

#endif
