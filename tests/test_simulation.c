/*
 * Nothing lost and nothing done twice, whatever the workers do. SIMULATION_WORKERS, SIMULATION_RUNS and
 * SIMULATION_SEED scale and repeat the large simulation.
 */
#include "tests/simulation.h"

#include "model/random.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOLD_MAX = 8, LIE_MAX = 3 };

/* What is to happen at a moment of virtual time. */
enum happening_kind {
    MESSAGE, /* to the coordinator */
    ORDER, /* to a worker */
    DONE, /* a worker ends what it trains */
    BEAT, /* a worker gives a sign of life */
    FATE, /* the fate of the run that a worker has begun */
    WAKE,
    RESPAWN,
};

struct happening {
    double time;
    uint64_t sequence; /* ties: in the order they were planned, so messages do not overtake each other */
    enum happening_kind kind;
    int worker;
    uint64_t serial; /* DONE, BEAT, FATE: of what the worker did then; ORDER, WAKE: of its life */
    struct event event;
    struct order order;
};

struct simulated {
    struct order held[HOLD_MAX]; /* held[0] is trained */
    int used;
    bool alive;
    uint64_t life; /* how often it was born */
    uint64_t serial; /* counts what it begins: older plans are void */
    double begun; /* when it began held[0], time asleep left out */
    double wakes; /* asleep until then; 0: awake */
    uint64_t heard_of[LIE_MAX]; /* old tickets to lie about */
};

static double draw(struct simulation *s)
{
    return random_uniform(s->seed, RANDOM_TEST, s->draws++);
}

