/*
 * The workers as the coordinator knows them: states, last messages, nodes. Every change of a state goes
 * through pool_enter, which keeps the counts and the chain of idle workers in step. Time is passed in; a
 * worker is silent once `since` + `patience` is over.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <math.h>
#include <stdlib.h>

int pool_init(struct pool *pool, int size)
{
    *pool = (struct pool){
        .size = size,
        .worker = calloc((size_t)size + 1, sizeof(*pool->worker)),
        .count[WORKER_ABSENT] = size,
        .node = calloc((size_t)size + 1, sizeof(*pool->node)),
    };
    if (chain_init(&pool->idle, size) != 0 || !pool->worker || !pool->node)
        return -1;
    for (int i = 0; i < size; i++) {
        pool->worker[i].heard = -INFINITY;
        pool->node[i].heard = pool->node[i].arrived = -INFINITY;
    }
    return 0;
}

void pool_release(struct pool *pool)
{
    chain_release(&pool->idle);
    free(pool->worker);
    free(pool->node);
    *pool = (struct pool){0};
}

static struct worker *worker_of(const struct pool *pool, int worker)
{
    INVARIANT(worker >= 0 && worker < pool->size, "worker %d of %d", worker, pool->size);
    return &pool->worker[worker];
}

struct pool_node *pool_node_of(const struct pool *pool, int worker)
{
    return &pool->node[worker_of(pool, worker)->node];
}

/* Changes a node, and the number of open ones with it. */
static void change_node(struct pool *pool, struct pool_node *node, int able, bool shut)
{
    pool->open -= node->able > 0 && !node->shut;
    node->able += able;
    node->shut = shut;
    pool->open += node->able > 0 && !node->shut;
}

void pool_enter(struct pool *pool, int worker, enum worker_state state)
{
    struct worker *w = worker_of(pool, worker);
    struct pool_node *node = &pool->node[w->node];
    int was = w->state == WORKER_IDLE || w->state == WORKER_BUSY;

    INVARIANT(pool->count[w->state] > 0, "worker %d leaves state %d", worker, w->state);
    INVARIANT(state != WORKER_ABSENT && state < WORKER_STATES, "worker %d enters state %d", worker, state);
    pool->count[w->state]--;
    pool->count[state]++;
    w->state = state;
    change_node(pool, node, (state == WORKER_IDLE || state == WORKER_BUSY) - was, node->shut);
    if (state == WORKER_IDLE)
        chain_append(&pool->idle, worker);
    else
        chain_remove(&pool->idle, worker);
}

void pool_rest(struct pool *pool, int worker)
{
    pool_enter(pool, worker, pool_node_of(pool, worker)->shut ? WORKER_SHUT : WORKER_IDLE);
}

bool pool_is_trusted(const struct pool *pool, int worker)
{
    return pool_node_of(pool, worker)->proven || pool->open <= 1;
}

/* Shuts a node or opens it, and with it those of its workers that hold no ticket. */
static void set_shut(struct pool *pool, struct pool_node *node, bool shut)
{
    change_node(pool, node, 0, shut);
    for (int i = 0; i < pool->size; i++)
        if (&pool->node[pool->worker[i].node] == node &&
            pool->worker[i].state == (shut ? WORKER_IDLE : WORKER_SHUT))
            pool_rest(pool, i);
}

void pool_shut(struct pool *pool, int worker)
{
    struct pool_node *node = pool_node_of(pool, worker);

    INVARIANT(!node->proven && !node->shut, "worker %d is on a node that has finished a run", worker);
    set_shut(pool, node, true);
}

bool pool_prove(struct pool *pool, int worker)
{
    struct pool_node *node = pool_node_of(pool, worker);
    bool was_shut = node->shut;

    node->proven = true;
    if (was_shut)
        set_shut(pool, node, false);
    return was_shut;
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
}

void pool_grant(struct pool *pool, int worker, double patience, double now)
{
    struct worker *w = worker_of(pool, worker);

    INVARIANT(patience > 0, "worker %d has a patience of %g", worker, patience);
    w->since = now;
    w->patience = patience;
}

bool pool_is_silent(const struct pool *pool, int worker, double now)
{
    const struct worker *w = worker_of(pool, worker);
    bool matters = w->state == WORKER_IDLE || w->state == WORKER_BUSY || w->state == WORKER_LEAVING;

    return matters && w->since + w->patience < now;
}

bool pool_node_lives(const struct pool *pool, int worker)
{
    const struct worker *w = worker_of(pool, worker);
    const struct pool_node *node = &pool->node[w->node];

    return node->heard >= w->since + w->patience / 2 && node->arrived <= w->heard;
}
