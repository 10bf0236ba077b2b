/* Single decisions of the coordinator, one test for each rule. */
#include "driver/schedule/schedule.h"
#include "tests/driver/schedule/listed.h"
#include "tests/failing.h"
#include "tests/scratch.h"

#include <signal.h>
#include <sys/resource.h>

/* A coordinator step by step, and the orders that the last event brought. */
enum { TRIAL_WORKERS = 4, TRIAL_RUNS = 4, TRIAL_ORDERS = 64, RUNS_EACH = 12 };

struct trial {
    struct coordinator *c;
    struct order order[TRIAL_ORDERS];
    int count;
    double now;
};

/* At most TRIAL_RUNS runs: cells 10, 11 and so on, each shorter than the one before. `deaths` may be NULL. */
static struct trial begin(int runs, double silence, const int *deaths)
{
    struct pending_run pending[TRIAL_RUNS];
    struct coordinator_options options = {.silence = silence, .deaths = 3, .orders_ahead = 0};

    for (int i = 0; i < runs; i++)
        pending[i] =
            (struct pending_run){.cell = 10 + i, .cost = 4 - i, .turn = i, .deaths = deaths ? deaths[i] : 0};
    struct trial t = {
        .c = coordinator_new(listed_runs(&(struct run_list){pending, runs}), runs, TRIAL_WORKERS, &options)};
    CHECK(t.c != NULL);
    return t;
}

/* RUNS_EACH equal runs for each worker, cells 0, 1 and so on; the first who comes gets two: one is ahead. */
static struct trial begin_ahead(int workers, double silence)
{
    struct pending_run pending[TRIAL_WORKERS * RUNS_EACH];
    struct coordinator_options options = {.silence = silence, .deaths = 3, .orders_ahead = 1};

    for (int i = 0; i < workers * RUNS_EACH; i++)
        pending[i] = (struct pending_run){.cell = i, .cost = 1};
    int runs = workers * RUNS_EACH;
    return (struct trial){
        .c = coordinator_new(listed_runs(&(struct run_list){pending, runs}), runs, workers, &options)};
}

static void take_orders(struct trial *t)
{
    t->count = 0;
    while (t->count < TRIAL_ORDERS && coordinator_next(t->c, &t->order[t->count]))
        t->count++;
}

/* Takes one event, at t->now. */
static void event(struct trial *t, struct event event)
{
    event.now = t->now;
    coordinator_handle(t->c, &event);
    take_orders(t);
}

static const struct order *find(const struct trial *t, enum order_kind kind)
{
    for (int i = 0; i < t->count; i++)
        if (t->order[i].kind == kind)
            return &t->order[i];
    return NULL;
}

static bool has(const struct trial *t, enum order_kind kind)
{
    return find(t, kind) != NULL;
}

/* The first order of a kind; to worker -1: there is none. */
static struct order got(const struct trial *t, enum order_kind kind)
{
    const struct order none = {.worker = -1, .cell = -1, .deaths = -1}, *found = find(t, kind);

    return found ? *found : none;
}

/* The first ticket that is given, or 0. */
static uint64_t hello(struct trial *t, int worker, int node, double patience)
{
    event(t, (struct event){.kind = EVENT_HELLO, .worker = worker, .node = node, .patience = patience});
    return got(t, ORDER_RUN).ticket;
}

static void progress(struct trial *t, int worker, uint64_t ticket, double patience)
{
    event(
        t, (struct event){.kind = EVENT_PROGRESS, .worker = worker, .ticket = ticket, .patience = patience});
}

static void checkpoint(struct trial *t, int worker, uint64_t ticket)
{
    event(t, (struct event){.kind = EVENT_CHECKPOINT, .worker = worker, .ticket = ticket});
}

static void result(struct trial *t, int worker, uint64_t ticket, bool ended)
{
    event(t, (struct event){.kind = EVENT_RESULT, .worker = worker, .ticket = ticket, .ended = ended});
}

static void lost(struct trial *t, int worker, bool blame)
{
    event(t, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = blame});
}

