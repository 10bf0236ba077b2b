/*
 * The workers as the coordinator knows them: states, last messages, deadlines, nodes. Every change of a state
 * goes through pool_enter, which keeps the counts, the chain of idle workers and the deadlines in step. Time
 * is passed in; a worker is silent once `since` + `patience` is over, and pool_silent returns it once.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <math.h>
#include <stdlib.h>

struct pool_node {
    double heard; /* seconds: the last message of any of its workers */
    double arrived; /* seconds: the last arrival of a worker */
};

int pool_init(struct pool *pool, int size)
{
    *pool = (struct pool){
        .size = size,
        .worker = calloc((size_t)size + 1, sizeof(*pool->worker)),
        .count[WORKER_ABSENT] = size,
        .node = malloc(((size_t)size + 1) * sizeof(*pool->node)),
    };
    int failed = chain_init(&pool->idle, size) | deadlines_init(&pool->deadlines, size);
    if (failed || !pool->worker || !pool->node)
        return -1;
    for (int i = 0; i < size; i++) {
        pool->worker[i].heard = -INFINITY;
        pool->node[i] = (struct pool_node){-INFINITY, -INFINITY};
    }
    return 0;
}

void pool_release(struct pool *pool)
{
    chain_release(&pool->idle);
    deadlines_release(&pool->deadlines);
    free(pool->worker);
    free(pool->node);
    *pool = (struct pool){0};
}

/* Does its silence matter? It has a run, or could get one. */
static bool is_watched(const struct worker *w)
{
    return w->state == WORKER_IDLE || w->state == WORKER_BUSY || w->state == WORKER_LEAVING;
}

static void watch_worker(struct pool *pool, int worker)
{
    const struct worker *w = &pool->worker[worker];

    deadline_set(&pool->deadlines, worker, is_watched(w) ? w->since + w->patience : INFINITY);
}

static struct worker *worker_of(const struct pool *pool, int worker)
{
    INVARIANT(worker >= 0 && worker < pool->size, "worker %d of %d", worker, pool->size);
    return &pool->worker[worker];
}

void pool_enter(struct pool *pool, int worker, enum worker_state state)
{
    struct worker *w = worker_of(pool, worker);

    INVARIANT(pool->count[w->state] > 0, "worker %d leaves state %d", worker, w->state);
    INVARIANT(state != WORKER_ABSENT && state < WORKER_STATES, "worker %d enters state %d", worker, state);
    pool->count[w->state]--;
    pool->count[state]++;
    w->state = state;
    if (state == WORKER_IDLE)
        chain_append(&pool->idle, worker);
    else
        chain_remove(&pool->idle, worker);
    watch_worker(pool, worker);
}

void pool_arrive(struct pool *pool, int worker, int node, double now)
{
    INVARIANT(node >= 0 && node < pool->size, "worker %d on node %d of %d", worker, node, pool->size);
    worker_of(pool, worker)->node = node;
    pool->node[node].arrived = now;
    pool_hear(pool, worker, now);
}

void pool_hear(struct pool *pool, int worker, double now)
{
    struct worker *w = worker_of(pool, worker);

    INVARIANT(now >= w->heard, "worker %d is heard at %g after %g", worker, now, w->heard);
    w->heard = w->since = now;
    pool->node[w->node].heard = now;
    watch_worker(pool, worker);
}

void pool_grant(struct pool *pool, int worker, double patience, double now)
{
    struct worker *w = worker_of(pool, worker);

    INVARIANT(patience > 0, "worker %d has a patience of %g", worker, patience);
    w->since = now;
    w->patience = patience;
    watch_worker(pool, worker);
}

int pool_silent(struct pool *pool, double now)
{
    int worker = deadline_passed(&pool->deadlines, now);

    if (worker == DEADLINE_NONE)
        return NOBODY;
    INVARIANT(
        is_watched(worker_of(pool, worker)), "worker %d in state %d", worker, pool->worker[worker].state);
    return worker;
}

bool pool_node_lives(const struct pool *pool, int worker)
{
    const struct worker *w = worker_of(pool, worker);
    const struct pool_node *node = &pool->node[w->node];

    return node->heard >= w->since + w->patience / 2 && node->arrived <= w->heard;
}
