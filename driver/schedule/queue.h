#ifndef NORMSWEEP_DRIVER_SCHEDULE_QUEUE_H
#define NORMSWEEP_DRIVER_SCHEDULE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_END = -1 };

enum queued_state {
    RUN_WAITING, /* in the queue */
    RUN_HELD, /* by a worker, or on its way there */
    RUN_ENDED, /* for good */
};

/* A run as the coordinator knows it. */
struct queued_run {
    double cost;
    int64_t cell;
    int64_t after; /* the next one in the list; QUEUE_END: none */
    int deaths; /* of its workers since its last checkpoint */
    int holder; /* held: the worker; maintained by the coordinator */
    enum queued_state state;
    bool returned; /* waiting: it was taken before */
};

/*
 * The runs of a sweep; the index in `run` identifies a run. Returned runs come first, the latest of them
 * before all, then the longest run, ties by cell. A list holds the returned runs and, behind them, those
 * given at first, in order; so taking and returning are O(1). Runs that are added later wait in
 * a binary heap, O(log of their number), until they are taken for the first time.
 */
struct queue {
    int64_t count, size;
    struct queued_run *run; /* [size] the first `count` are in use */
    int64_t first; /* of the list */
    int64_t added, room;
    int64_t *heap; /* [room] the first `added` are in use */
    int64_t cells;
    int64_t *of_cell; /* [cells] the run of a cell; QUEUE_END: none */
    int64_t waiting; /* runs in the queue */
    double cost; /* the sum of their costs */
};

/* Copies `cell` (each once, from 0), `cost` (finite, from 0) and `deaths` (NULL: none), each [count]; -1: no
 * memory; queue_release is still allowed. */
int queue_init(
    struct queue *queue, const int64_t *cell, const double *cost, const int *deaths, int64_t count);
void queue_release(struct queue *queue);

/* Makes room for `count` more runs with cells up to `last`. -1: no memory; the queue is as before. */
int queue_reserve(struct queue *queue, int64_t count, int64_t last);

/* Adds a run, for which there is room; false if there is a run of that cell. */
bool queue_add(struct queue *queue, int64_t cell, double cost, int deaths);

/* Both return the next run of a queue that is not empty; queue_take also removes it: it is held. */
int64_t queue_front(const struct queue *queue);
int64_t queue_take(struct queue *queue);

/* A held run waits again. */
void queue_return(struct queue *queue, int64_t run);

/* A held run has ended. */
void queue_end(struct queue *queue, int64_t run);

#endif
