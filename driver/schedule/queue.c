/*
 * The order in which runs are handed out: struct queue in schedule.h says which one is next. Runs given at
 * the start are sorted once, in both orders; each order has a cursor, which passes over runs that the other
 * has taken. Runs that a search adds later wait in a heap until they are taken for the first time. A run that
 * comes back is put on one of two stacks.
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

int pending_run_compare(const struct pending_run *a, const struct pending_run *b)
{
    int class = ilogb(a->cost), other = ilogb(b->cost);

    if (class != other)
        return class > other ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

static int compare_lengths(const struct pending_run *a, const struct pending_run *b)
{
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return pending_run_compare(a, b);
}

static int in_order(const void *left, const void *right)
{
    const struct queued_run *a = left, *b = right;

    return pending_run_compare(&a->run, &b->run);
}

static int longest_first(const void *left, const void *right, void *context)
{
    const struct queued_run *run = context;
    const int64_t *a = left, *b = right;

    return compare_lengths(&run[*a].run, &run[*b].run);
}

/* ---- the heap ---- */

static bool is_longer(const struct queue *queue, int64_t run, int64_t other)
{
    return compare_lengths(&queue->run[run].run, &queue->run[other].run) < 0;
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

static void check(const struct pending_run *run)
{
    INVARIANT(run->cell >= 0 && run->cost >= 0 && run->cost < INFINITY, "cell %" PRId64 " costs %g",
        run->cell, run->cost);
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

/* The next run that has never been taken, in one of the two orders; QUEUE_END: there is none. */
static int64_t fresh_front(struct queue *queue, bool longest)
{
    int64_t *at = &queue->next[longest];

    while (*at < queue->given && !is_fresh(queue, longest ? queue->longest[*at] : *at))
        ++*at;
    if (*at == queue->given)
        return queue->added > 0 ? queue->heap[0] : QUEUE_END;
    int64_t run = longest ? queue->longest[*at] : *at;
    if (queue->added == 0)
        return run;
    int order = longest ? compare_lengths(&queue->run[run].run, &queue->run[queue->heap[0]].run)
                        : pending_run_compare(&queue->run[run].run, &queue->run[queue->heap[0]].run);
    return order < 0 ? run : queue->heap[0];
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
    queue->run[run].after = *stack;
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
    INVARIANT(run->cell < queue->cells, "cell %" PRId64 " of %" PRId64, run->cell, queue->cells);
    if (queue->of_cell[run->cell] != QUEUE_END)
        return false;
    int64_t at = queue->of_cell[run->cell] = queue->count++;
    queue->run[at] = (struct queued_run){.run = *run};
    heap_push(queue, at);
    begin_waiting(queue, at);
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

int queue_init(struct queue *queue, const struct pending_run *pending, int64_t count)
{
    int64_t last = 0;

    *queue = (struct queue){.given = count, .returned = QUEUE_END, .struck = QUEUE_END};
    for (int64_t i = 0; i < count; i++) {
        check(&pending[i]);
        last = pending[i].cell > last ? pending[i].cell : last;
    }
    queue->longest = malloc(((size_t)count + 1) * sizeof(*queue->longest));
    if (queue_reserve(queue, count + 1, last) != 0 || !queue->longest)
        return -1;
    for (; queue->count < count; queue->count++) {
        queue->run[queue->count] = (struct queued_run){.run = pending[queue->count]};
        queue->longest[queue->count] = queue->count;
    }
    qsort(queue->run, (size_t)count, sizeof(*queue->run), in_order);
    qsort_r(queue->longest, (size_t)count, sizeof(*queue->longest), longest_first, queue->run);
    for (int64_t run = 0; run < count; run++) {
        int64_t *of = &queue->of_cell[queue->run[run].run.cell];
        INVARIANT(*of == QUEUE_END, "cell %" PRId64 " is there twice", queue->run[run].run.cell);
        *of = run;
        begin_waiting(queue, run);
    }
    return 0;
}

void queue_release(struct queue *queue)
{
    free(queue->run);
    free(queue->longest);
    free(queue->heap);
    free(queue->of_cell);
    *queue = (struct queue){.returned = QUEUE_END, .struck = QUEUE_END};
}