/* Who is given up first at a time, or -1. */
static int tick(struct trial *t, double now)
{
    t->now = now;
    event(t, (struct event){.kind = EVENT_TICK});
    return has(t, ORDER_GIVE_UP) ? got(t, ORDER_GIVE_UP).worker : -1;
}

static struct coordinator_state state(const struct trial *t)
{
    struct coordinator_state now;

    coordinator_state(t->c, &now);
    return now;
}

/* A test of a coordinator that begins as an expression says. */
#define TRIAL(id, begin) TEST_IN(id, struct trial, t, *t = begin, coordinator_free(t->c))

/* The same behind the hello of worker 0, which gets this ticket. */
#define TRIAL_OF_ONE(id, begin)                                                                              \
    static void trial_of_one_##id(struct trial *t, uint64_t ticket);                                         \
    TRIAL(id, begin)                                                                                         \
    {                                                                                                        \
        trial_of_one_##id(t, hello(t, 0, 0, 0));                                                             \
    }                                                                                                        \
    static void trial_of_one_##id(struct trial *t, uint64_t ticket)

/* ---- deaths ---- */

TRIAL(coordinator_fails_a_run_that_kills_its_workers, begin(1, INFINITY, NULL))
{
    for (int i = 0; i < 3; i++) {
        CHECK(hello(t, i, 0, 0) > 0);
        lost(t, i, true);
        CHECK(t->order[0].kind == (i < 2 ? ORDER_RETURN : ORDER_FAIL));
        CHECK(t->order[0].cell == 10 && t->order[0].deaths == i + 1);
    }
    CHECK(t->count == 2 && has(t, ORDER_FINISH));
}

TRIAL(coordinator_counts_deaths_before_now, begin(2, INFINITY, (int[]){2, 1}))
{
    hello(t, 0, 0, 0);
    lost(t, 0, false);
    CHECK(got(t, ORDER_RETURN).deaths == 2);
    hello(t, 0, 0, 0);
    hello(t, 1, 0, 0);
    lost(t, 0, true);
    CHECK(got(t, ORDER_FAIL).cell == 10 && got(t, ORDER_FAIL).deaths == 3);
    lost(t, 1, true);
    CHECK(got(t, ORDER_RETURN).cell == 11 && got(t, ORDER_RETURN).deaths == 2);
}

/* ---- nodes on which workers die ---- */

/* Worker 0 trains cell 10 on node 0. On node 1 the workers 1 to 3 die, each in another run, and come back.
 * Those that have deaths from before come last. */
static struct trial begin_shut(uint64_t *ticket)
{
    struct trial t = begin(4, INFINITY, (int[]){0, 2, 1, 0});

    *ticket = hello(&t, 0, 0, 0);
    for (int i = 1; i < 4; i++)
        CHECK(hello(&t, i, 1, 0) > 0);
    lost(&t, 3, true);
    CHECK(got(&t, ORDER_RETURN).cell == 12 && got(&t, ORDER_RETURN).deaths == 2);
    lost(&t, 1, true);
    CHECK(got(&t, ORDER_RETURN).cell == 13 && got(&t, ORDER_RETURN).deaths == 1);
    lost(&t, 2, true); /* the third of cell 11, and the third run on node 1, which takes all back */
    CHECK(got(&t, ORDER_SHUT).worker == 2 && got(&t, ORDER_RETURN).cell == 11 &&
          got(&t, ORDER_RETURN).deaths == 2);
    for (int i = 1; i < 4; i++)
        CHECK(hello(&t, i, 1, 0) == 0 && t.count == 0);
    CHECK(state(&t).workers == 1 && state(&t).pending == 3);
    return t;
}

TRIAL(coordinator_gives_no_runs_to_a_node_that_is_shut, (struct trial){0})
{
    uint64_t ticket;

    *t = begin_shut(&ticket);
    result(t, 0, ticket, true); /* a run that has lost a worker, on a node that has finished one */
    CHECK(t->count == 2 && got(t, ORDER_RUN).worker == 0 && got(t, ORDER_RUN).cell == 11);
    lost(t, 0, true);
    CHECK(got(t, ORDER_FAIL).cell == 11 && got(t, ORDER_FAIL).deaths == 3); /* here it counts */
}

