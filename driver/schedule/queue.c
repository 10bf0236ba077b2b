#include "driver/schedule/queue.h"

#include <stdlib.h>

static int longest_first(const void *left, const void *right)
{
    const struct queued_run *a = left, *b = right;

    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

int queue_init(struct queue *queue, const int64_t *cell, const double *cost, const int *deaths, int64_t count)
{
    *queue = (struct queue){.count = count, .returned = QUEUE_END, .waiting = count};
    queue->run = malloc((size_t)(count + 1) * sizeof(*queue->run));
    if (!queue->run)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        queue->run[i] = (struct queued_run){
            .cost = cost[i], .cell = cell[i], .below = QUEUE_END, .deaths = deaths ? deaths[i] : 0};
        queue->cost += cost[i];
    }
    qsort(queue->run, (size_t)count, sizeof(*queue->run), longest_first);
    return 0;
}

void queue_release(struct queue *queue)
{
    free(queue->run);
    *queue = (struct queue){.returned = QUEUE_END};
}

int64_t queue_front(const struct queue *queue)
{
    return queue->returned != QUEUE_END ? queue->returned : queue->next;
}

int64_t queue_take(struct queue *queue)
{
    int64_t run = queue_front(queue);

    if (queue->returned != QUEUE_END)
        queue->returned = queue->run[run].below;
    else
        queue->next++;
    queue->waiting--;
    queue->cost = queue->waiting > 0 ? queue->cost - queue->run[run].cost : 0;
    return run;
}

void queue_return(struct queue *queue, int64_t run)
{
    queue->run[run].below = queue->returned;
    queue->returned = run;
    queue->waiting++;
    queue->cost += queue->run[run].cost;
}
