/* The simulation: it drives the coordinator, and compares each order with the true state. */
#include "model/core/random.h"
#include "tests/driver/schedule/listed.h"
#include "tests/driver/schedule/simulation.h"
#include "tests/test.h"
#include "worker/host/host.h"

/* ---- the coordinator's orders, checked against the true state ---- */

static void takes(struct simulation *s, const struct order *order)
{
    struct cell *cell = &s->cell[order->cell];
    struct simulated *w = &s->worker[order->worker];

    CHECK(cell->truth == TRUTH_PENDING && !s->stopped && !w->given_up);
    int64_t held = coordinator_cell(s->coordinator, order->worker, order->ticket);
    CHECK(held == order->cell || held == -1);
    cell->passing = held == -1;
    s->passing += cell->passing;
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
    s->passing -= cell->passing;
    cell->passing = false;
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

    CHECK(cell->deaths == s->deaths - 1);
    counts(s, order);
    CHECK(cell->deaths == s->deaths);
    CHECK(cell->losses >= s->deaths); /* not counting nodes */
    CHECK(cell->kind != CELL_STUBBORN || cell->strays >= s->deaths - 1);
    s->failed++;
    s->unlucky += cell->kind != CELL_POISON;
    ends(s, order, TRUTH_FAILED);
}

static void accepts(struct simulation *s, const struct order *order)
{
    const struct cell *cell = &s->cell[order->cell];

    CHECK(order->ticket < s->tickets && s->completed[order->ticket] && cell->kind != CELL_POISON);
    CHECK(!s->worker[order->worker].given_up);
    s->done++;
    s->last_accept = s->now;
    ends(s, order, TRUTH_DONE);
}

/* From now on the coordinator takes no decisions. */
static void finishes(struct simulation *s)
{
    const struct pending_run run = {.cell = (int)s->cells, .cost = 1};

    CHECK(!s->finished);
    CHECK(coordinator_add(s->coordinator, &run, 1, s->now) == 0);
    s->finished = s->home = true;
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
        s->told += order->ticket == 0 && !s->stopped;
        if (order->ticket)
            ends(s, order, TRUTH_PENDING);
        simulated_send(s, order);
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
        s->home = true;
        break;
    case ORDER_PARDON:
        CHECK(order->deaths <= s->cell[order->cell].deaths);
        s->cell[order->cell].deaths = order->deaths;
        break;
    case ORDER_SHUT:
        s->shut++;
        break;
    case ORDER_OPEN:
        s->opened++;
        break;
    case ORDER_FINISH:
        finishes(s);
        break;
    }
}

/* ---- events ---- */

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

static void obey_all(struct simulation *s)
{
    struct order order;
    int64_t orders = 0;

    for (; coordinator_next(s->coordinator, &order); orders++) {
        obey(s, &order);
        owner_responds(s, &order);
    }
    CHECK(s->passing == 0);
    if (orders > s->most_orders)
        s->most_orders = orders;
}

static void tell(struct simulation *s, struct event event)
{
    double begin = clock_now();

    event.now = s->now;
    s->events++;
    s->event = event;
    note(s, &event);
    coordinator_handle(s->coordinator, &event);
    s->handling += clock_now() - begin;
    obey_all(s);
}

/* After a tick no worker has a run if it has been silent for longer than any patience, but for rounding. */
static void tick(struct simulation *s)
{
    int overdue = 0;

    tell(s, (struct event){.kind = EVENT_TICK});
    for (int i = 0; i < s->workers; i++)
        overdue += s->worker[i].holds > 0 && s->now - s->worker[i].known > 2.0001 * s->silence;
    CHECK(overdue == 0);
}

void simulate(struct simulation *s)
{
    const uint64_t events_most = 1000000 + 60 * (uint64_t)(s->cells + s->workers + s->owner.most);
    double next_tick = 0;

    while (!s->finished && s->planned > 0 && s->events < events_most) {
        struct happening it = simulated_next(s);
        s->now = it.time;
        if (s->now > s->stop_at && !s->stopped) {
            s->stopped = true;
            tell(s, (struct event){.kind = EVENT_STOP});
        }
        if (it.kind == DECISION) {
            owner_decides(s);
            obey_all(s);
            simulated_plan(s, s->owner.gap, DECISION);
        } else if (it.kind != MESSAGE) {
            simulated_happens(s, &it);
        } else if (it.serial == s->node_deaths[it.as.event.node]) {
            tell(s, it.as.event);
        }
        if (s->now > next_tick) {
            tick(s);
            next_tick = s->now + s->silence / 4;
        }
    }
}

/* ---- sweeps ---- */

struct hazards usual_hazards(double fault, double silence, int nodes)
{
    return (struct hazards){
        .fault = fault,
        .idle = fault / 5,
        .late = fault / 5,
        .delay = silence / 8,
        .twice = fault / 5,
        .stale = fault / 20,
        .unnoticed = 0.3,
        .early = 0.1,
        .gone = 0.02,
        .absence = 2 * silence,
        .moves = 0.2,
        .hang = 2,
        .gap = 5 * silence / (fault * nodes),
        .burst = 1,
        .poison = 0.001,
        .stubborn = 0.002,
    };
}