TRIAL(coordinator_opens_a_node_if_no_other_is_left, (struct trial){0})
{
    uint64_t ticket;

    *t = begin_shut(&ticket);
    lost(t, 0, false);
    CHECK(has(t, ORDER_OPEN) && state(t).workers == 3 && state(t).running == 3);
    uint64_t again = hello(t, 0, 0, 0);
    CHECK(again > 0 && !has(t, ORDER_SHUT));
    lost(t, 1, true); /* it is never shut again: this counts */
    CHECK(got(t, ORDER_FAIL).deaths == 3 || got(t, ORDER_RETURN).deaths > 0);
}

TRIAL(coordinator_opens_a_node_that_finishes_a_run, begin_ahead(4, INFINITY))
{
    hello(t, 0, 0, 0);
    uint64_t ticket = hello(t, 1, 1, 0);

    for (int i = 0; i < 3; i++) {
        CHECK(hello(t, 2, 1, 0) > 0);
        lost(t, 2, true);
        CHECK(has(t, ORDER_SHUT) == (i == 2));
    }
    CHECK(hello(t, 2, 1, 0) == 0 && t->count == 0);
    result(t, 1, ticket, true);
    CHECK(got(t, ORDER_OPEN).worker == 1 && state(t).workers == 3 && state(t).idle == 0);
}

/* Worker 1 dies alone seven times, in three runs; later deaths are judged beside those of another node. */
TRIAL(coordinator_shuts_a_node_that_was_alone_at_first, begin_ahead(4, INFINITY))
{
    for (int i = 0; i < 7; i++) {
        CHECK(hello(t, 1, 1, 0) > 0);
        lost(t, 1, true);
        CHECK(has(t, i % 3 == 2 ? ORDER_FAIL : ORDER_RETURN) && !has(t, ORDER_SHUT));
    }
    hello(t, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        CHECK(hello(t, 1, 1, 0) > 0);
        lost(t, 1, true);
        CHECK(has(t, ORDER_SHUT) == (i == 2));
    }
}

/* An order ahead was not begun. */
TRIAL(coordinator_blames_the_run_that_was_trained_alone, begin_ahead(1, INFINITY))
{
    hello(t, 0, 0, 0);
    lost(t, 0, true);
    CHECK(t->count == 2 && t->order[0].cell == 1 && t->order[0].deaths == 0);
    CHECK(t->order[1].cell == 0 && t->order[1].deaths == 1);
}

/* The deaths of cell 10 after worker 0 has hung on node 0; another worker sent a message at `word`. */
static int deaths_by_silence(int node, double word, double newcomer)
{
    struct trial t = begin(3, 1000, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0), other = hello(&t, 1, node, 0);

    t.now = 10;
    progress(&t, 0, ticket, 20); /* until 30 */
    t.now = fmin(word, newcomer);
    if (newcomer < word)
        hello(&t, 2, 0, 0);
    t.now = word;
    progress(&t, 1, other, 1000);
    CHECK(tick(&t, 31) == 0 && got(&t, ORDER_RETURN).cell == 10);
    int deaths = got(&t, ORDER_RETURN).deaths;
    coordinator_free(t.c);
    return deaths;
}

TEST(coordinator_counts_silence_as_a_death_when_the_node_lives)
{
    CHECK(deaths_by_silence(0, 20, INFINITY) == 1); /* half of the patience later */
    CHECK(deaths_by_silence(0, 19, INFINITY) == 0); /* the node may have died a moment after that */
    CHECK(deaths_by_silence(1, 20, INFINITY) == 0); /* another node */
}

/* Messages from a restarted node say nothing about the workers that it had before. */
TEST(coordinator_does_not_trust_a_node_to_which_workers_have_come)
{
    CHECK(deaths_by_silence(0, 25, 15) == 0);
    CHECK(deaths_by_silence(0, 25, 5) == 1);
}