static bool before(const struct happening *a, const struct happening *b)
{
    return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static struct happening *plan(struct simulation *s, double time, enum happening_kind kind, int worker)
{
    static struct happening latest;

    latest = (struct happening){.time = time, .sequence = s->sequence++, .kind = kind, .worker = worker};
    return &latest;
}

static void commit(struct simulation *s, const struct happening *planned)
{
    struct happening it = *planned;

    if (s->planned == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->heap = realloc(s->heap, s->room * sizeof(*s->heap));
    }
    size_t at = s->planned++;
    for (; at > 0 && before(&it, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = it;
}

static struct happening next_happening(struct simulation *s)
{
    struct happening top = s->heap[0], last = s->heap[--s->planned];
    size_t at = 0;

    for (size_t child = 1; child < s->planned; child = 2 * at + 1) {
        child += child + 1 < s->planned && before(&s->heap[child + 1], &s->heap[child]);
        if (!before(&s->heap[child], &last))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

static void say(
    struct simulation *s, double delay, int worker, enum event_kind kind, uint64_t ticket, bool ended)
{
    struct happening *it = plan(s, s->now + delay, MESSAGE, worker);

    it->event =
        (struct event){.kind = kind, .worker = worker, .ticket = ticket, .ended = ended, .blame = true};
    commit(s, it);
}

static void plan_own(struct simulation *s, double delay, enum happening_kind kind, int worker)
{
    struct happening *it = plan(s, s->now + delay, kind, worker);
    bool of_life = kind == WAKE || kind == RESPAWN;

    it->serial = of_life ? s->worker[worker].life : s->worker[worker].serial;
    commit(s, it);
}

/* ---- the workers ---- */

static void worker_begin(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->serial++;
    if (w->used == 0)
        return;
    double length = s->cell[w->held[0].cell].length;
    w->begun = s->now;
    say(s, s->latency, worker, EVENT_PROGRESS, w->held[0].ticket, false);
    plan_own(s, length, DONE, worker);
    if (draw(s) < s->fault)
        plan_own(s, length * draw(s), FATE, worker);
    if (length > s->silence / 2)
        plan_own(s, s->silence / 2, BEAT, worker);
}

static void worker_remove(struct simulated *w, int at)
{
    w->heard_of[w->held[at].ticket % LIE_MAX] = w->held[at].ticket;
    w->used--;
    memmove(&w->held[at], &w->held[at + 1], (size_t)(w->used - at) * sizeof(w->held[0]));
}

static void worker_done(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    s->cell[w->held[0].cell].completed = w->held[0].ticket;
    say(s, s->latency, worker, EVENT_RESULT, w->held[0].ticket, true);
    if (draw(s) < s->fault) /* says it twice */
        say(s, s->latency, worker, EVENT_RESULT, w->held[0].ticket, true);
    worker_remove(w, 0);
    worker_begin(s, worker);
}

static void worker_stops(struct simulation *s, int worker, uint64_t ticket)
{
    struct simulated *w = &s->worker[worker];
    uint64_t trained = w->used ? w->held[0].ticket : 0;

    for (int i = w->used - 1; i >= 0; i--)
        if (ticket == 0 || w->held[i].ticket == ticket) {
            say(s, s->latency, worker, EVENT_RESULT, w->held[i].ticket, false);
            worker_remove(w, i);
        }
    if (w->used == 0 || w->held[0].ticket != trained)
        worker_begin(s, worker);
}

static void worker_dies(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->alive = false;
    w->used = 0;
    w->serial++;
    w->life++;
    if (draw(s) < 0.7) /* otherwise its silence alone tells */
        say(s, 2 * s->latency, worker, EVENT_LOST, 0, false);
    plan_own(s, (0.1 + draw(s)) * 2 * s->silence, RESPAWN, worker);
}

static void worker_hangs(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->serial++;
    w->wakes = s->now + 2 * s->silence * draw(s);
    plan_own(s, w->wakes - s->now, WAKE, worker);
}

static void worker_lies(struct simulation *s, int worker)
{
    uint64_t other = (uint64_t)(draw(s) * 2 * (double)s->cells);
    uint64_t old = s->worker[worker].heard_of[(int)(draw(s) * LIE_MAX)];
    int elsewhere = (int)(draw(s) * (s->workers + 2)) - 1; /* out of range too */

    say(s, s->latency, worker, EVENT_RESULT, old, true);
    say(s, s->latency, worker, EVENT_PROGRESS, other, false);
    if (s->worker[worker].held[0].ticket != other)
        say(s, s->latency, worker, EVENT_RESULT, other ^ (UINT64_C(1) << 40), true);
    if (elsewhere < 0 || elsewhere >= s->workers)
        say(s, s->latency, elsewhere, EVENT_RESULT, other, true);
}

/* Worker 0 never dies for good nor hangs: somebody has to end the sweep. */
static void worker_fate(struct simulation *s, int worker)
{
    double fate = draw(s);

    if (fate < 0.4 || worker == 0)
        worker_lies(s, worker);
    else if (fate < 0.7)
        worker_dies(s, worker);
    else
        worker_hangs(s, worker);
}

static void worker_obeys(struct simulation *s, const struct happening *it)
{
    struct simulated *w = &s->worker[it->worker];

    if (!w->alive || it->serial != w->life)
        return;
    if (w->wakes > 0) {
        struct happening later = *it;
        later.time = w->wakes;
        later.sequence = s->sequence++;
        commit(s, &later);
    } else if (it->order.kind == ORDER_STOP) {
        worker_stops(s, it->worker, it->order.ticket);
    } else if (it->order.kind == ORDER_RUN) {
        CHECK(w->used < HOLD_MAX);
        w->held[w->used++] = it->order;
        if (w->used == 1)
            worker_begin(s, it->worker);
    }
}

static void worker_wakes(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->wakes = 0;
    if (w->used == 0)
        return;
    say(s, s->latency, worker, EVENT_PROGRESS, w->held[0].ticket, false);
    plan_own(s, s->cell[w->held[0].cell].length * draw(s), DONE, worker);
}

static void worker_happens(struct simulation *s, const struct happening *it)
{
    struct simulated *w = &s->worker[it->worker];

    if (it->kind == ORDER) {
        worker_obeys(s, it);
    } else if (it->kind == WAKE && it->serial == w->life) {
        worker_wakes(s, it->worker);
    } else if (it->kind == RESPAWN && it->serial == w->life) {
        w->alive = true;
        w->wakes = 0;
        say(s, s->latency, it->worker, EVENT_HELLO, 0, false);
    } else if (it->serial == w->serial && it->kind == DONE) {
        worker_done(s, it->worker);
    } else if (it->serial == w->serial && it->kind == FATE) {
        worker_fate(s, it->worker);
    } else if (it->serial == w->serial && it->kind == BEAT) {
        say(s, s->latency, it->worker, EVENT_PROGRESS, w->held[0].ticket, false);
        plan_own(s, s->silence / 2, BEAT, it->worker);
    }
}

/* ---- the coordinator's orders, checked against the truth ---- */

static void send(struct simulation *s, const struct order *order)
{
    struct happening *it = plan(s, s->now + s->latency, ORDER, order->worker);

    it->order = *order;
    it->serial = s->worker[order->worker].life;
    commit(s, it);
}

static void ends(struct simulation *s, const struct order *order, enum truth truth)
{
    struct cell *cell = &s->cell[order->cell];

    CHECK(cell->truth == TRUTH_HELD && cell->ticket == order->ticket);
    cell->truth = truth;
}

static void obey(struct simulation *s, const struct order *order)
{
    struct cell *cell = &s->cell[order->cell >= 0 ? order->cell : 0];

    switch (order->kind) {
    case ORDER_RUN:
        CHECK(cell->truth == TRUTH_PENDING && !s->stopped);
        CHECK(coordinator_cell(s->coordinator, order->worker, order->ticket) == order->cell);
        cell->truth = TRUTH_HELD;
        cell->ticket = order->ticket;
        send(s, order);
        break;
    case ORDER_STOP:
        s->told += order->ticket == 0 && !s->stopped;
        if (order->ticket)
            ends(s, order, TRUTH_PENDING);
        send(s, order);
        break;
    case ORDER_ACCEPT:
        CHECK(cell->completed == order->ticket);
        ends(s, order, TRUTH_DONE);
        s->done++;
        s->last_accept = s->now;
        break;
    case ORDER_RETURN:
        ends(s, order, TRUTH_PENDING);
        s->returned++;
        break;
    case ORDER_FAIL:
        ends(s, order, TRUTH_FAILED);
        s->failed++;
        break;
    case ORDER_QUIT:
    case ORDER_GIVE_UP:
        break;
    case ORDER_FINISH:
        CHECK(!s->finished);
        s->finished = true;
        break;
    }
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void tell(struct simulation *s, struct event event)
{
    struct order order;
    double begin = seconds();

    event.now = s->now;
    s->events++;
    coordinator_handle(s->coordinator, &event);
    s->handling += seconds() - begin;
    while (coordinator_next(s->coordinator, &order))
        obey(s, &order);
}

void simulate(struct simulation *s)
{
    double tick = 0;

    while (!s->finished && s->planned > 0) {
        struct happening it = next_happening(s);
        s->now = it.time;
        if (s->now > s->stop_at && !s->stopped) {
            tell(s, (struct event){.kind = EVENT_STOP});
            s->stopped = true;
        }
        if (it.kind == MESSAGE)
            tell(s, it.event);
        else
            worker_happens(s, &it);
        if (s->now > tick) {
            tell(s, (struct event){.kind = EVENT_TICK});
            tick = s->now + s->silence / 4;
        }
    }
}

void simulation_init(
    struct simulation *s, int workers, int64_t cells, int ahead, const double *cost, const double *length)
{
    struct coordinator_options options = {.silence = s->silence, .deaths = 3, .orders_ahead = ahead};
    int64_t *pending = malloc((size_t)(cells + 1) * sizeof(*pending));

    s->workers = workers;
    s->cells = cells;
    s->cell = calloc((size_t)cells + 1, sizeof(*s->cell));
    s->worker = calloc((size_t)workers, sizeof(*s->worker));
    for (int64_t i = 0; i < cells; i++) {
        pending[i] = i;
        s->cell[i].length = length[i];
    }
    s->coordinator = coordinator_new(pending, cost, NULL, cells, workers, &options);
    CHECK(s->coordinator != NULL);
    free(pending);
    for (int i = 0; i < workers; i++) {
        s->worker[i].alive = true;
        say(s, s->latency, i, EVENT_HELLO, 0, false);
    }
}

void simulation_release(struct simulation *s)
{
    coordinator_free(s->coordinator);
    free(s->cell);
    free(s->worker);
    free(s->heap);
}

/* Costs from a broad distribution: a factor of about 50 between the shortest and the longest. */
static double *draw_costs(uint64_t seed, int64_t count)
{
    double *cost = malloc((size_t)(count + 1) * sizeof(*cost));

    for (int64_t i = 0; i < count; i++)
        cost[i] = exp(4 * random_uniform(seed, RANDOM_TEST, (uint64_t)(i + (INT64_C(1) << 40))) - 2);
    return cost;
}

struct simulation simulate_faulty(
    int workers, int64_t cells, int ahead, uint64_t seed, double fault, double stop_at)
{
    struct simulation s = {.latency = 1e-3, .silence = 5, .fault = fault, .seed = seed, .stop_at = stop_at};
    double *cost = draw_costs(seed, cells);

    simulation_init(&s, workers, cells, ahead, cost, cost);
    simulate(&s);
    free(cost);
    return s;
}

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

TEST(coordinator_loses_nothing_among_faulty_workers)
{
    int workers = (int)setting("SIMULATION_WORKERS", 2000);
    int64_t cells = setting("SIMULATION_RUNS", 100000);
    uint64_t seed = (uint64_t)setting("SIMULATION_SEED", 1);
    struct simulation s = simulate_faulty(workers, cells, 1, seed, 0.05, INFINITY);
    struct coordinator_state state;

    printf("seed %" PRIu64 ": %d workers, %" PRId64 " runs: %" PRId64 " done, %" PRId64 " failed, %" PRId64
           " returned, %" PRId64 " woke, %" PRIu64 " events at %.0f ns\n",
        seed, workers, cells, s.done, s.failed, s.returned, s.told, s.events,
        1e9 * s.handling / (double)s.events);
    CHECK(s.finished);
    CHECK(s.done + s.failed == cells);
    CHECK(s.returned > cells / 200 && s.told > cells / 1000);
    coordinator_state(s.coordinator, &state);
    CHECK(state.pending == 0 && state.running == 0 && state.ended == cells && state.cost_left == 0);
    simulation_release(&s);
}

TEST(coordinator_small_sweeps_from_many_seeds)
{
    int64_t failed = 0;

    for (uint64_t seed = 0; seed < 300; seed++) {
        int workers = 1 + (int)(seed % 7);
        int64_t cells = (int64_t)(seed * 7 % 41);
        struct simulation s = simulate_faulty(workers, cells, (int)(seed % 4), seed, 0.4, INFINITY);
        CHECK(s.finished && s.done + s.failed == cells);
        failed += s.failed;
        simulation_release(&s);
    }
    CHECK(failed > 0);
}

TEST(coordinator_stop_drains)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct simulation s = simulate_faulty(9, 400, 1 + (int)(seed % 2), seed, 0.05, 0.3 * (double)seed);
        int64_t pending = 0;
        CHECK(s.finished);
        for (int64_t i = 0; i < s.cells; i++) {
            pending += s.cell[i].truth == TRUTH_PENDING;
            CHECK(s.cell[i].truth != TRUTH_HELD);
        }
        CHECK(pending + s.done + s.failed == s.cells);
        CHECK(seed > 20 || pending > 0);
        simulation_release(&s);
    }
}