/* Some runs are faulty, too, and some have killed workers before. */
static void make_faulty(struct simulation *s)
{
    for (int64_t i = 0; i < s->cells; i++) {
        struct cell *cell = &s->cell[i];
        double kind = random_uniform(s->seed + 7, RANDOM_TEST, (uint64_t)i);
        if (kind < s->hazards.poison)
            cell->kind = CELL_POISON;
        else if (kind < s->hazards.poison + s->hazards.stubborn)
            cell->kind = CELL_STUBBORN;
        if (kind < s->hazards.poison / 2)
            cell->deaths = cell->losses = s->deaths - 1;
    }
}

/* The coordinator gets the cells that are there at first; `cost` [cells] is of all cells. */
static void make_coordinator(struct simulation *s, const double *cost)
{
    struct coordinator_options options = {
        .silence = s->silence, .deaths = s->deaths, .orders_ahead = s->ahead};
    struct pending_run *pending = malloc((size_t)(s->cells + 1) * sizeof(*pending));
    int64_t count = 0;

    for (int64_t i = 0; i < s->cells; i++) {
        if (random_uniform(s->seed + 8, RANDOM_TEST, (uint64_t)i) < s->owner.absent) {
            s->cell[i].truth = TRUTH_ABSENT;
            continue;
        }
        pending[count++] = (struct pending_run){.cell = (int)i, .cost = cost[i], .deaths = s->cell[i].deaths};
    }
    struct run_list list = {pending, count};
    s->coordinator = coordinator_new(listed_runs(&list), count, s->workers, &options);
    CHECK(s->coordinator != NULL);
    free(pending);
}

void simulation_init(
    struct simulation *s, int workers, int64_t cells, int ahead, const double *cost, const double *length)
{
    s->workers = workers;
    s->ahead = ahead;
    s->cells = cells;
    s->deaths = s->deaths ? s->deaths : 3;
    s->nodes = (workers + NODE_SIZE - 1) / NODE_SIZE;
    s->cell = calloc((size_t)cells + 1, sizeof(*s->cell));
    s->worker = calloc((size_t)workers, sizeof(*s->worker));
    s->node_deaths = calloc((size_t)s->nodes, sizeof(*s->node_deaths));
    for (int64_t i = 0; i < cells; i++)
        s->cell[i].length = length[i];
    if (s->hazards.fault > 0) {
        make_faulty(s);
        simulated_plan(s, s->hazards.gap, NODE_FALLS);
    }
    if (s->owner.gap > 0)
        simulated_plan(s, s->owner.gap, DECISION);
    make_coordinator(s, cost);
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
    free(s->completed);
    free(s->heap);
}

double *simulation_costs(uint64_t seed, int64_t count)
{
    double *cost = malloc((size_t)(count + 1) * sizeof(*cost));

    for (int64_t i = 0; i < count; i++)
        cost[i] = exp(4 * random_uniform(seed, RANDOM_TEST, (uint64_t)(i + (INT64_C(1) << 40))) - 2);
    return cost;
}

void simulation_report(const struct simulation *s)
{
    const struct owner *owner = &s->owner;

    printf("seed %" PRIu64 ": %d workers, %" PRId64 " runs: %" PRId64 " done, %" PRId64 " failed (%" PRId64
           " unlucky), %" PRId64 " returned, %" PRId64 " deaths counted\n",
        s->seed, s->workers, s->cells, s->done, s->failed, s->unlucky, s->returned, s->blamed);
    printf("    %" PRId64 " nodes fell, %" PRId64 " workers given up, %" PRId64 " told to stop, %" PRIu64
           " events at %.0f ns, at most %" PRId64 " orders on one; %" PRId64 " nodes shut, %" PRId64
           " opened\n",
        s->fallen, s->silent, s->told, s->events, 1e9 * s->handling / (double)s->events, s->most_orders,
        s->shut, s->opened);
    if (owner->batch > 0)
        printf("    %" PRId64 " runs added, %" PRId64 " additions without effect\n", owner->added,
            owner->refused);
}

void simulation_check(const struct simulation *s)
{
    struct coordinator_state state;
    int64_t count[TRUTH_ABSENT + 1] = {0}, cured = 0;

    for (int64_t i = 0; i < s->cells; i++) {
        count[s->cell[i].truth]++;
        cured += s->cell[i].truth == TRUTH_DONE && s->cell[i].kind == CELL_POISON;
    }
    coordinator_state(s->coordinator, &state);
    CHECK(s->finished && cured == 0);
    CHECK(count[TRUTH_HELD] == 0 && (s->stopped || count[TRUTH_PENDING] == 0));
    CHECK(count[TRUTH_DONE] == s->done && count[TRUTH_FAILED] == s->failed);
    CHECK(state.pending == count[TRUTH_PENDING] && state.running == 0);
    CHECK(state.ended == s->done + s->failed && (state.pending > 0 || state.cost_left == 0));
    /* The number of orders when everything that all workers hold is returned and handed out again: */
    CHECK(s->owner.batch > 0 || s->shut > 0 ||
          s->most_orders <= 2 + (int64_t)s->workers * (2 + 2 * (1 + s->ahead)));
}