TRIAL(coordinator_does_not_trust_the_last_words_of_the_dead, begin(2, 20, NULL))
{
    hello(t, 0, 0, 0);
    uint64_t other = hello(t, 1, 0, 0);
    t->now = 1;
    lost(t, 1, false);
    t->now = 15;
    progress(t, 1, other, 0); /* sent long ago */
    CHECK(tick(t, 21) == 0 && got(t, ORDER_RETURN).deaths == 0);
}

/* A worker died with its node, which was restarted; the worker gets a run, since its death is not known yet.
 */
TRIAL(coordinator_judges_by_the_last_word_and_not_by_the_order_after_it, begin(1, 20, NULL))
{
    hello(t, 1, 1, 0);
    hello(t, 0, 0, 1000);
    t->now = 5;
    hello(t, 2, 0, 1000);
    t->now = 6;
    lost(t, 1, false);
    CHECK(got(t, ORDER_RUN).worker == 0);
    t->now = 20;
    progress(t, 2, 0, 1000);
    CHECK(tick(t, 27) == 0 && got(t, ORDER_RETURN).deaths == 0);
}

/* ---- coming and going ---- */

TRIAL(coordinator_ignores_workers_and_nodes_that_cannot_be, begin(1, 10, NULL))
{
    hello(t, TRIAL_WORKERS, 0, 0);
    CHECK(t->count == 0);
    hello(t, -1, 0, 0);
    CHECK(t->count == 0);
    hello(t, 0, TRIAL_WORKERS, 0);
    CHECK(t->count == 0);
    hello(t, 0, -1, 0);
    CHECK(t->count == 0 && state(t).workers == 0);
    lost(t, TRIAL_WORKERS, true);
    checkpoint(t, -1, 1);
    CHECK(t->count == 0);
}

TRIAL(coordinator_waits_for_all_of_a_worker_that_leaves, begin_ahead(1, INFINITY))
{
    hello(t, 0, 0, 0);
    result(t, 0, 2, false);
    event(t, (struct event){.kind = EVENT_STOP});
    CHECK(t->count == 1 && has(t, ORDER_STOP));
    event(t, (struct event){.kind = EVENT_STOP});
    CHECK(t->count == 0); /* it is told once */
    result(t, 0, 1, false);
    CHECK(has(t, ORDER_RETURN) && has(t, ORDER_FINISH));
}

/* Both orders come back: the worker leaves, and both runs go to the next. */
TRIAL(coordinator_lets_a_worker_leave_with_an_order_ahead, begin_ahead(1, INFINITY))
{
    hello(t, 0, 0, 0);
    result(t, 0, 1, false);
    CHECK(t->count == 1 && got(t, ORDER_RETURN).cell == 0);
    result(t, 0, 2, false);
    CHECK(t->count == 1 && got(t, ORDER_RETURN).cell == 1);
    CHECK(state(t).workers == 0 && state(t).pending == 12);
    uint64_t ticket = hello(t, 0, 0, 0); /* in its place */
    CHECK(got(t, ORDER_RUN).cell == 1 && coordinator_cell(t->c, 0, ticket) == 1);
    CHECK(coordinator_cell(t->c, -1, ticket) == -1 && coordinator_cell(t->c, 1, ticket) == -1);
}

/* Worker 1 ends all but the two runs of worker 0, and takes over the one that is ahead. */
TRIAL(coordinator_gives_an_idle_worker_what_another_holds_ahead, begin_ahead(2, INFINITY))
{
    uint64_t held[2 * RUNS_EACH] = {0};
    int ordered = 0, ended = 0;

    hello(t, 0, 0, 0);
    CHECK(t->count == 2 && t->order[1].worker == 0 && t->order[1].cell == 1);
    hello(t, 1, 0, 0);
    while (!has(t, ORDER_STOP) && ended < 2 * RUNS_EACH - 2) {
        for (int i = 0; i < t->count; i++)
            if (t->order[i].kind == ORDER_RUN)
                held[ordered++] = t->order[i].ticket;
        result(t, 1, held[ended++], true);
    }
    CHECK(ended == 2 * RUNS_EACH - 2 && got(t, ORDER_STOP).worker == 0 && got(t, ORDER_STOP).cell == 1);
    CHECK(got(t, ORDER_RUN).worker == 1 && got(t, ORDER_RUN).cell == 1);
}

