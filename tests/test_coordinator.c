/* Single decisions of the coordinator, a test for each of its rules. */
#include "driver/coordinator.h"
#include "tests/test.h"

#include <stdlib.h>

enum { WORKERS = 4, RUNS = 4, ORDERS_MOST = 64 };

/* A coordinator, and the orders that the last event brought. */
struct trial {
    struct coordinator *c;
    struct order order[ORDERS_MOST];
    int count;
    double now;
};

static struct trial trial(int runs, int ahead, double silence, const int *deaths)
{
    const int64_t pending[RUNS] = {10, 11, 12, 13};
    const double cost[RUNS] = {4, 3, 2, 1};
    struct coordinator_options options = {.silence = silence, .deaths = 3, .orders_ahead = ahead};
    struct trial t = {.c = coordinator_new(pending, cost, deaths, runs, WORKERS, &options)};

    CHECK(t.c != NULL);
    return t;
}

static void happen(struct trial *t, struct event event)
{
    event.now = t->now;
    coordinator_handle(t->c, &event);
    t->count = 0;
    while (t->count < ORDERS_MOST && coordinator_next(t->c, &t->order[t->count]))
        t->count++;
}

/* The first order of a kind; to worker -1: there is none. */
static struct order got(const struct trial *t, enum order_kind kind)
{
    for (int i = 0; i < t->count; i++)
        if (t->order[i].kind == kind)
            return t->order[i];
    return (struct order){.worker = -1, .cell = -1, .deaths = -1};
}

static bool has(const struct trial *t, enum order_kind kind)
{
    for (int i = 0; i < t->count; i++)
        if (t->order[i].kind == kind)
            return true;
    return false;
}

/* The ticket that the worker is given, or 0. */
static uint64_t hello(struct trial *t, int worker, int node, double patience)
{
    happen(t, (struct event){.kind = EVENT_HELLO, .worker = worker, .node = node, .patience = patience});
    return got(t, ORDER_RUN).ticket;
}

static void progress(struct trial *t, int worker, uint64_t ticket, double patience)
{
    happen(
        t, (struct event){.kind = EVENT_PROGRESS, .worker = worker, .ticket = ticket, .patience = patience});
}

static void checkpoint(struct trial *t, int worker, uint64_t ticket)
{
    happen(t, (struct event){.kind = EVENT_CHECKPOINT, .worker = worker, .ticket = ticket});
}

static void result(struct trial *t, int worker, uint64_t ticket, bool ended)
{
    happen(t, (struct event){.kind = EVENT_RESULT, .worker = worker, .ticket = ticket, .ended = ended});
}

static void lost(struct trial *t, int worker, bool blame)
{
    happen(t, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = blame});
}

/* Who is given up at a time, or -1. */
static int tick(struct trial *t, double now)
{
    t->now = now;
    happen(t, (struct event){.kind = EVENT_TICK});
    return has(t, ORDER_GIVE_UP) ? got(t, ORDER_GIVE_UP).worker : -1;
}

static struct coordinator_state state(const struct trial *t)
{
    struct coordinator_state now;

    coordinator_state(t->c, &now);
    return now;
}

/* ---- silence ---- */

TEST(coordinator_gives_up_each_worker_by_its_own_patience)
{
    struct trial t = trial(2, 0, INFINITY, NULL);
    uint64_t first = hello(&t, 0, 0, 0), second = hello(&t, 1, 1, 0);

    progress(&t, 0, first, 100);
    progress(&t, 1, second, 10);
    CHECK(tick(&t, 10) == -1);
    CHECK(tick(&t, 10.5) == 1 && got(&t, ORDER_RETURN).cell == 11);
    CHECK(tick(&t, 100) == -1);
    CHECK(tick(&t, 100.5) == 0 && got(&t, ORDER_RETURN).cell == 10);
    coordinator_free(t.c);
}

