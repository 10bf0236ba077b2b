/* The order in which runs are taken, against a search through all of them. */
#include "driver/schedule/inside.h"
#include "model/core/random.h"
#include "tests/driver/schedule/listed.h"
#include "tests/test.h"

enum { CELLS = 60, FIRST = 20, STEPS = 4000 };

/* What the queue must know of a cell. */
struct known {
    bool waits, held, ended;
    bool added, struck; /* after the start; came back because its worker was lost */
    int64_t run;
    int64_t returned; /* when; 0: never */
    struct pending_run pending;
};

static bool comes_before(const struct known *a, const struct known *b, bool longest)
{
    if (longest && (a->pending.deaths > 0) == (b->pending.deaths > 0) && a->pending.cost != b->pending.cost)
        return a->pending.cost > b->pending.cost;
    return pending_run_compare(&a->pending, &b->pending) < 0;
}

/* The latest of those that came back, in one of two ways. */
static int64_t latest(const struct known *known, bool struck)
{
    int64_t next = QUEUE_END;

    for (int64_t cell = 0; cell < CELLS; cell++)
        if (known[cell].waits && known[cell].returned && known[cell].struck == struck &&
            (next == QUEUE_END || known[cell].returned > known[next].returned))
            next = cell;
    return next;
}

/* The first of those that were there at the start, or were added, and never taken. */
static int64_t first(const struct known *known, bool added, bool longest)
{
    int64_t next = QUEUE_END;

    for (int64_t cell = 0; cell < CELLS; cell++)
        if (known[cell].waits && !known[cell].returned && known[cell].added == added &&
            (next == QUEUE_END || comes_before(&known[cell], &known[next], longest)))
            next = cell;
    return next;
}

static int64_t next_of(const struct known *known, struct pick pick)
{
    int64_t struck = latest(known, true), returned = latest(known, false);
    int64_t given = first(known, false, pick.longest), added = first(known, true, true);

    if (pick.struck && struck != QUEUE_END)
        return struck;
    if (returned != QUEUE_END)
        return returned;
    if (given != QUEUE_END && added != QUEUE_END)
        return comes_before(&known[given], &known[added], pick.longest) ? given : added;
    return given != QUEUE_END ? given : added != QUEUE_END ? added : struck;
}

static struct pending_run draw_run(int cell, uint64_t seed, uint64_t number)
{
    return (struct pending_run){.cell = cell,
        .cost = (double)random_below(seed, RANDOM_TEST, number, 30),
        .turn = (int)random_below(seed, RANDOM_TEST, number + (1 << 20), 4),
        .deaths = (int)random_below(seed, RANDOM_TEST, number + (1 << 22), 3) / 2};
}

/* One change: a cell is added, the next one is taken, or one that is held is returned or ends. */
static void change(struct queue *queue, struct known *known, int64_t step, uint64_t seed)
{
    int cell = (int)random_below(seed, RANDOM_TEST, 3 * (uint64_t)step, CELLS);
    double what = random_uniform(seed, RANDOM_TEST, 3 * (uint64_t)step + 1);
    struct pending_run pending = draw_run(cell, seed, 3 * (uint64_t)step + 2);
    struct known *it = &known[cell];
    const struct pick pick = {.longest = random_bits(seed, RANDOM_TEST, (1 << 21) + 2 * (uint64_t)step) & 1,
        .struck = random_bits(seed, RANDOM_TEST, (1 << 21) + 2 * (uint64_t)step + 1) & 1};
    int64_t next = next_of(known, pick);

    if (what < 0.4) {
        CHECK(queue_reserve(queue, 1, cell) == 0);
        bool is_new = !it->waits && !it->held && !it->ended;
        CHECK(queue_add(queue, &pending) == is_new);
        if (is_new)
            *it = (struct known){.waits = true, .added = true, .pending = pending};
    } else if (what < 0.41 && it->held) {
        queue_end(queue, it->run);
        it->held = false;
        it->ended = true;
    } else if (what < 0.75 && it->held) {
        queue_return(queue, it->run, pick.struck);
        *it = (struct known){
            .waits = true, .returned = step + 1, .struck = pick.struck, .pending = it->pending};
    } else if (next != QUEUE_END) {
        CHECK(queue->run[queue_front(queue, pick)].run.cell == next);
        known[next].run = queue_take(queue, pick);
        CHECK(queue->run[known[next].run].run.cell == next);
        known[next].waits = false;
        known[next].held = true;
    }
}

TEST(pending_runs_come_by_class_then_turn_then_cell)
{
    const struct pending_run sorted[] = {{.cell = 9, .cost = 8, .turn = 9}, {.cell = 1, .cost = 4, .turn = 0},
        {.cell = 2, .cost = 7.999, .turn = 0}, {.cell = 0, .cost = 5, .turn = 1}, {.cell = 3, .cost = 3.99},
        {.cell = 4, .cost = 0}, {.cell = 5, .cost = 16, .deaths = 2}, {.cell = 6, .cost = 1, .deaths = 1}};

    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            int order = pending_run_compare(&sorted[i], &sorted[j]);
            CHECK((order > 0) - (order < 0) == (i > j) - (i < j));
        }
}

TEST(queue_keeps_its_order_whatever_comes_and_goes)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pending_run pending[FIRST];
        struct known known[CELLS] = {{.waits = false}};
        struct queue queue;
        for (int i = 0; i < FIRST; i++) {
            pending[i] = draw_run(i, seed, (uint64_t)i);
            known[i] = (struct known){.waits = true, .pending = pending[i]};
        }
        struct run_list list = {pending, FIRST};
        CHECK(queue_init(&queue, listed_runs(&list), FIRST) == 0);
        for (int64_t step = 0; step < STEPS; step++) {
            int64_t waiting = 0;
            double sum = 0;
            change(&queue, known, step, seed);
            for (int64_t i = 0; i < CELLS; i++) {
                waiting += known[i].waits;
                sum += known[i].waits ? known[i].pending.cost : 0;
            }
            CHECK(queue.waiting == waiting);
            CHECK_CLOSE(queue.cost, sum, 1e-6);
        }
        queue_release(&queue);
    }
}
