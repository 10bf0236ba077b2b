/* The order in which runs are taken, against a search through all of them. */
#include "driver/schedule/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

enum { CELLS = 60, FIRST = 20, STEPS = 4000 };

/* What the queue must know of a cell. */
struct known {
    bool waits, held, ended;
    int64_t run;
    int64_t returned; /* when; 0: never */
    double cost;
};

static bool comes_before(const struct known *known, int64_t cell, int64_t other)
{
    const struct known *a = &known[cell], *b = &known[other];

    if (a->returned != b->returned)
        return a->returned > b->returned;
    return a->cost > b->cost || (a->cost == b->cost && cell < other);
}

static int64_t next_of(const struct known *known)
{
    int64_t next = QUEUE_END;

    for (int64_t cell = 0; cell < CELLS; cell++)
        if (known[cell].waits && (next == QUEUE_END || comes_before(known, cell, next)))
            next = cell;
    return next;
}

/* One change: a cell is added, the next one is taken, or one that is held is returned or ends. */
static void change(struct queue *queue, struct known *known, int64_t step, uint64_t seed)
{
    int64_t cell = (int64_t)random_below(seed, RANDOM_TEST, 3 * (uint64_t)step, CELLS);
    double what = random_uniform(seed, RANDOM_TEST, 3 * (uint64_t)step + 1);
    double cost = (double)random_below(seed, RANDOM_TEST, 3 * (uint64_t)step + 2, 30);
    struct known *it = &known[cell];
    int64_t next = next_of(known);

    if (what < 0.4) {
        CHECK(queue_reserve(queue, 1, cell) == 0);
        bool is_new = !it->waits && !it->held && !it->ended;
        CHECK(queue_add(queue, cell, cost, 0) == is_new);
        if (is_new)
            *it = (struct known){.waits = true, .cost = cost};
    } else if (what < 0.41 && it->held) {
        queue_end(queue, it->run);
        it->held = false;
        it->ended = true;
    } else if (what < 0.75 && it->held) {
        queue_return(queue, it->run);
        *it = (struct known){.waits = true, .returned = step + 1, .cost = it->cost};
    } else if (next != QUEUE_END) {
        CHECK(queue->run[queue_front(queue)].cell == next);
        known[next].run = queue_take(queue);
        CHECK(queue->run[known[next].run].cell == next);
        known[next].waits = false;
        known[next].held = true;
    }
}

TEST(queue_keeps_its_order_whatever_comes_and_goes)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        int64_t cell[FIRST];
        double cost[FIRST];
        struct known known[CELLS] = {{.waits = false}};
        struct queue queue;
        for (int i = 0; i < FIRST; i++) {
            cell[i] = i;
            cost[i] = (double)random_below(seed, RANDOM_TEST, (uint64_t)i, 30);
            known[i] = (struct known){.waits = true, .cost = cost[i]};
        }
        CHECK(queue_init(&queue, cell, cost, NULL, FIRST) == 0);
        for (int64_t step = 0; step < STEPS; step++) {
            int64_t waiting = 0;
            double sum = 0;
            change(&queue, known, step, seed);
            for (int64_t i = 0; i < CELLS; i++) {
                waiting += known[i].waits;
                sum += known[i].waits ? known[i].cost : 0;
            }
            CHECK(queue.waiting == waiting);
            CHECK_CLOSE(queue.cost, sum, 1e-6);
        }
        queue_release(&queue);
    }
}