TEST(coordinator_patience_counts_from_the_last_word)
{
    struct trial t = trial(2, 0, INFINITY, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    progress(&t, 0, ticket, 10);
    t.now = 9;
    progress(&t, 0, ticket, 10);
    CHECK(tick(&t, 15) == -1 && tick(&t, 19) == -1);
    progress(&t, 0, ticket, 2); /* sooner than what was said before */
    CHECK(tick(&t, 21.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_patience_is_that_of_the_options_until_the_worker_says_its_own)
{
    struct trial t = trial(2, 0, 20, NULL);
    uint64_t ticket = hello(&t, 0, 0, 5);

    CHECK(tick(&t, 6) == -1); /* the 5 s were said of idleness */
    CHECK(tick(&t, 20) == -1 && tick(&t, 20.5) == 0);
    t.now = 30;
    ticket = hello(&t, 0, 0, 0);
    progress(&t, 0, ticket, 100);
    CHECK(tick(&t, 100) == -1);
    progress(&t, 0, ticket, 0);
    CHECK(tick(&t, 120) == -1 && tick(&t, 120.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_patience_is_that_of_the_options_after_a_result)
{
    struct trial t = trial(2, 0, 20, NULL);
    uint64_t ticket = hello(&t, 0, 0, 5);

    progress(&t, 0, ticket, 3);
    result(&t, 0, ticket, true);
    CHECK(has(&t, ORDER_RUN) && tick(&t, 4) == -1 && tick(&t, 20.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_never_gives_up_with_infinite_silence)
{
    struct trial t = trial(2, 0, INFINITY, NULL);
    uint64_t ticket = hello(&t, 0, 0, 1);

    CHECK(tick(&t, 1e9) == -1);
    progress(&t, 0, ticket, 0);
    CHECK(tick(&t, 2e9) == -1);
    coordinator_free(t.c);
}

/* What a worker says of idleness, or of the run before, while its next order is on its way. */
TEST(coordinator_patience_under_another_ticket_does_not_count)
{
    struct trial t = trial(2, 0, 50, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    progress(&t, 0, 0, 1);
    progress(&t, 0, ticket + 7, 1);
    CHECK(tick(&t, 2) == -1 && tick(&t, 50) == -1);
    progress(&t, 0, 0, 1); /* a sign of life all the same */
    CHECK(tick(&t, 100) == -1 && tick(&t, 100.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_takes_checkpoints_and_orders_handed_back_for_words)
{
    const int64_t pending[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const double cost[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct coordinator_options options = {.silence = 1000, .deaths = 3, .orders_ahead = 1};
    struct trial t = {.c = coordinator_new(pending, cost, NULL, 12, 1, &options)};

    hello(&t, 0, 0, 0);
    CHECK(t.count == 2 && t.order[1].kind == ORDER_RUN);
    uint64_t ticket = t.order[0].ticket, ahead = t.order[1].ticket;
    progress(&t, 0, ticket, 10);
    t.now = 8;
    checkpoint(&t, 0, ticket);
    CHECK(tick(&t, 18) == -1);
    result(&t, 0, ahead, false); /* it still trains what it trained: with the patience it said of that */
    CHECK(tick(&t, 28) == -1 && tick(&t, 28.5) == 0);
    coordinator_free(t.c);
}

/* Words lie unread while the coordinator is busy elsewhere: only a tick says that all were read. */
TEST(coordinator_looks_for_silence_at_a_tick_alone)
{
    struct trial t = trial(3, 0, 10, NULL);
    uint64_t first = hello(&t, 0, 0, 0), second = hello(&t, 1, 0, 0);

    t.now = 1000;
    progress(&t, 0, first, 10);
    progress(&t, 1, second, 10);
    CHECK(!has(&t, ORDER_GIVE_UP) && tick(&t, 1000) == -1);
    coordinator_free(t.c);
}

TEST(coordinator_says_who_is_given_up_before_what_becomes_of_its_runs)
{
    struct trial t = trial(1, 0, 10, NULL);

    hello(&t, 0, 0, 0);
    tick(&t, 11);
    CHECK(t.count == 2 && t.order[0].kind == ORDER_GIVE_UP && t.order[1].kind == ORDER_RETURN);
    CHECK(t.order[0].worker == 0 && t.order[0].cell == 10);
    coordinator_free(t.c);
}

TEST(coordinator_gives_up_idle_workers_and_takes_them_back)
{
    struct trial t = trial(1, 0, 10, NULL);

    hello(&t, 0, 0, 1000);
    progress(&t, 0, 1, 1000);
    hello(&t, 1, 0, 5);
    progress(&t, 1, 0, 5);
    CHECK(state(&t).idle == 1 && state(&t).workers == 2);
    CHECK(tick(&t, 5.5) == 1 && t.count == 1 && got(&t, ORDER_GIVE_UP).cell == -1);
    CHECK(state(&t).idle == 0 && state(&t).workers == 1 && state(&t).silent == 1);
    lost(&t, 0, false);
    CHECK(!has(&t, ORDER_RUN)); /* to the silent one */
    progress(&t, 1, 0, 5);
    CHECK(t.count == 1 && got(&t, ORDER_RUN).worker == 1 && state(&t).silent == 0);
    coordinator_free(t.c);
}

TEST(coordinator_tells_a_worker_that_wakes_to_stop_once)
{
    struct trial t = trial(1, 0, 10, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    CHECK(tick(&t, 11) == 0 && coordinator_cell(t.c, 0, ticket) == -1);
    progress(&t, 0, ticket, 0);
    CHECK(t.count == 1 && has(&t, ORDER_STOP) && got(&t, ORDER_STOP).ticket == 0);
    progress(&t, 0, ticket, 0);
    CHECK(t.count == 0);
    result(&t, 0, ticket, false); /* all is handed back: idle, and given the run that was returned */
    CHECK(t.count == 1 && got(&t, ORDER_RUN).cell == 10 && got(&t, ORDER_RUN).ticket != ticket);
    coordinator_free(t.c);
}

TEST(coordinator_accepts_nothing_of_a_worker_that_was_given_up)
{
    struct trial t = trial(1, 0, 10, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    tick(&t, 11);
    result(&t, 0, ticket, true);
    CHECK(!has(&t, ORDER_ACCEPT) && state(&t).ended == 0);
    CHECK(got(&t, ORDER_RUN).cell == 10); /* it has nothing more, and may begin anew */
    coordinator_free(t.c);
}

TEST(coordinator_finishes_without_those_who_hang_while_all_stops)
{
    struct trial t = trial(2, 0, 10, NULL);
    uint64_t first = hello(&t, 0, 0, 0);

    hello(&t, 1, 1, 0);
    happen(&t, (struct event){.kind = EVENT_STOP});
    result(&t, 0, first, false);
    CHECK(has(&t, ORDER_RETURN) && !has(&t, ORDER_FINISH));
    progress(&t, 0, 0, 1000);
    CHECK(tick(&t, 11) == 1 && has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

/* ---- deaths ---- */

TEST(coordinator_fails_a_run_that_kills_its_workers)
{
    struct trial t = trial(1, 0, INFINITY, NULL);

    for (int i = 0; i < 3; i++) {
        CHECK(hello(&t, i, 0, 0) > 0);
        lost(&t, i, true);
        CHECK(t.order[0].kind == (i < 2 ? ORDER_RETURN : ORDER_FAIL));
        CHECK(t.order[0].cell == 10 && t.order[0].deaths == i + 1);
    }
    CHECK(t.count == 2 && has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

TEST(coordinator_does_not_count_deaths_by_bad_luck)
{
    struct trial t = trial(1, 0, INFINITY, NULL);

    for (int i = 0; i < 20; i++) {
        hello(&t, i % WORKERS, 0, 0);
        lost(&t, i % WORKERS, false);
        CHECK(t.count == 1 && got(&t, ORDER_RETURN).deaths == 0);
    }
    coordinator_free(t.c);
}

TEST(coordinator_forgets_deaths_at_a_checkpoint)
{
    struct trial t = trial(1, 0, INFINITY, NULL);

    for (int i = 0; i < 20; i++) {
        uint64_t ticket = hello(&t, i % WORKERS, 0, 0);
        if (i % 2)
            checkpoint(&t, i % WORKERS, ticket);
        lost(&t, i % WORKERS, true);
        CHECK(got(&t, ORDER_RETURN).deaths == (i == 0 || i % 2 ? 1 : 2));
    }
    coordinator_free(t.c);
}

TEST(coordinator_forgets_no_death_at_a_checkpoint_that_no_longer_counts)
{
    struct trial t = trial(1, 0, 10, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    lost(&t, 0, true);
    hello(&t, 0, 0, 0);
    checkpoint(&t, 0, ticket);
    checkpoint(&t, 0, 1000);
    lost(&t, 0, true);
    CHECK(got(&t, ORDER_RETURN).deaths == 2);
    coordinator_free(t.c);
}

TEST(coordinator_counts_deaths_before_now)
{
    const int deaths[] = {2, 0, 0, 0};
    struct trial t = trial(2, 0, INFINITY, deaths);

    hello(&t, 0, 0, 0);
    lost(&t, 0, false);
    CHECK(got(&t, ORDER_RETURN).deaths == 2);
    hello(&t, 0, 0, 0);
    hello(&t, 1, 0, 0);
    lost(&t, 0, true);
    CHECK(got(&t, ORDER_FAIL).cell == 10 && got(&t, ORDER_FAIL).deaths == 3);
    lost(&t, 1, true);
    CHECK(got(&t, ORDER_RETURN).cell == 11 && got(&t, ORDER_RETURN).deaths == 1);
    coordinator_free(t.c);
}

/* An order ahead was not begun. */
TEST(coordinator_blames_the_run_that_was_trained_alone)
{
    const int64_t pending[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const double cost[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct coordinator_options options = {.silence = INFINITY, .deaths = 3, .orders_ahead = 1};
    struct trial t = {.c = coordinator_new(pending, cost, NULL, 12, 1, &options)};

    hello(&t, 0, 0, 0);
    lost(&t, 0, true);
    CHECK(t.count == 2 && t.order[0].cell == 1 && t.order[0].deaths == 0);
    CHECK(t.order[1].cell == 0 && t.order[1].deaths == 1);
    coordinator_free(t.c);
}

/* The deaths of cell 10 after worker 0 has hung on node 0, of which another worker said a word at `word`. */
static int deaths_by_silence(int node, double word, double newcomer)
{
    struct trial t = trial(3, 0, 1000, NULL);
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

/* After a node was started anew, words come from it that do not tell what became of the workers before. */
TEST(coordinator_does_not_trust_a_node_to_which_workers_have_come)
{
    CHECK(deaths_by_silence(0, 25, 15) == 0);
    CHECK(deaths_by_silence(0, 25, 5) == 1);
}

/* ---- coming and going ---- */

TEST(coordinator_takes_another_in_the_place_of_a_dead_worker)
{
    struct trial t = trial(1, 0, 10, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    lost(&t, 0, false);
    CHECK(state(&t).workers == 0);
    result(&t, 0, ticket, true); /* the last words of the dead */
    progress(&t, 0, ticket, 0);
    progress(&t, 0, 0, 0);
    CHECK(t.count == 0 && state(&t).workers == 0 && state(&t).ended == 0);
    uint64_t again = hello(&t, 0, 3, 0);
    CHECK(again > ticket && coordinator_cell(t.c, 0, again) == 10);
    result(&t, 0, ticket, true);
    CHECK(t.count == 0);
    result(&t, 0, again, true);
    CHECK(got(&t, ORDER_ACCEPT).cell == 10 && has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

TEST(coordinator_takes_a_hello_for_the_end_of_what_was_before)
{
    struct trial t = trial(1, 0, 10, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    CHECK(hello(&t, 0, 0, 0) > ticket);
    CHECK(t.count == 3 && t.order[0].kind == ORDER_STOP && t.order[0].ticket == 0);
    CHECK(t.order[1].kind == ORDER_RETURN && t.order[1].deaths == 0 && t.order[2].kind == ORDER_RUN);
    CHECK(coordinator_cell(t.c, 0, ticket) == -1);
    coordinator_free(t.c);
}

TEST(coordinator_ignores_workers_and_nodes_that_cannot_be)
{
    struct trial t = trial(1, 0, 10, NULL);

    hello(&t, WORKERS, 0, 0);
    CHECK(t.count == 0);
    hello(&t, -1, 0, 0);
    CHECK(t.count == 0);
    hello(&t, 0, WORKERS, 0);
    CHECK(t.count == 0);
    hello(&t, 0, -1, 0);
    CHECK(t.count == 0 && state(&t).workers == 0);
    lost(&t, WORKERS, true);
    checkpoint(&t, -1, 1);
    CHECK(t.count == 0);
    coordinator_free(t.c);
}

/* A worker that hands its run back unasked was told by a signal of its own: it gets nothing more. */
TEST(coordinator_lets_a_worker_leave)
{
    struct trial t = trial(3, 0, INFINITY, NULL);
    uint64_t ticket = hello(&t, 0, 0, 0);

    result(&t, 0, ticket, false);
    CHECK(t.count == 1 && got(&t, ORDER_RETURN).cell == 10);
    CHECK(state(&t).workers == 0 && state(&t).pending == 3);
    hello(&t, 1, 0, 0);
    CHECK(got(&t, ORDER_RUN).cell == 10);
    happen(&t, (struct event){.kind = EVENT_STOP});
    CHECK(t.count == 1 && got(&t, ORDER_STOP).worker == 1);
    coordinator_free(t.c);
}

/* Those who are lost have no share in the queue: whoever is left holds orders ahead. */
TEST(coordinator_shares_the_queue_among_those_who_are_left)
{
    const int64_t pending[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const double cost[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct coordinator_options options = {.silence = 10, .deaths = 3, .orders_ahead = 1};
    struct trial t = {.c = coordinator_new(pending, cost, NULL, 16, 10, &options)};

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
