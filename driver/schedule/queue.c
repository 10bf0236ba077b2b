/*
 * The order in which runs are handed out: struct queue in schedule.h says which one is next. Runs given at
 * the start are sorted once; those of them that are left near the end once more, by length. Runs that a
 * search adds later wait in a heap until they are taken for the first time. A run that comes back is put on
 * one of two stacks.
 *
 * coordinator.c calls queue_init once, queue_reserve before every queue_add, and from then on each run goes
 * from waiting to held and back, until it has ended. Only queue_init and queue_reserve can fail, for lack of
 * memory.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

int pending_run_compare(const struct pending_run *a, const struct pending_run *b)
{
    int class = ilogbf(a->cost), other = ilogbf(b->cost);

    if ((a->deaths > 0) != (b->deaths > 0))
        return a->deaths > 0 ? 1 : -1;
    if (class != other)
        return class > other ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

static int compare_lengths(const struct pending_run *a, const struct pending_run *b)
{
    if ((a->deaths > 0) == (b->deaths > 0) && a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return pending_run_compare(a, b);
}

static int in_order(const void *left, const void *right, void *context)
{
    const struct queued_run *run = context;
    const int *a = left, *b = right;

    return pending_run_compare(&run[*a].run, &run[*b].run);
}

static int longest_first(const void *left, const void *right, void *context)
{
    const struct queued_run *run = context;
    const int *a = left, *b = right;

    return compare_lengths(&run[*a].run, &run[*b].run);
}

/* ---- the heap ---- */

static bool is_longer(const struct queue *queue, int64_t run, int64_t other)
{
    return compare_lengths(&queue->run[run].run, &queue->run[other].run) < 0;
}

/* Removes the longest run. */
static void heap_pop(struct queue *queue)
{
    int last = queue->heap[--queue->added];
    int64_t at = 0;

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

static void check(const struct pending_run *run)
{
    INVARIANT(run->cell >= 0 && run->cost >= 0 && run->cost < INFINITY, "cell %d costs %g", run->cell,
        (double)run->cost);
}

static void begin_waiting(struct queue *queue, int64_t run)
{
    queue->run[run].state = RUN_WAITING;
    queue->waiting++;
    queue->cost += queue->run[run].run.cost;
}

static bool is_fresh(const struct queue *queue, int64_t run)
{
    return queue->run[run].state == RUN_WAITING && !queue->run[run].returned;
}

/* The runs that are left are sorted by length once, near the end, when they are few. */
static void sort_lengths(struct queue *queue)
{
    struct run_order *longest = &queue->longest;

    for (int64_t at = queue->given.next; at < queue->given.end; at++)
        if (is_fresh(queue, queue->given.run[at]))
            longest->run[longest->end++] = queue->given.run[at];
    qsort_r(longest->run, (size_t)longest->end, sizeof(*longest->run), longest_first, queue->run);
}

/* The next run that has never been taken, in one of the two orders; QUEUE_END: there is none. */
static int64_t fresh_front(struct queue *queue, bool by_length)
{
    struct run_order *order = by_length ? &queue->longest : &queue->given;
    int64_t added = queue->added > 0 ? queue->heap[0] : QUEUE_END;

    if (by_length && order->end == 0)
        sort_lengths(queue);
    while (order->next < order->end && !is_fresh(queue, order->run[order->next]))
        order->next++;
    if (order->next == order->end)
        return added;
    int64_t given = order->run[order->next];
    if (added == QUEUE_END)
        return given;
    bool first = by_length ? is_longer(queue, given, added)
                           : pending_run_compare(&queue->run[given].run, &queue->run[added].run) < 0;
    return first ? given : added;
}

int64_t queue_front(struct queue *queue, struct pick pick)
{
    INVARIANT(queue->waiting > 0, "%" PRId64 " waiting", queue->waiting);
    if (pick.struck && queue->struck != QUEUE_END)
        return queue->struck;
    if (queue->returned != QUEUE_END)
        return queue->returned;
    int64_t run = fresh_front(queue, pick.longest);
    return run != QUEUE_END ? run : queue->struck;
}

int64_t queue_take(struct queue *queue, struct pick pick)
{
    int64_t run = queue_front(queue, pick);

    INVARIANT(queue->run[run].state == RUN_WAITING, "run %" PRId64 " is %d", run, queue->run[run].state);
    if (run == queue->struck)
        queue->struck = queue->run[run].after;
    else if (run == queue->returned)
        queue->returned = queue->run[run].after;
    else if (queue->added > 0 && run == queue->heap[0])
        heap_pop(queue);
    queue->waiting--;
    queue->cost = queue->waiting > 0 ? queue->cost - queue->run[run].run.cost : 0;
    queue->run[run].state = RUN_HELD;
    return run;
}

void queue_return(struct queue *queue, int64_t run, bool struck)
{
    int64_t *stack = struck ? &queue->struck : &queue->returned;

    INVARIANT(queue->run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, queue->run[run].state);
    queue->run[run].after = (int)*stack;
    *stack = run;
    queue->run[run].returned = true;
    begin_waiting(queue, run);
}

void queue_end(struct queue *queue, int64_t run)
{
    INVARIANT(queue->run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, queue->run[run].state);
    queue->run[run].state = RUN_ENDED;
}

bool queue_add(struct queue *queue, const struct pending_run *run)
{
    check(run);
    INVARIANT(run->cell < queue->cells, "cell %d of %" PRId64, run->cell, queue->cells);
    if (queue->of_cell[run->cell] != QUEUE_END)
        return false;
    int added = queue->of_cell[run->cell] = (int)queue->count++;
    queue->run[added] = (struct queued_run){.run = *run};
    int64_t at = queue->added++; /* its place in the heap */
    INVARIANT(at < queue->room, "%" PRId64 " of %" PRId64, at, queue->room);
    for (; at > 0 && is_longer(queue, added, queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
        queue->heap[at] = queue->heap[(at - 1) / 2];
    queue->heap[at] = added;
    begin_waiting(queue, added);
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

int queue_init(struct queue *queue, struct pending_runs pending, int64_t most)
{
    struct pending_run run;
    int last = 0;

    *queue = (struct queue){.size = most + 1, .returned = QUEUE_END, .struck = QUEUE_END};
    queue->run = malloc((size_t)queue->size * sizeof(*queue->run));
    queue->given.run = malloc((size_t)queue->size * sizeof(*queue->given.run));
    queue->longest.run = malloc((size_t)queue->size * sizeof(*queue->longest.run));
    if (!queue->run || !queue->given.run || !queue->longest.run)
        return -1;
    while (queue->count < most && pending.next(pending.context, &run)) {
        check(&run);
        last = run.cell > last ? run.cell : last;
        queue->given.run[queue->count] = (int)queue->count;
        queue->run[queue->count++] = (struct queued_run){.run = run};
    }
    queue->given.end = queue->count;
    if (queue_reserve(queue, 1, last) != 0)
        return -1;
    qsort_r(queue->given.run, (size_t)queue->count, sizeof(*queue->given.run), in_order, queue->run);
    for (int at = 0; at < queue->count; at++) {
        int *of = &queue->of_cell[queue->run[at].run.cell];
        INVARIANT(*of == QUEUE_END, "cell %d is there twice", queue->run[at].run.cell);
        *of = at;
        begin_waiting(queue, at);
    }
    return 0;
}

void queue_release(struct queue *queue)
{
    free(queue->run);
    free(queue->given.run);
    free(queue->longest.run);
    free(queue->heap);
    free(queue->of_cell);
    *queue = (struct queue){.returned = QUEUE_END, .struck = QUEUE_END};
}
