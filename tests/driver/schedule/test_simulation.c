/*
 * No run is lost and none is completed twice, whatever the workers do. SIMULATION_WORKERS, SIMULATION_RUNS
 * and SIMULATION_SEED scale and repeat the large simulation.
 */
#include "model/core/random.h"
#include "tests/driver/schedule/simulated.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEATHS_MOST = 3, POISON_EVERY = 1000 };

/* ---- the coordinator's orders, checked against the true state ---- */

static void takes(struct simulation *s, const struct order *order)
{
    struct cell *cell = &s->cell[order->cell];
    struct simulated *w = &s->worker[order->worker];

    CHECK(cell->truth == TRUTH_PENDING && !s->stopped && !w->given_up);
    CHECK(coordinator_cell(s->coordinator, order->worker, order->ticket) == order->cell);
    cell->truth = TRUTH_HELD;
    cell->ticket = order->ticket;
    if (w->holds == 0)
        w->known = s->now;
    w->holds++;
    CHECK(w->holds <= 1 + s->ahead);
    simulated_send(s, order);
}

static void ends(struct simulation *s, const struct order *order, enum truth truth)
{
    struct cell *cell = &s->cell[order->cell];

    CHECK(cell->truth == TRUTH_HELD && cell->ticket == order->ticket);
    cell->truth = truth;
    s->worker[order->worker].holds--;
}

/* Only the death of a worker that was just lost with blame, or given up, may count. */
static void counts(struct simulation *s, const struct order *order)
{
    struct cell *cell = &s->cell[order->cell];
    int more = order->deaths - cell->deaths;
    bool lost = s->event.kind == EVENT_LOST && s->event.blame && s->event.worker == order->worker;

    CHECK(more == 0 || (more == 1 && (lost || s->worker[order->worker].given_up)));
    s->blamed += more;
    cell->deaths = order->deaths;
}

static void fails(struct simulation *s, const struct order *order)
{
    const struct cell *cell = &s->cell[order->cell];

    CHECK(cell->deaths == DEATHS_MOST - 1);
    counts(s, order);
    CHECK(cell->deaths == DEATHS_MOST);
    CHECK(cell->losses >= DEATHS_MOST && cell->kind != CELL_STUBBORN); /* not counting nodes */
    s->failed++;
    s->unlucky += cell->kind != CELL_POISON;
    ends(s, order, TRUTH_FAILED);
}

static void accepts(struct simulation *s, const struct order *order)
{
    const struct cell *cell = &s->cell[order->cell];

    CHECK(cell->completed == order->ticket && cell->kind != CELL_POISON);
    CHECK(!s->worker[order->worker].given_up);
    s->done++;
    s->last_accept = s->now;
    ends(s, order, TRUTH_DONE);
}

static void stops(struct simulation *s, const struct order *order)
{
    s->told += order->ticket == 0 && !s->stopped;
    if (order->ticket)
        ends(s, order, TRUTH_PENDING);
    simulated_send(s, order);
}

static void gives_up(struct simulation *s, const struct order *order)
{
    struct simulated *w = &s->worker[order->worker];

    CHECK(s->event.kind == EVENT_TICK && !w->given_up);
    CHECK(s->now - w->known > s->silence);
    CHECK(order->cell < 0 || (s->cell[order->cell].truth == TRUTH_HELD && w->holds > 0));
    w->given_up = true;
    s->silent++;
}

static void obey(struct simulation *s, const struct order *order)
{
    switch (order->kind) {
    case ORDER_RUN:
        takes(s, order);
        break;
    case ORDER_STOP:
        stops(s, order);
        break;
    case ORDER_GIVE_UP:
        gives_up(s, order);
        break;
    case ORDER_ACCEPT:
        accepts(s, order);
        break;
    case ORDER_RETURN:
        counts(s, order);
        ends(s, order, TRUTH_PENDING);
        s->returned++;
        break;
    case ORDER_FAIL:
        fails(s, order);
        break;
    case ORDER_QUIT:
        break;
    case ORDER_WITHDRAW:
        break;
    case ORDER_FINISH:
        CHECK(!s->finished);
        s->finished = true;
        break;
    }
}