/* Lost workers have no share in the queue: the remaining ones hold orders ahead. */
TEST(coordinator_shares_the_queue_among_those_who_are_left)
{
    struct pending_run pending[16];
    struct coordinator_options options = {.silence = 10, .deaths = 3, .orders_ahead = 1};

    for (int i = 0; i < 16; i++)
        pending[i] = (struct pending_run){.cell = i, .cost = 1};
    struct trial t = {.c = coordinator_new(listed_runs(&(struct run_list){pending, 16}), 16, 10, &options)};
    uint64_t ticket = hello(&t, 0, 0, 0);
    CHECK(t.count == 1);
    progress(&t, 0, ticket, 1000);
    hello(&t, 1, 0, 0);
    tick(&t, 11);
    for (int i = 2; i < 10; i++)
        lost(&t, i, false);
    result(&t, 0, ticket, true);
    CHECK(t.count == 3 && t.order[1].kind == ORDER_RUN && t.order[2].kind == ORDER_RUN);
    coordinator_free(t.c);
}

/* ---- silence: who is given up for it, and what then happens ---- */

TRIAL(coordinator_gives_up_each_worker_by_its_own_patience, begin(2, INFINITY, NULL))
{
    uint64_t first = hello(t, 0, 0, 0), second = hello(t, 1, 1, 0);

    progress(t, 0, first, 100);
    progress(t, 1, second, 10);
    CHECK(tick(t, 10) == -1);
    CHECK(tick(t, 10.5) == 1 && got(t, ORDER_RETURN).cell == 11);
    CHECK(tick(t, 100) == -1);
    CHECK(tick(t, 100.5) == 0 && got(t, ORDER_RETURN).cell == 10);
}

TRIAL_OF_ONE(coordinator_patience_counts_from_the_last_word, begin(2, INFINITY, NULL))
{
    progress(t, 0, ticket, 10);
    t->now = 9;
    progress(t, 0, ticket, 10);
    CHECK(tick(t, 15) == -1 && tick(t, 19) == -1);
    progress(t, 0, ticket, 2); /* earlier than announced before */
    CHECK(tick(t, 21.5) == 0);
}

TRIAL(coordinator_patience_is_that_of_the_options_until_the_worker_says_its_own, begin(2, 20, NULL))
{
    hello(t, 0, 0, 5);

    CHECK(tick(t, 6) == -1); /* the 5 s were announced for idleness */
    CHECK(tick(t, 20) == -1 && tick(t, 20.5) == 0);
    t->now = 30;
    uint64_t ticket = hello(t, 0, 0, 0);
    progress(t, 0, ticket, 100);
    CHECK(tick(t, 100) == -1);
    progress(t, 0, ticket, 0);
    CHECK(tick(t, 120) == -1 && tick(t, 120.5) == 0);
}

/* The worker begins its next run, for which its patience may be different. */
TRIAL(coordinator_patience_is_that_of_the_options_after_a_result, begin_ahead(1, 20))
{
    hello(t, 0, 0, 0);
    progress(t, 0, t->order[0].ticket, 3);
    result(t, 0, 1, true);
    CHECK(has(t, ORDER_ACCEPT) && tick(t, 4) == -1 && tick(t, 20) == -1 && tick(t, 20.5) == 0);
}

/* A patience announced for idleness, or for the run before, while the next order is on its way. */
TRIAL_OF_ONE(coordinator_patience_under_another_ticket_does_not_count, begin(2, 50, NULL))
{
    progress(t, 0, 0, 1);
    progress(t, 0, ticket + 7, 1);
    CHECK(tick(t, 2) == -1 && tick(t, 50) == -1);
    progress(t, 0, 0, 1); /* a sign of life all the same */
    CHECK(tick(t, 100) == -1 && tick(t, 100.5) == 0);
}

