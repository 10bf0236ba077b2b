/* Single decisions of the coordinator, one test for each rule; test_silence.c has the rules about silence. */
#include "tests/driver/schedule/trial.h"
#include "tests/test.h"

#include <stddef.h>

struct trial trial_begin(int runs, int ahead, double silence, const int *deaths)
{
    const int64_t pending[TRIAL_RUNS] = {10, 11, 12, 13};
    const double cost[TRIAL_RUNS] = {4, 3, 2, 1};
    struct coordinator_options options = {.silence = silence, .deaths = 3, .orders_ahead = ahead};
    struct trial t = {.c = coordinator_new(pending, cost, deaths, runs, TRIAL_WORKERS, &options)};

    CHECK(t.c != NULL);
    return t;
}

struct trial trial_begin_ahead(double silence)
{
    const int64_t pending[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const double cost[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct coordinator_options options = {.silence = silence, .deaths = 3, .orders_ahead = 1};

    return (struct trial){.c = coordinator_new(pending, cost, NULL, 12, 1, &options)};
}

void trial_event(struct trial *t, struct event event)
{
    event.now = t->now;
    coordinator_handle(t->c, &event);
    t->count = 0;
    while (t->count < TRIAL_ORDERS && coordinator_next(t->c, &t->order[t->count]))
        t->count++;
}

struct order trial_got(const struct trial *t, enum order_kind kind)
{
    for (int i = 0; i < t->count; i++)
        if (t->order[i].kind == kind)
            return t->order[i];
    return (struct order){.worker = -1, .cell = -1, .deaths = -1};
}

bool trial_has(const struct trial *t, enum order_kind kind)
{
    for (int i = 0; i < t->count; i++)
        if (t->order[i].kind == kind)
            return true;
    return false;
}

uint64_t trial_hello(struct trial *t, int worker, int node, double patience)
{
    trial_event(t, (struct event){.kind = EVENT_HELLO, .worker = worker, .node = node, .patience = patience});
    return trial_got(t, ORDER_RUN).ticket;
}

void trial_progress(struct trial *t, int worker, uint64_t ticket, double patience)
{
    trial_event(
        t, (struct event){.kind = EVENT_PROGRESS, .worker = worker, .ticket = ticket, .patience = patience});
}

void trial_checkpoint(struct trial *t, int worker, uint64_t ticket)
{
    trial_event(t, (struct event){.kind = EVENT_CHECKPOINT, .worker = worker, .ticket = ticket});
}

void trial_result(struct trial *t, int worker, uint64_t ticket, bool ended)
{
    trial_event(t, (struct event){.kind = EVENT_RESULT, .worker = worker, .ticket = ticket, .ended = ended});
}

void trial_lost(struct trial *t, int worker, bool blame)
{
    trial_event(t, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = blame});
}

int trial_tick(struct trial *t, double now)
{
    t->now = now;
    trial_event(t, (struct event){.kind = EVENT_TICK});
    return trial_has(t, ORDER_GIVE_UP) ? trial_got(t, ORDER_GIVE_UP).worker : -1;
}

struct coordinator_state trial_state(const struct trial *t)
{
    struct coordinator_state now;

