/* The workers of the simulation, their planned happenings, and the owner of the sweep, who adds cells. */
#include "model/core/random.h"
#include "tests/driver/schedule/simulation.h"
#include "tests/test.h"

double simulated_draw(struct simulation *s)
{
    return random_uniform(s->seed, RANDOM_TEST, s->draws++);
}

static bool chance(struct simulation *s, double probability)
{
    return s->hazards.fault > 0 && simulated_draw(s) < probability;
}

/* ---- planned happenings: a heap ordered by time ---- */

static bool before(const struct happening *a, const struct happening *b)
{
    return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static void plan(struct simulation *s, struct happening it)
{
    if (s->planned == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->heap = realloc(s->heap, s->room * sizeof(*s->heap));
    }
    it.sequence = s->sequence++;
    size_t at = s->planned++;
    for (; at > 0 && before(&it, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = it;
}

struct happening simulated_next(struct simulation *s)
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

static void plan_own(struct simulation *s, double delay, enum happening_kind kind, int worker)
{
    bool of_life = kind == WAKE || kind == RESPAWN;
    uint64_t serial = of_life ? s->worker[worker].life : s->worker[worker].serial;

    plan(s, (struct happening){.time = s->now + delay, .kind = kind, .worker = worker, .serial = serial});
}

void simulated_plan(struct simulation *s, double gap, enum happening_kind kind)
{
    plan(s, (struct happening){.time = s->now + 2 * gap * simulated_draw(s), .kind = kind});
}

/* A worker did not get a run, for which the coordinator may count its death. */
static void note_stray(struct simulation *s, const struct order *order)
{
    if (order->kind != ORDER_RUN)
        return;
    s->cell[order->cell].losses++;
    s->cell[order->cell].strays++;
}

void simulated_send(struct simulation *s, const struct order *order)
{
    bool lost = !s->worker[order->worker].alive;

    if (lost)
        note_stray(s, order); /* its death may be known before the order would arrive */
    plan(s, (struct happening){.time = s->now + s->latency,
                .kind = ORDER,
                .worker = order->worker,
                .serial = s->worker[order->worker].life,
                .lost = lost,
                .as.order = *order});
}

/* ---- messages ---- */

static void deliver(struct simulation *s, double time, int worker, struct event event)
{
    event.worker = worker;
    plan(s, (struct happening){.time = time,
                .kind = MESSAGE,
                .worker = worker,
                .serial = s->node_deaths[event.node],
                .as.event = event});
}

/* Some messages come late, some twice, and some again when everything has changed. */
static void say(struct simulation *s, int worker, enum event_kind kind, uint64_t ticket, bool ended)
{
    struct simulated *w = &s->worker[worker];
    struct event event = {
        .kind = kind, .ticket = ticket, .ended = ended, .node = w->node, .patience = w->patience};
    const struct hazards *hazards = &s->hazards;
    double late = chance(s, hazards->late) ? hazards->delay * simulated_draw(s) : 0;

    w->arrives = fmax(w->arrives, s->now + s->latency + late);
    deliver(s, w->arrives, worker, event);
    if (chance(s, hazards->twice))
        deliver(s, w->arrives + hazards->delay * simulated_draw(s), worker, event);
    if (kind != EVENT_HELLO && chance(s, hazards->stale))
        deliver(s, w->arrives + 4 * s->silence * simulated_draw(s), worker, event);
}

static void say_progress(struct simulation *s, int worker)
{
    const struct simulated *w = &s->worker[worker];

    say(s, worker, EVENT_PROGRESS, w->used > 0 ? w->held[0].ticket : 0, false);
}

/* ---- actions ---- */

static struct cell *trained(struct simulation *s, int worker)
{
    return &s->cell[s->worker[worker].held[0].cell];
}

static void plan_beat(struct simulation *s, int worker)
{
    if (isfinite(s->silence))
        plan_own(s, s->worker[worker].patience / 4, BEAT, worker);
}

/* Not that of worker 0, which always comes back. */
static bool is_on_bad_node(const struct simulation *s, int worker)
{
    int node = s->worker[worker].node;

    return node > 0 && random_uniform(s->seed + 11, RANDOM_TEST, (uint64_t)node) < s->hazards.bad;
}

/* Plans the consequences of what the worker does, which lasts `left` more seconds. */
static void plan_end(struct simulation *s, int worker, double left)
{
    const struct cell *cell = trained(s, worker);

    if (is_on_bad_node(s, worker)) {
        plan_own(s, 0.1 * left, FATE, worker);
    } else if (cell->kind == CELL_POISON) {
        plan_own(s, left * simulated_draw(s), FATE, worker);
    } else if (cell->kind == CELL_STUBBORN && cell->losses < KILLS_OF_STUBBORN) {
        plan_own(s, 0.3 * left, SAVE, worker);
        plan_own(s, 0.6 * left, FATE, worker);
    } else {
        plan_own(s, left, DONE, worker);
        if (chance(s, s->hazards.fault))
            plan_own(s, left * simulated_draw(s), FATE, worker);
        if (chance(s, 0.1))
            plan_own(s, left * simulated_draw(s), SAVE, worker);
    }
}

static void worker_begin(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->serial++;
    plan_beat(s, worker);
    if (w->used > 0) {
        say_progress(s, worker);
        plan_end(s, worker, trained(s, worker)->length);
    } else if (chance(s, s->hazards.idle)) {
        plan_own(s, w->patience * simulated_draw(s), FATE, worker);
    }
}

void simulated_arrive(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];

    w->life++;
    w->alive = true;
    w->wakes = 0;
    w->patience = s->silence * (1 + worker % 2);
    say(s, worker, EVENT_HELLO, 0, false);
    worker_begin(s, worker);
}

static void worker_remove(struct simulated *w, int at)
{
    w->heard_of[w->held[at].ticket % LIE_MAX] = w->held[at].ticket;
    w->used--;
    memmove(&w->held[at], &w->held[at + 1], (size_t)(w->used - at) * sizeof(w->held[0]));
}

/* Two workers may end the same run, one of them under a ticket that is void. */
static void worker_done(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];
    uint64_t ticket = w->held[0].ticket;

    if (ticket >= s->tickets) {
        uint64_t more = 2 * ticket + 1024;
        s->completed = realloc(s->completed, more * sizeof(*s->completed));
        memset(s->completed + s->tickets, 0, (more - s->tickets) * sizeof(*s->completed));
        s->tickets = more;
    }
    s->completed[ticket] = true;
    say(s, worker, EVENT_RESULT, ticket, true);
    worker_remove(w, 0);
    worker_begin(s, worker);
}

static void worker_stops(struct simulation *s, int worker, uint64_t ticket)
{
    struct simulated *w = &s->worker[worker];
    uint64_t trains = w->used ? w->held[0].ticket : 0;

    for (int i = w->used - 1; i >= 0; i--)
        if (ticket == 0 || w->held[i].ticket == ticket) {
            say(s, worker, EVENT_RESULT, w->held[i].ticket, false);
            worker_remove(w, i);
        }
    if (trains && (w->used == 0 || w->held[0].ticket != trains))
        worker_begin(s, worker);
}

/* Most deaths are reported, either after all messages of the worker, or too early to know their cause. Others
 * are noticed only by silence. */
static void say_lost(struct simulation *s, int worker, bool with_node)
{
    const struct simulated *w = &s->worker[worker];
    bool early = simulated_draw(s) < s->hazards.early;
    struct event lost = {.kind = EVENT_LOST, .node = w->node, .blame = !with_node && !early};
    double time = fmax(early ? 0 : w->arrives, s->now + 2 * s->latency);

    if (simulated_draw(s) < s->hazards.unnoticed)
        return;
    deliver(s, time, worker, lost);
    if (chance(s, 0.1))
        deliver(s, time + s->hazards.delay * simulated_draw(s), worker, lost);
}

/* Worker 0 always comes back, so that the sweep can end. */
static void worker_dies(struct simulation *s, int worker, bool with_node)
{
    struct simulated *w = &s->worker[worker];

    /* At least as long as its last messages, and the report of its death, can be under way. */
    double least = 2.4 * s->hazards.delay + 4 * s->latency;

    w->alive = false;
    w->used = 0;
    w->serial++;
    w->life++;
    say_lost(s, worker, with_node);
    if (worker == 0 || simulated_draw(s) >= s->hazards.gone)
        plan_own(s, least + s->hazards.absence * simulated_draw(s), RESPAWN, worker);
}

static void worker_hangs(struct simulation *s, int worker, double duration)
{
    struct simulated *w = &s->worker[worker];

    w->serial++;
    w->wakes = s->now + duration;
    plan_own(s, duration, WAKE, worker);
}

static void worker_lies(struct simulation *s, int worker)
{
    const struct simulated *w = &s->worker[worker];
    uint64_t old = w->heard_of[(int)(simulated_draw(s) * LIE_MAX)];
    uint64_t never = (uint64_t)(simulated_draw(s) * 2 * (double)s->cells) | UINT64_C(1) << 40;
    int elsewhere = (int)(simulated_draw(s) * (s->workers + 20)) - 10;
    const enum event_kind kind[] = {EVENT_HELLO, EVENT_PROGRESS, EVENT_CHECKPOINT, EVENT_RESULT, EVENT_LOST};

    for (int i = 0; i < 5; i++) {
        struct event lie = {.kind = kind[i], .ticket = never, .ended = true, .node = w->node};
        lie.patience = 1e-9;
        if (kind[i] != EVENT_HELLO && kind[i] != EVENT_LOST)
            deliver(s, s->now + s->latency, worker, lie);
        if (elsewhere < 0 || elsewhere >= s->workers)
            deliver(s, s->now + s->latency, elsewhere, lie);
    }
    say(s, worker, EVENT_RESULT, old, true);
    say(s, worker, EVENT_CHECKPOINT, old, true);
}

/* Limits the losses of workers, so that no healthy or stubborn run must fail. */
static bool is_spared(const struct simulation *s, const struct cell *cell, double fate)
{
    if (!cell || cell->kind == CELL_POISON)
        return false;
    if (cell->kind == CELL_STUBBORN)
        return cell->losses >= KILLS_OF_STUBBORN;
    return cell->losses >= s->deaths - 1 || fate < 0.4;
}

static void worker_fate(struct simulation *s, int worker)
{
    struct simulated *w = &s->worker[worker];
    struct cell *cell = w->used > 0 ? trained(s, worker) : NULL;
    double fate = simulated_draw(s);

    if (cell && is_on_bad_node(s, worker)) {
        cell->losses++;
        cell->strays++;
        worker_dies(s, worker, false);
        return;
    }
    if (is_spared(s, cell, fate)) {
        worker_lies(s, worker);
        return;
    }
    if (cell)
        cell->losses++;
    if (cell && cell->kind == CELL_POISON && fate < 0.2)
        worker_hangs(s, worker, 3 * w->patience);
    else if (fate < 0.7 || (cell && cell->kind == CELL_STUBBORN))
        worker_dies(s, worker, false);
    else
        worker_hangs(s, worker, s->hazards.hang * w->patience * simulated_draw(s));
}

/* Neighbours fall together. */
static void nodes_fall(struct simulation *s)
{
    int first = (int)(simulated_draw(s) * s->nodes), count = 1;

    if (s->hazards.burst > 1)
        count += (int)(simulated_draw(s) * s->hazards.burst);
    for (int node = first; node < s->nodes && node < first + count; node++) {
        s->fallen++;
        s->node_deaths[node]++;
    }
    for (int i = 0; i < s->workers; i++)
        if (s->worker[i].alive && s->worker[i].node >= first && s->worker[i].node < first + count)
            worker_dies(s, i, true);
    simulated_plan(s, s->hazards.gap, NODE_FALLS);
}

static void worker_obeys(struct simulation *s, const struct happening *it)
{
    struct simulated *w = &s->worker[it->worker];
    const struct order *order = &it->as.order;
    bool fit = w->alive && it->serial == w->life && w->wakes == 0;

    if (!fit && !it->lost)
        note_stray(s, order);
    if (!w->alive || it->serial != w->life)
        return;
    if (w->wakes > 0) {
        struct happening later = *it;
        later.time = w->wakes;
        plan(s, later);
    } else if (order->kind == ORDER_STOP) {
        worker_stops(s, it->worker, order->ticket);
    } else if (order->kind == ORDER_RUN) {
        CHECK(w->used < HOLD_MAX);
        w->held[w->used++] = *order;
        if (w->used == 1)
            worker_begin(s, it->worker);
    }
}

void simulated_happens(struct simulation *s, const struct happening *it)
{
    struct simulated *w = &s->worker[it->worker];

    if (it->kind == NODE_FALLS) {
        nodes_fall(s);
    } else if (it->kind == ORDER) {
        worker_obeys(s, it);
    } else if (it->kind == WAKE && it->serial == w->life) {
        w->wakes = 0;
        say_progress(s, it->worker);
        plan_beat(s, it->worker);
        if (w->used > 0)
            plan_end(s, it->worker, trained(s, it->worker)->length * simulated_draw(s));
    } else if (it->kind == RESPAWN && it->serial == w->life) {
        if (chance(s, s->hazards.moves)) /* to another node */
            w->node = (int)(simulated_draw(s) * s->nodes);
        simulated_arrive(s, it->worker);
    } else if (it->serial == w->serial && it->kind == DONE) {
        worker_done(s, it->worker);
    } else if (it->serial == w->serial && it->kind == FATE) {
        worker_fate(s, it->worker);
    } else if (it->serial == w->serial && it->kind == SAVE) {
        say(s, it->worker, EVENT_CHECKPOINT, w->held[0].ticket, false);
    } else if (it->serial == w->serial && it->kind == BEAT) {
        say_progress(s, it->worker);
        plan_beat(s, it->worker);
    }
}

/* ---- the owner ---- */

enum { BATCH_MAX = 64 };

struct batch_of_cells {
    struct pending_run run[BATCH_MAX + 1];
    int count;
};

static int64_t any_cell(struct simulation *s)
{
    return (int64_t)(simulated_draw(s) * (double)s->cells);
}

/* Chooses cells that are not there, each once, which counts as pending from now on. */
static void choose(struct simulation *s, struct batch_of_cells *batch)
{
    int wanted = 1 + (int)(simulated_draw(s) * s->owner.batch);

    for (int i = 0; i < 3 * wanted && batch->count < wanted && batch->count < s->owner.most; i++) {
        int64_t at = any_cell(s);
        struct cell *cell = &s->cell[at];
        if (cell->truth != TRUTH_ABSENT)
            continue;
        batch->run[batch->count++] = (struct pending_run){
            .cell = (int)at, .cost = cell->length * (0.5 + simulated_draw(s)), .deaths = cell->deaths};
        cell->truth = TRUTH_PENDING;
    }
}

/* `order`: the one that it responds to; NULL: none. */
static void add(struct simulation *s, const struct order *order)
{
    struct batch_of_cells batch = {.count = 0};
    struct coordinator_state state;

    coordinator_state(s->coordinator, &state);
    choose(s, &batch);
    int64_t vain = any_cell(s); /* if it is there, it must not be added */
    int more = s->cell[vain].truth != TRUTH_ABSENT;
    batch.run[batch.count] = (struct pending_run){.cell = (int)vain, .cost = 1};
    int64_t added = coordinator_add(s->coordinator, batch.run, batch.count + more, s->now);
    CHECK(added == (s->stopped || s->home ? 0 : batch.count));
    s->owner.refused += added == 0;
    s->owner.added += added;
    bool continued = order && added > 0 && state.pending + state.running == 0;
    s->owner.continued += continued;
    s->owner.after_failure += continued && order->kind == ORDER_FAIL;
    s->owner.most -= batch.count;
    for (int i = 0; added == 0 && i < batch.count; i++)
        s->cell[batch.run[i].cell].truth = TRUTH_ABSENT;
}

void owner_decides(struct simulation *s)
{
    if (s->owner.most > 0 && s->cells > 0)
        add(s, NULL);
}

void owner_responds(struct simulation *s, const struct order *order)
{
    bool of_run = order->kind != ORDER_QUIT && order->kind != ORDER_FINISH && order->cell >= 0;

    if (of_run && !s->home && s->owner.most > 0 && simulated_draw(s) < s->owner.adds)
        add(s, order);
}