/* ---- events ---- */

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Updates what the coordinator must know of a worker after its event. */
static void note(struct simulation *s, const struct event *event)
{
    bool of_worker = event->kind != EVENT_TICK && event->kind != EVENT_STOP;

    if (!of_worker || event->worker < 0 || event->worker >= s->workers)
        return;
    int64_t cell = coordinator_cell(s->coordinator, event->worker, event->ticket);
    if (event->kind == EVENT_CHECKPOINT && cell >= 0)
        s->cell[cell].deaths = 0;
    s->worker[event->worker].known = s->now;
    s->worker[event->worker].given_up = false;
}

static void tell(struct simulation *s, struct event event)
{
    struct order order;
    double begin = seconds();
    int64_t orders = 0;

    event.now = s->now;
    s->events++;
    s->event = event;
    note(s, &event);
    coordinator_handle(s->coordinator, &event);
    s->handling += seconds() - begin;
    for (; coordinator_next(s->coordinator, &order); orders++)
        obey(s, &order);
    if (orders > s->most_orders)
        s->most_orders = orders;
}

/* After a tick no worker has a run if it has been silent for longer than any patience. */
static void tick(struct simulation *s)
{
    int overdue = 0;

    tell(s, (struct event){.kind = EVENT_TICK});
    for (int i = 0; i < s->workers; i++)
        overdue += s->worker[i].holds > 0 && s->now - s->worker[i].known > 2 * s->silence;
    CHECK(overdue == 0);
}

void simulate(struct simulation *s)
{
    const uint64_t events_most = 100000 + 60 * (uint64_t)(s->cells + s->workers);
    double next_tick = 0;

    while (!s->finished && s->planned > 0 && s->events < events_most) {
        struct happening it = simulated_next(s);
        s->now = it.time;
        if (s->now > s->stop_at && !s->stopped) {
            tell(s, (struct event){.kind = EVENT_STOP});
            s->stopped = true;
        }
        if (it.kind != MESSAGE)
            simulated_happens(s, &it);
        else if (it.serial == s->node_deaths[it.as.event.node])
            tell(s, it.as.event);
        if (s->now > next_tick) {
            tick(s);
            next_tick = s->now + s->silence / 4;
        }
    }
}

/* ---- sweeps ---- */

/* With faults, some runs are faulty too, and some have killed workers before. */
static void make_faulty(struct simulation *s, int *deaths)
{
    for (int64_t i = 0; i < s->cells; i++) {
        struct cell *cell = &s->cell[i];
        double kind = random_uniform(s->seed + 7, RANDOM_TEST, (uint64_t)i);
        deaths[i] = 0;
        if (i % POISON_EVERY == 3)
            cell->kind = CELL_POISON;
        else if (kind < 0.002)
            cell->kind = CELL_STUBBORN;
        if (kind > 0.5 && cell->kind == CELL_POISON)
            cell->deaths = cell->losses = deaths[i] = DEATHS_MOST - 1;
        s->poison += cell->kind == CELL_POISON;
    }
}

void simulation_init(
    struct simulation *s, int workers, int64_t cells, int ahead, const double *cost, const double *length)
{
    struct coordinator_options options = {
        .silence = s->silence, .deaths = DEATHS_MOST, .orders_ahead = ahead};
    int64_t *pending = malloc((size_t)(cells + 1) * sizeof(*pending));
    int *deaths = malloc((size_t)(cells + 1) * sizeof(*deaths));

