/* Runs that are added to a coordinator at work. */
#include "tests/driver/schedule/trial.h"
#include "tests/test.h"

#include <stddef.h>

static void take_orders(struct trial *t)
{
    t->count = 0;
    while (t->count < TRIAL_ORDERS && coordinator_next(t->c, &t->order[t->count]))
        t->count++;
}

static int64_t add(struct trial *t, int64_t cell, double cost)
{
    int64_t added = coordinator_add(t->c, &cell, &cost, NULL, 1, t->now);

    take_orders(t);
    return added;
}

/* The cells that worker 0 gets one after the other, as decimal digits. */
static int64_t order_of_training(struct trial *t, uint64_t ticket)
{
    int64_t digits = 0;

    while (ticket) {
        digits = 10 * digits + coordinator_cell(t->c, 0, ticket) % 10;
        trial_result(t, 0, ticket, true);
        ticket = trial_got(t, ORDER_RUN).ticket;
    }
    return digits;
}

TEST(coordinator_adds_the_longest_run_first)
{
    const int64_t cell[] = {4, 5, 6, 7, 8};
    const double cost[] = {2.5, 9, 0.5, 2, 9};
    struct trial t = trial_begin(3, 0, INFINITY, NULL); /* cells 10, 11, 12 cost 4, 3, 2 */
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    CHECK(coordinator_add(t.c, cell, cost, NULL, 5, t.now) == 5);
    take_orders(&t);
    CHECK(t.count == 0 && trial_state(&t).pending == 7);
    CHECK_CLOSE(trial_state(&t).cost_left, 32, 0);
    CHECK(order_of_training(&t, ticket) == 5814726); /* 10 first: a leading 0 */
    CHECK(trial_has(&t, ORDER_FINISH) && trial_state(&t).ended == 8 && trial_state(&t).cost_left == 0);
    coordinator_free(t.c);
}

TEST(coordinator_hands_out_returned_runs_before_added_ones)
{
    struct trial t = trial_begin(2, 0, INFINITY, NULL);

    trial_hello(&t, 0, 0, 0);
    CHECK(add(&t, 3, 100) == 1);
    trial_lost(&t, 0, false);
    CHECK(order_of_training(&t, trial_hello(&t, 0, 0, 0)) == 31);
    coordinator_free(t.c);
}

TEST(coordinator_gives_added_runs_to_idle_workers_at_once)
{
    const int64_t cell[] = {1, 2, 3};
    const double cost[] = {1, 3, 2};
    struct trial t = trial_begin(1, 0, 10, NULL);

    for (int worker = 0; worker < 3; worker++)
        trial_hello(&t, worker, 0, 1000);
    CHECK(trial_state(&t).idle == 2);
    CHECK(coordinator_add(t.c, cell, cost, NULL, 3, 5) == 3);
    take_orders(&t);
    CHECK(t.count == 2 && t.order[0].cell == 2 && t.order[0].worker == 1 && t.order[1].cell == 3);
    CHECK(trial_tick(&t, 14) == 0); /* the patience of the others counts from 5 */
    CHECK(trial_tick(&t, 15.5) >= 1);
    coordinator_free(t.c);
}

/* All workers are idle, and the last result is about to end the sweep. */
TEST(coordinator_continues_if_runs_are_added_on_the_last_result)
{
    struct trial t = trial_begin(1, 0, INFINITY, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);
    struct event event = {.kind = EVENT_RESULT, .ticket = ticket, .ended = true};
    struct order order;

    trial_hello(&t, 1, 0, 0);
    coordinator_handle(t.c, &event);
    CHECK(coordinator_next(t.c, &order) && order.kind == ORDER_ACCEPT);
    CHECK(add(&t, 11, 1) == 1);
    CHECK(t.count == 1 && trial_got(&t, ORDER_RUN).cell == 11);
    trial_result(&t, trial_got(&t, ORDER_RUN).worker, trial_got(&t, ORDER_RUN).ticket, true);
    CHECK(trial_has(&t, ORDER_ACCEPT) && trial_has(&t, ORDER_FINISH));
    CHECK(add(&t, 12, 1) == 0 && t.count == 0); /* the workers go home */
    CHECK(trial_state(&t).pending == 0);
    coordinator_free(t.c);
}

/* The same if the last run has killed its workers; the new run goes to the next worker. */
TEST(coordinator_continues_if_runs_are_added_on_the_last_failure)
{
    struct trial t = trial_begin(1, 0, INFINITY, NULL);
    struct event event = {.kind = EVENT_LOST, .blame = true};
    struct order order;

    for (int death = 0; death < 2; death++) {
        trial_hello(&t, 0, 0, 0);
        trial_lost(&t, 0, true);
    }
    trial_hello(&t, 0, 0, 0);
    coordinator_handle(t.c, &event);
    CHECK(coordinator_next(t.c, &order) && order.kind == ORDER_FAIL && order.cell == 10);
    CHECK(add(&t, 11, 1) == 1 && t.count == 0 && trial_state(&t).pending == 1);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);
    CHECK(trial_got(&t, ORDER_RUN).cell == 11);
    trial_result(&t, 0, ticket, true);
    CHECK(trial_has(&t, ORDER_ACCEPT) && trial_has(&t, ORDER_FINISH) && trial_state(&t).ended == 2);
    coordinator_free(t.c);
}

/* A caller without the clock of the events must not advance it: nobody would be silent any more. */
TEST(coordinator_adds_at_the_time_of_the_last_event)
{
    struct trial t = trial_begin(1, 0, 10, NULL);

    trial_hello(&t, 0, 0, 0);
    trial_tick(&t, 5);
    t.now = 0;
    CHECK(add(&t, 11, 1) == 1);
    trial_hello(&t, 1, 0, 0);
    CHECK(trial_tick(&t, 14) == 0 && trial_tick(&t, 14.5) == -1 && trial_tick(&t, 15.5) == 1);
    coordinator_free(t.c);
}

TEST(coordinator_adds_nothing_that_is_there_and_nothing_after_a_stop)
{
    struct trial t = trial_begin(2, 0, INFINITY, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    CHECK(add(&t, 10, 1) == 0 && add(&t, 11, 1) == 0); /* held, waiting */
    trial_result(&t, 0, ticket, true);
    CHECK(add(&t, 10, 1) == 0 && trial_state(&t).pending == 0 && trial_state(&t).ended == 1); /* ended */
    trial_event(&t, (struct event){.kind = EVENT_STOP});
    CHECK(add(&t, 12, 1) == 0 && t.count == 0 && trial_state(&t).running == 1);
    coordinator_free(t.c);
}

TEST(coordinator_counts_deaths_of_added_runs_before_now)
{
    const int64_t cell[] = {11};
    const double cost[] = {1};
    const int deaths[] = {2};
    struct trial t = trial_begin(1, 0, INFINITY, NULL);

    trial_hello(&t, 0, 0, 0);
    CHECK(coordinator_add(t.c, cell, cost, deaths, 1, t.now) == 1);
    CHECK(trial_hello(&t, 1, 0, 0) > 0);
    trial_lost(&t, 1, true);
    CHECK(trial_got(&t, ORDER_FAIL).cell == 11 && trial_got(&t, ORDER_FAIL).deaths == 3);
    coordinator_free(t.c);
}
