/*
 * The order in which runs are handed out: struct queue in schedule.h says which one is next, and why a list
 * and a heap. Runs given at the start are sorted once and listed; runs that a search adds later wait in the
 * heap until they are taken for the first time; a run that was returned is always listed.
 *
 * assignment.c calls queue_init once, queue_reserve before every queue_add, and from then on each run goes
 * from waiting to held and back, until it has ended. Only queue_init and queue_reserve can fail, for lack of
 * memory.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int longest_first(const void *left, const void *right)
{
    const struct queued_run *a = left, *b = right;

    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

static void list_push(struct queue *queue, int64_t run)
{
    queue->run[run].after = queue->first;
    queue->first = run;
}

static bool is_longer(const struct queue *queue, int64_t run, int64_t other)
{
    return longest_first(&queue->run[run], &queue->run[other]) < 0;
}

static void heap_push(struct queue *queue, int64_t run)
{
    int64_t at = queue->added++;

    INVARIANT(at < queue->room, "%" PRId64 " of %" PRId64, at, queue->room);
    for (; at > 0 && is_longer(queue, run, queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
        queue->heap[at] = queue->heap[(at - 1) / 2];
    queue->heap[at] = run;
}

/* Removes the longest run. */
static void heap_pop(struct queue *queue)
{
    int64_t last = queue->heap[--queue->added], at = 0;

    for (int64_t child = 1; child < queue->added; child = 2 * at + 1) {
        if (child + 1 < queue->added && is_longer(queue, queue->heap[child + 1], queue->heap[child]))
            child++;
        if (!is_longer(queue, queue->heap[child], last))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
}

/* ---- coming and going ---- */

/* A run has entered the list or the heap. */
static void begin_waiting(struct queue *queue, int64_t run)
{
    queue->run[run].state = RUN_WAITING;
    queue->waiting++;
    queue->cost += queue->run[run].cost;
}

int64_t queue_front(const struct queue *queue)
{
    int64_t first = queue->first;

    INVARIANT(queue->waiting > 0, "%" PRId64 " waiting", queue->waiting);
    if (queue->added == 0 || (first != QUEUE_END && queue->run[first].returned))
        return first;
    return first != QUEUE_END && is_longer(queue, first, queue->heap[0]) ? first : queue->heap[0];
}

int64_t queue_take(struct queue *queue)
{
    int64_t run = queue_front(queue);

    INVARIANT(queue->run[run].state == RUN_WAITING, "run %" PRId64 " is %d", run, queue->run[run].state);
    if (run == queue->first)
        queue->first = queue->run[run].after;
    else
        heap_pop(queue);
    queue->waiting--;
    queue->cost = queue->waiting > 0 ? queue->cost - queue->run[run].cost : 0;
    queue->run[run].state = RUN_HELD;
    return run;
}

void queue_return(struct queue *queue, int64_t run)
{
    INVARIANT(queue->run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, queue->run[run].state);
    list_push(queue, run);
    queue->run[run].returned = true;
    begin_waiting(queue, run);
}

void queue_end(struct queue *queue, int64_t run)
{
    INVARIANT(queue->run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, queue->run[run].state);
    queue->run[run].state = RUN_ENDED;
}

bool queue_add(struct queue *queue, int64_t cell, double cost, int deaths)
{
    INVARIANT(cell >= 0 && cell < queue->cells && cost >= 0 && cost < INFINITY, "cell %" PRId64 " costs %g",
        cell, cost);
    if (queue->of_cell[cell] != QUEUE_END)
        return false;
    int64_t run = queue->of_cell[cell] = queue->count++;
    queue->run[run] = (struct queued_run){.cost = cost, .cell = cell, .deaths = deaths};
    heap_push(queue, run);
    begin_waiting(queue, run);
    return true;
}

/* ---- memory ---- */

/* Enlarges an array of *size elements to at least `least`, at least by half. NULL: no memory. */
static void *grown(void *array, int64_t *size, int64_t least, size_t element)
{
    int64_t more = least <= *size ? *size : least > *size + *size / 2 ? least : *size + *size / 2;
    void *larger = more > *size ? realloc(array, (size_t)more * element) : array;

    *size = larger ? more : *size;
    return larger;
}

int queue_reserve(struct queue *queue, int64_t count, int64_t last)
{
    int64_t cells = queue->cells;
    void *run = grown(queue->run, &queue->size, queue->count + count, sizeof(*queue->run));
    queue->run = run ? run : queue->run;
    void *heap = grown(queue->heap, &queue->room, queue->added + count, sizeof(*queue->heap));
    queue->heap = heap ? heap : queue->heap;
    void *of_cell = grown(queue->of_cell, &queue->cells, last + 1, sizeof(*queue->of_cell));
    queue->of_cell = of_cell ? of_cell : queue->of_cell;

    for (int64_t cell = cells; cell < queue->cells; cell++)
        queue->of_cell[cell] = QUEUE_END;
    return run && heap && of_cell ? 0 : -1;
}

int queue_init(struct queue *queue, const int64_t *cell, const double *cost, const int *deaths, int64_t count)
{
    int64_t last = 0;

    *queue = (struct queue){.first = QUEUE_END};
    for (int64_t i = 0; i < count; i++) {
        INVARIANT(cell[i] >= 0 && cost[i] >= 0 && cost[i] < INFINITY, "cell %" PRId64 " costs %g", cell[i],
            cost[i]);
        last = cell[i] > last ? cell[i] : last;
    }
    if (queue_reserve(queue, count + 1, last) != 0)
        return -1;
    for (; queue->count < count; queue->count++)
        queue->run[queue->count] = (struct queued_run){.cost = cost[queue->count],
            .cell = cell[queue->count],
            .deaths = deaths ? deaths[queue->count] : 0};
    qsort(queue->run, (size_t)count, sizeof(*queue->run), longest_first);
    for (int64_t run = count - 1; run >= 0; run--) {
        int64_t of = queue->run[run].cell;
        INVARIANT(queue->of_cell[of] == QUEUE_END, "cell %" PRId64 " is there twice", of);
        queue->of_cell[of] = run;
        list_push(queue, run);
        begin_waiting(queue, run);
    }
    return 0;
}

void queue_release(struct queue *queue)
{
    free(queue->run);
    free(queue->heap);
    free(queue->of_cell);
    *queue = (struct queue){.first = QUEUE_END};
}