    s->workers = workers;
    s->ahead = ahead;
    s->cells = cells;
    s->nodes = (workers + NODE_SIZE - 1) / NODE_SIZE;
    s->cell = calloc((size_t)cells + 1, sizeof(*s->cell));
    s->worker = calloc((size_t)workers, sizeof(*s->worker));
    s->node_deaths = calloc((size_t)s->nodes, sizeof(*s->node_deaths));
    for (int64_t i = 0; i < cells; i++) {
        pending[i] = i;
        s->cell[i].length = length[i];
    }
    if (s->fault > 0) {
        make_faulty(s, deaths);
        simulated_plan_fall(s);
    }
    s->coordinator = coordinator_new(pending, cost, s->fault > 0 ? deaths : NULL, cells, workers, &options);
    CHECK(s->coordinator != NULL);
    free(pending);
    free(deaths);
    for (int i = 0; i < workers; i++) {
        s->worker[i].node = i / NODE_SIZE;
        simulated_arrive(s, i);
    }
}

void simulation_release(struct simulation *s)
{
    coordinator_free(s->coordinator);
    free(s->cell);
    free(s->worker);
    free(s->node_deaths);
    free(s->heap);
}

/* Widely varying costs: a factor of about 50 between the shortest and the longest run. */
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

static void report(const struct simulation *s)
{
    printf("seed %" PRIu64 ": %d workers, %" PRId64 " runs: %" PRId64 " done, %" PRId64 " failed (%" PRId64
           " unlucky), %" PRId64 " returned, %" PRId64 " deaths counted\n",
        s->seed, s->workers, s->cells, s->done, s->failed, s->unlucky, s->returned, s->blamed);
    printf("    %" PRId64 " nodes fell, %" PRId64 " workers given up, %" PRId64 " told to stop, %" PRIu64
           " events at %.0f ns, at most %" PRId64 " orders on one\n",
        s->fallen, s->silent, s->told, s->events, 1e9 * s->handling / (double)s->events, s->most_orders);
}

/* The number of orders when everything that all workers hold is returned and handed out again. */
static void check_all_ended(const struct simulation *s)
{
    struct coordinator_state state;

    coordinator_state(s->coordinator, &state);
    CHECK(s->finished);
    CHECK(s->done + s->failed == s->cells);
    CHECK(s->failed - s->unlucky == s->poison);
    CHECK(s->most_orders <= 2 + (int64_t)s->workers * (2 + 2 * (1 + s->ahead)));
    CHECK(state.pending == 0 && state.running == 0 && state.ended == s->cells && state.cost_left == 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(SCALAR_DOUBLE)
enum { WORKERS = 2000, RUNS = 100000 };
#else
enum { WORKERS = 10000, RUNS = 1000000 };
#endif

/* Prints the cost of an event for both sizes, without a test: times depend on the machine. */
TEST(coordinator_loses_nothing_among_faulty_workers)
{
    int workers = (int)setting("SIMULATION_WORKERS", WORKERS);
    int64_t cells = setting("SIMULATION_RUNS", RUNS);
    uint64_t seed = (uint64_t)setting("SIMULATION_SEED", 1);

    for (int size = 0; size < 2; size++) {
        struct simulation s =
            simulate_faulty(size ? workers : 100, size ? cells : 10000, 1, seed, 0.05, INFINITY);
        report(&s);
        check_all_ended(&s);
        CHECK(s.returned > s.cells / 200 && s.told > s.cells / 1000 && s.fallen > 0);
        CHECK(s.unlucky == 0);
        simulation_release(&s);
    }
}

TEST(coordinator_small_sweeps_from_many_seeds)
{
    int64_t poison = 0, fallen = 0;

    for (uint64_t seed = 0; seed < 300; seed++) {
        int workers = 1 + (int)(seed % 7);
        int64_t cells = (int64_t)(seed * 7 % 41);
        struct simulation s = simulate_faulty(workers, cells, (int)(seed % 4), seed, 0.4, INFINITY);
        check_all_ended(&s);
        poison += s.poison;
        fallen += s.fallen;
        simulation_release(&s);
    }
    CHECK(poison > 0 && fallen > 0);
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