TRIAL(coordinator_takes_checkpoints_and_orders_handed_back_for_words, begin_ahead(1, 1000))
{
    hello(t, 0, 0, 0);
    CHECK(t->count == 2 && t->order[1].kind == ORDER_RUN);
    uint64_t ticket = t->order[0].ticket, ahead = t->order[1].ticket;
    progress(t, 0, ticket, 10);
    t->now = 8;
    checkpoint(t, 0, ticket);
    CHECK(tick(t, 18) == -1);
    result(t, 0, ahead, false); /* it still trains the same run, with the patience announced for that */
    CHECK(tick(t, 28) == -1 && tick(t, 28.5) == 0);
}

TRIAL(coordinator_gives_up_idle_workers_and_takes_them_back, begin(1, 10, NULL))
{
    hello(t, 0, 0, 1000);
    progress(t, 0, 1, 1000);
    hello(t, 1, 0, 5);
    progress(t, 1, 0, 5);
    CHECK(state(t).idle == 1 && state(t).workers == 2);
    CHECK(tick(t, 5.5) == 1 && t->count == 1 && got(t, ORDER_GIVE_UP).cell == -1);
    CHECK(state(t).idle == 0 && state(t).workers == 1 && state(t).silent == 1);
    lost(t, 0, false);
    CHECK(!has(t, ORDER_RUN)); /* to the silent one */
    progress(t, 1, 0, 5);
    CHECK(t->count == 1 && got(t, ORDER_RUN).worker == 1 && state(t).silent == 0);
}

TRIAL_OF_ONE(coordinator_tells_a_worker_that_wakes_to_stop_once, begin(1, 10, NULL))
{
    CHECK(tick(t, 11) == 0 && coordinator_cell(t->c, 0, ticket) == -1);
    progress(t, 0, ticket, 0);
    CHECK(t->count == 1 && has(t, ORDER_STOP) && got(t, ORDER_STOP).ticket == 0);
    progress(t, 0, ticket, 0);
    CHECK(t->count == 0);
    result(t, 0, ticket, false); /* everything is handed back: the worker is idle and gets the returned run */
    CHECK(t->count == 1 && got(t, ORDER_RUN).cell == 10 && got(t, ORDER_RUN).ticket != ticket);
    CHECK(tick(t, 22) == 0);
    progress(t, 0, 0, 0); /* hung and awake again */
    CHECK(t->count == 1 && has(t, ORDER_STOP));
}

/* ---- runs that are added ---- */

static int64_t add_all(struct trial *t, int64_t count, const struct pending_run *run)
{
    int64_t added = coordinator_add(t->c, run, count, t->now);

    take_orders(t);
    return added;
}

/* The cells that worker 0 gets one after the other, as decimal digits. */
static int64_t order_of_training(struct trial *t, uint64_t ticket)
{
    int64_t digits = 0;

    while (ticket) {
        digits = 10 * digits + coordinator_cell(t->c, 0, ticket) % 10;
        result(t, 0, ticket, true);
        ticket = got(t, ORDER_RUN).ticket;
    }
    return digits;
}

TRIAL(coordinator_adds_long_runs_first, begin(3, INFINITY, NULL))
{
    /* cells 10, 11, 12 cost 4, 3, 2, with the turns 0, 1, 2 */
    const struct pending_run run[] = {{.cell = 4, .cost = 2.5, .turn = 1}, {.cell = 5, .cost = 9},
        {.cell = 6, .cost = 0.5}, {.cell = 7, .cost = 2, .turn = 3}, {.cell = 8, .cost = 9}};
    uint64_t ticket = hello(t, 0, 0, 0);

    CHECK(add_all(t, 5, run) == 5);
    CHECK(t->count == 0 && state(t).pending == 7);
    CHECK_CLOSE(state(t).cost_left, 32, 0);
    CHECK(order_of_training(t, ticket) == 5814276); /* 10 first: a leading 0 */
    CHECK(has(t, ORDER_FINISH) && state(t).ended == 8 && state(t).cost_left == 0);
}

