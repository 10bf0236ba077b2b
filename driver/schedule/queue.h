#ifndef NORMSWEEP_DRIVER_SCHEDULE_QUEUE_H
#define NORMSWEEP_DRIVER_SCHEDULE_QUEUE_H

#include <stdint.h>

enum { QUEUE_END = -1 };

/* A run as the coordinator knows it. */
struct queued_run {
    double cost;
    int64_t cell;
    int64_t below; /* the next run in the stack of returned runs */
    int deaths; /* of its workers since its last checkpoint */
};

/*
 * The runs of a sweep, longest first, ties by cell; the index in `run` identifies a run. Returned runs form a
 * stack, which is taken before all others. Taking and returning are O(1).
 */
struct queue {
    int64_t count;
    struct queued_run *run; /* [count] */
    int64_t next; /* the first run that was never taken */
    int64_t returned; /* the top of the stack */
    int64_t waiting; /* runs in the queue */
    double cost; /* the sum of their costs */
};

/* Copies `cell`, `cost` and `deaths` (NULL: none), each [count]; -1: no memory. */
int queue_init(
    struct queue *queue, const int64_t *cell, const double *cost, const int *deaths, int64_t count);
void queue_release(struct queue *queue);

/* Both return the next run of a queue that is not empty; queue_take also removes it. */
int64_t queue_front(const struct queue *queue);
int64_t queue_take(struct queue *queue);

void queue_return(struct queue *queue, int64_t run);

#endif
