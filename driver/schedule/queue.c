#include "driver/schedule/queue.h"

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

/* ---- the list ---- */

static void list_push(struct queue *queue, int64_t run)
{
    queue->run[run].before = QUEUE_END;
    queue->run[run].after = queue->first;
    if (queue->first != QUEUE_END)
        queue->run[queue->first].before = run;
    queue->first = run;
}

static void list_remove(struct queue *queue, int64_t run)
{
    const struct queued_run *it = &queue->run[run];
    int64_t *to = it->before == QUEUE_END ? &queue->first : &queue->run[it->before].after;

    INVARIANT(*to == run, "run %" PRId64 " and %" PRId64 " after %" PRId64, run, *to, it->before);
    *to = it->after;
    if (it->after == QUEUE_END)
        return;
    INVARIANT(queue->run[it->after].before == run, "run %" PRId64 " and %" PRId64 " before %" PRId64, run,
        queue->run[it->after].before, it->after);
    queue->run[it->after].before = it->before;
}

/* ---- the heap ---- */

static bool is_longer(const struct queue *queue, int64_t run, int64_t other)
{
    return longest_first(&queue->run[run], &queue->run[other]) < 0;
}

static void heap_put(struct queue *queue, int64_t place, int64_t run)
{
    queue->heap[place] = run;
    queue->run[run].place = place;
}

/* Both move a run from a free place to the one where it belongs. */
static void heap_rise(struct queue *queue, int64_t place, int64_t run)
{
    for (; place > 0 && is_longer(queue, run, queue->heap[(place - 1) / 2]); place = (place - 1) / 2)
        heap_put(queue, place, queue->heap[(place - 1) / 2]);
    heap_put(queue, place, run);
}

static void heap_sink(struct queue *queue, int64_t place, int64_t run)
{
    for (int64_t child = 2 * place + 1; child < queue->added; child = 2 * place + 1) {
        if (child + 1 < queue->added && is_longer(queue, queue->heap[child + 1], queue->heap[child]))
            child++;
        if (!is_longer(queue, queue->heap[child], run))
            break;
        heap_put(queue, place, queue->heap[child]);
        place = child;
    }
    heap_put(queue, place, run);
}

static void heap_push(struct queue *queue, int64_t run)
{
    INVARIANT(queue->added < queue->room, "%" PRId64 " of %" PRId64, queue->added, queue->room);
    heap_rise(queue, queue->added++, run);
}

static void heap_remove(struct queue *queue, int64_t run)
{
    int64_t place = queue->run[run].place;

    INVARIANT(place >= 0 && place < queue->added, "run %" PRId64 " at %" PRId64, run, place);
    INVARIANT(queue->heap[place] == run, "run %" PRId64 " and %" PRId64, run, queue->heap[place]);
    queue->run[run].place = QUEUE_END;
    int64_t last = queue->heap[--queue->added];
    if (last == run)
        return;
    if (place > 0 && is_longer(queue, last, queue->heap[(place - 1) / 2]))
        heap_rise(queue, place, last);
    else
        heap_sink(queue, place, last);
}

/* ---- coming and going ---- */

/* A run has entered the list or the heap. */
static void begin_waiting(struct queue *queue, int64_t run)
{
    queue->run[run].state = RUN_WAITING;
    queue->waiting++;
    queue->cost += queue->run[run].cost;
}

/* A run leaves the list or the heap. */
static void end_waiting(struct queue *queue, int64_t run)
{
    INVARIANT(queue->run[run].state == RUN_WAITING, "run %" PRId64 " is %d", run, queue->run[run].state);
    INVARIANT(queue->waiting > 0, "%" PRId64 " waiting", queue->waiting);
    if (queue->run[run].place == QUEUE_END)
        list_remove(queue, run);
    else
        heap_remove(queue, run);
    queue->waiting--;
    queue->cost = queue->waiting > 0 ? queue->cost - queue->run[run].cost : 0;
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

    end_waiting(queue, run);
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

void queue_withdraw(struct queue *queue, int64_t run)
{
    INVARIANT(queue->run[run].state == RUN_WAITING || queue->run[run].state == RUN_HELD,
        "run %" PRId64 " is %d", run, queue->run[run].state);
    if (queue->run[run].state == RUN_WAITING)
        end_waiting(queue, run);
    queue->run[run].state = RUN_WITHDRAWN;
}

bool queue_add(struct queue *queue, int64_t cell, double cost, int deaths)
{
    int64_t run = queue_find(queue, cell);

    INVARIANT(cost >= 0 && cost < INFINITY, "cell %" PRId64 " costs %g", cell, cost);
    if (run != QUEUE_END && queue->run[run].state != RUN_WITHDRAWN)
        return false;
    if (run == QUEUE_END) {
        INVARIANT(queue->count < queue->size && cell < queue->cells, "run %" PRId64 " of %" PRId64,
            queue->count, queue->size);
        run = queue->of_cell[cell] = queue->count++;
    }
    queue->run[run] = (struct queued_run){.cost = cost, .cell = cell, .deaths = deaths};
    heap_push(queue, run);
    begin_waiting(queue, run);
    return true;
}

int64_t queue_find(const struct queue *queue, int64_t cell)
{
    int64_t run = cell >= 0 && cell < queue->cells ? queue->of_cell[cell] : QUEUE_END;

    INVARIANT(run == QUEUE_END || queue->run[run].cell == cell, "cell %" PRId64 ", run %" PRId64, cell, run);
    return run;
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

/* Sorts the runs given at first, and lists them. */
static void list_all(struct queue *queue)
{
    qsort(queue->run, (size_t)queue->count, sizeof(*queue->run), longest_first);
    for (int64_t run = queue->count - 1; run >= 0; run--) {
        int64_t cell = queue->run[run].cell;
        INVARIANT(queue->of_cell[cell] == QUEUE_END, "cell %" PRId64 " is there twice", cell);
        queue->of_cell[cell] = run;
        list_push(queue, run);
        begin_waiting(queue, run);
    }
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
            .place = QUEUE_END,
            .deaths = deaths ? deaths[queue->count] : 0};
    list_all(queue);
    return 0;
}

void queue_release(struct queue *queue)
{
    free(queue->run);
    free(queue->heap);
    free(queue->of_cell);
    *queue = (struct queue){.first = QUEUE_END};
}