TRIAL(coordinator_gives_added_runs_to_idle_workers_at_once, begin(1, 10, NULL))
{
    const struct pending_run run[] = {{.cell = 1, .cost = 1}, {.cell = 2, .cost = 4}, {.cell = 3, .cost = 2}};

    for (int worker = 0; worker < 3; worker++)
        hello(t, worker, 0, 1000);
    CHECK(state(t).idle == 2);
    t->now = 5;
    CHECK(add_all(t, 3, run) == 3);
    CHECK(t->count == 2 && t->order[0].cell == 2 && t->order[0].worker == 1 && t->order[1].cell == 3);
    CHECK(tick(t, 14) == 0); /* the patience of the others counts from 5 */
    CHECK(tick(t, 15.5) >= 1);
}

/* A caller without the clock of the events must not advance it: nobody would be silent any more. */
TRIAL(coordinator_adds_at_the_time_of_the_last_event, begin(1, 10, NULL))
{
    hello(t, 0, 0, 0);
    tick(t, 5);
    t->now = 0;
    CHECK(add_all(t, 1, &(struct pending_run){.cell = 11, .cost = 1}) == 1);
    hello(t, 1, 0, 0);
    CHECK(tick(t, 14) == 0 && tick(t, 14.5) == -1 && tick(t, 15.5) == 1);
}

/* ---- without memory it is not made, adds nothing, or ends the process rather than lose an order ---- */

static const char *const allocations[] = {"malloc", "calloc", "realloc"};
enum { ALLOCATIONS = sizeof(allocations) / sizeof(*allocations) };

TEST(coordinator_is_not_made_without_memory)
{
    const struct coordinator_options options = {.silence = 60, .deaths = 3, .orders_ahead = 1};
    const struct pending_run pending[] = {{.cell = 0}, {.cell = 1}, {.cell = 2}};
    int refused = 0;

    for (int i = 0; i < ALLOCATIONS; i++)
        for (int n = 0, failed = 1; failed; n++) {
            failing_after(n, allocations[i], ENOMEM);
            struct coordinator *c =
                coordinator_new(listed_runs(&(struct run_list){pending, 3}), 3, 4, &options);
            failed = failing_end();
            CHECK((c == NULL) == failed);
            refused += c == NULL;
            coordinator_free(c);
        }
    CHECK(refused >= 9);
}

/* Each of the three arrays that grow. */
TEST(coordinator_adds_nothing_without_memory)
{
    const struct pending_run run = {.cell = 1000, .cost = 7};

    for (int n = 0; n < 4; n++) {
        struct trial t = begin(3, INFINITY, NULL);
        failing_after(n, "realloc", ENOMEM);
        int64_t added = coordinator_add(t.c, &run, 1, t.now);
        bool failed = failing_end();
        CHECK(added == (failed ? -1 : 1));
        CHECK(state(&t).pending == (failed ? 3 : 4));
        CHECK(coordinator_add(t.c, &run, 1, t.now) == failed);
        coordinator_free(t.c);
    }
}

/* Orders that are not taken pile up until there is no memory for another. */
static int push_orders(void *context)
{
    const struct coordinator_options options = {.silence = 60, .deaths = 3, .orders_ahead = 1};
    struct pending_run pending[200];

    (void)context;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (int i = 0; i < 200; i++)
        pending[i] = (struct pending_run){.cell = i, .cost = 1};
    struct coordinator *c = coordinator_new(listed_runs(&(struct run_list){pending, 200}), 200, 4, &options);
    if (c) {
        failing_next("realloc", ENOMEM);
        for (int i = 0; i < 200; i++)
            coordinator_handle(c, &(struct event){.kind = EVENT_HELLO, .worker = i % 4});
    }
    return 0;
}

TEST(coordinator_ends_the_process_rather_than_lose_an_order)
{
    CHECK(in_child(push_orders, NULL) == -SIGABRT);
}