    coordinator_state(t->c, &now);
    return now;
}

/* ---- deaths ---- */

TEST(coordinator_fails_a_run_that_kills_its_workers)
{
    struct trial t = trial_begin(1, 0, INFINITY, NULL);

    for (int i = 0; i < 3; i++) {
        CHECK(trial_hello(&t, i, 0, 0) > 0);
        trial_lost(&t, i, true);
        CHECK(t.order[0].kind == (i < 2 ? ORDER_RETURN : ORDER_FAIL));
        CHECK(t.order[0].cell == 10 && t.order[0].deaths == i + 1);
    }
    CHECK(t.count == 2 && trial_has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

TEST(coordinator_does_not_count_deaths_by_bad_luck)
{
    struct trial t = trial_begin(1, 0, INFINITY, NULL);

    for (int i = 0; i < 20; i++) {
        trial_hello(&t, i % TRIAL_WORKERS, 0, 0);
        trial_lost(&t, i % TRIAL_WORKERS, false);
        CHECK(t.count == 1 && trial_got(&t, ORDER_RETURN).deaths == 0);
    }
    coordinator_free(t.c);
}

TEST(coordinator_forgets_deaths_at_a_checkpoint)
{
    struct trial t = trial_begin(1, 0, INFINITY, NULL);

    for (int i = 0; i < 20; i++) {
        uint64_t ticket = trial_hello(&t, i % TRIAL_WORKERS, 0, 0);
        if (i % 2)
            trial_checkpoint(&t, i % TRIAL_WORKERS, ticket);
        trial_lost(&t, i % TRIAL_WORKERS, true);
        CHECK(trial_got(&t, ORDER_RETURN).deaths == (i == 0 || i % 2 ? 1 : 2));
    }
    coordinator_free(t.c);
}

TEST(coordinator_forgets_no_death_at_a_checkpoint_that_no_longer_counts)
{
    struct trial t = trial_begin(1, 0, 10, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_lost(&t, 0, true);
    trial_hello(&t, 0, 0, 0);
    trial_checkpoint(&t, 0, ticket);
    trial_checkpoint(&t, 0, 1000);
    trial_lost(&t, 0, true);
    CHECK(trial_got(&t, ORDER_RETURN).deaths == 2);
    coordinator_free(t.c);
}

TEST(coordinator_counts_deaths_before_now)
{
    const int deaths[] = {2, 0, 0, 0};
    struct trial t = trial_begin(2, 0, INFINITY, deaths);

    trial_hello(&t, 0, 0, 0);
    trial_lost(&t, 0, false);
    CHECK(trial_got(&t, ORDER_RETURN).deaths == 2);
    trial_hello(&t, 0, 0, 0);
    trial_hello(&t, 1, 0, 0);
    trial_lost(&t, 0, true);
    CHECK(trial_got(&t, ORDER_FAIL).cell == 10 && trial_got(&t, ORDER_FAIL).deaths == 3);
    trial_lost(&t, 1, true);
    CHECK(trial_got(&t, ORDER_RETURN).cell == 11 && trial_got(&t, ORDER_RETURN).deaths == 1);
    coordinator_free(t.c);
}

/* An order ahead was not begun. */
TEST(coordinator_blames_the_run_that_was_trained_alone)
{
    struct trial t = trial_begin_ahead(INFINITY);

    trial_hello(&t, 0, 0, 0);
    trial_lost(&t, 0, true);
    CHECK(t.count == 2 && t.order[0].cell == 1 && t.order[0].deaths == 0);
    CHECK(t.order[1].cell == 0 && t.order[1].deaths == 1);
    coordinator_free(t.c);
}

/* The deaths of cell 10 after worker 0 has hung on node 0; another worker sent a message at `word`. */
static int deaths_by_silence(int node, double word, double newcomer)
{
    struct trial t = trial_begin(3, 0, 1000, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0), other = trial_hello(&t, 1, node, 0);

    t.now = 10;
    trial_progress(&t, 0, ticket, 20); /* until 30 */
    t.now = fmin(word, newcomer);
    if (newcomer < word)
        trial_hello(&t, 2, 0, 0);
    t.now = word;
    trial_progress(&t, 1, other, 1000);
    CHECK(trial_tick(&t, 31) == 0 && trial_got(&t, ORDER_RETURN).cell == 10);
    int deaths = trial_got(&t, ORDER_RETURN).deaths;
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

TEST(coordinator_does_not_trust_the_last_words_of_the_dead)
{
    struct trial t = trial_begin(2, 0, 20, NULL);

    trial_hello(&t, 0, 0, 0);
    uint64_t other = trial_hello(&t, 1, 0, 0);
    t.now = 1;
    trial_lost(&t, 1, false);
    t.now = 15;
    trial_progress(&t, 1, other, 0); /* sent long ago */
    CHECK(trial_tick(&t, 21) == 0 && trial_got(&t, ORDER_RETURN).deaths == 0);
    coordinator_free(t.c);
}

/* A worker died with its node, which was restarted; the worker gets a run, since its death is not known yet.
 */
TEST(coordinator_judges_by_the_last_word_and_not_by_the_order_after_it)
{
    struct trial t = trial_begin(1, 0, 20, NULL);

    trial_hello(&t, 1, 1, 0);
    trial_hello(&t, 0, 0, 1000);
    t.now = 5;
    trial_hello(&t, 2, 0, 1000);
    t.now = 6;
    trial_lost(&t, 1, false);
    CHECK(trial_got(&t, ORDER_RUN).worker == 0);
    t.now = 20;
    trial_progress(&t, 2, 0, 1000);
    CHECK(trial_tick(&t, 27) == 0 && trial_got(&t, ORDER_RETURN).deaths == 0);
    coordinator_free(t.c);
}

/* ---- coming and going ---- */

TEST(coordinator_takes_another_in_the_place_of_a_dead_worker)
{
    struct trial t = trial_begin(1, 0, 10, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_lost(&t, 0, false);
    CHECK(trial_state(&t).workers == 0);
    trial_result(&t, 0, ticket, true); /* a late message of the dead worker */
    trial_progress(&t, 0, ticket, 0);
    trial_progress(&t, 0, 0, 0);
    CHECK(t.count == 0 && trial_state(&t).workers == 0 && trial_state(&t).ended == 0);
    uint64_t again = trial_hello(&t, 0, 3, 0);
    CHECK(again > ticket && coordinator_cell(t.c, 0, again) == 10);
    trial_result(&t, 0, ticket, true);
    CHECK(t.count == 0);
    trial_result(&t, 0, again, true);
    CHECK(trial_got(&t, ORDER_ACCEPT).cell == 10 && trial_has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

TEST(coordinator_takes_a_hello_for_the_end_of_what_was_before)
{
    struct trial t = trial_begin(1, 0, 10, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    CHECK(trial_hello(&t, 0, 0, 0) > ticket);
    CHECK(t.count == 3 && t.order[0].kind == ORDER_STOP && t.order[0].ticket == 0);
    CHECK(t.order[1].kind == ORDER_RETURN && t.order[1].deaths == 0 && t.order[2].kind == ORDER_RUN);
    CHECK(coordinator_cell(t.c, 0, ticket) == -1);
    coordinator_free(t.c);
}

TEST(coordinator_ignores_workers_and_nodes_that_cannot_be)
{
    struct trial t = trial_begin(1, 0, 10, NULL);

    trial_hello(&t, TRIAL_WORKERS, 0, 0);
    CHECK(t.count == 0);
    trial_hello(&t, -1, 0, 0);
    CHECK(t.count == 0);
    trial_hello(&t, 0, TRIAL_WORKERS, 0);
    CHECK(t.count == 0);
    trial_hello(&t, 0, -1, 0);
    CHECK(t.count == 0 && trial_state(&t).workers == 0);
    trial_lost(&t, TRIAL_WORKERS, true);
    trial_checkpoint(&t, -1, 1);
    CHECK(t.count == 0);
    coordinator_free(t.c);
}

/* A worker that hands its run back unasked got a signal itself, and gets no more orders. */
TEST(coordinator_lets_a_worker_leave)
{
    struct trial t = trial_begin(3, 0, INFINITY, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_result(&t, 0, ticket, false);
    CHECK(t.count == 1 && trial_got(&t, ORDER_RETURN).cell == 10);
    CHECK(trial_state(&t).workers == 0 && trial_state(&t).pending == 3);
    trial_hello(&t, 1, 0, 0);
    CHECK(trial_got(&t, ORDER_RUN).cell == 10);
    trial_event(&t, (struct event){.kind = EVENT_STOP});
    CHECK(t.count == 1 && trial_got(&t, ORDER_STOP).worker == 1);
    coordinator_free(t.c);
}

TEST(coordinator_waits_for_all_of_a_worker_that_leaves)
{
    struct trial t = trial_begin_ahead(INFINITY);

    trial_hello(&t, 0, 0, 0);
    trial_result(&t, 0, 2, false);
    trial_event(&t, (struct event){.kind = EVENT_STOP});
    CHECK(t.count == 1 && trial_has(&t, ORDER_STOP));
    trial_event(&t, (struct event){.kind = EVENT_STOP});
    CHECK(t.count == 0); /* it is told once */
    trial_result(&t, 0, 1, false);
    CHECK(trial_has(&t, ORDER_RETURN) && trial_has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}

/* Both orders come back: the worker leaves, and both runs go to the next. */
TEST(coordinator_lets_a_worker_leave_with_an_order_ahead)
{
    struct trial t = trial_begin_ahead(INFINITY);

    trial_hello(&t, 0, 0, 0);
    trial_result(&t, 0, 1, false);
    CHECK(t.count == 1 && trial_got(&t, ORDER_RETURN).cell == 0);
    trial_result(&t, 0, 2, false);
    CHECK(t.count == 1 && trial_got(&t, ORDER_RETURN).cell == 1);
    CHECK(trial_state(&t).workers == 0 && trial_state(&t).pending == 12);
    uint64_t ticket = trial_hello(&t, 0, 0, 0); /* in its place */
    CHECK(trial_got(&t, ORDER_RUN).cell == 1 && coordinator_cell(t.c, 0, ticket) == 1);
    CHECK(coordinator_cell(t.c, -1, ticket) == -1 && coordinator_cell(t.c, 1, ticket) == -1);
    coordinator_free(t.c);
}

/* Lost workers have no share in the queue: the remaining ones hold orders ahead. */
TEST(coordinator_shares_the_queue_among_those_who_are_left)
{
    const int64_t pending[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const double cost[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct coordinator_options options = {.silence = 10, .deaths = 3, .orders_ahead = 1};
    struct trial t = {.c = coordinator_new(pending, cost, NULL, 16, 10, &options)};

    uint64_t ticket = trial_hello(&t, 0, 0, 0);
    CHECK(t.count == 1);
    trial_progress(&t, 0, ticket, 1000);
    trial_hello(&t, 1, 0, 0);
    trial_tick(&t, 11);
    for (int i = 2; i < 10; i++)
        trial_lost(&t, i, false);
    trial_result(&t, 0, ticket, true);
    CHECK(t.count == 3 && t.order[1].kind == ORDER_RUN && t.order[2].kind == ORDER_RUN);
    coordinator_free(t.c);
}
