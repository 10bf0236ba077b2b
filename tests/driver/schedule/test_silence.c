/* Which workers the coordinator gives up for silence, and what then happens to them. */
#include "tests/driver/schedule/trial.h"
#include "tests/test.h"

#include <stddef.h>

TEST(coordinator_gives_up_each_worker_by_its_own_patience)
{
    struct trial t = trial_begin(2, 0, INFINITY, NULL);
    uint64_t first = trial_hello(&t, 0, 0, 0), second = trial_hello(&t, 1, 1, 0);

    trial_progress(&t, 0, first, 100);
    trial_progress(&t, 1, second, 10);
    CHECK(trial_tick(&t, 10) == -1);
    CHECK(trial_tick(&t, 10.5) == 1 && trial_got(&t, ORDER_RETURN).cell == 11);
    CHECK(trial_tick(&t, 100) == -1);
    CHECK(trial_tick(&t, 100.5) == 0 && trial_got(&t, ORDER_RETURN).cell == 10);
    coordinator_free(t.c);
}

TEST(coordinator_patience_counts_from_the_last_word)
{
    struct trial t = trial_begin(2, 0, INFINITY, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_progress(&t, 0, ticket, 10);
    t.now = 9;
    trial_progress(&t, 0, ticket, 10);
    CHECK(trial_tick(&t, 15) == -1 && trial_tick(&t, 19) == -1);
    trial_progress(&t, 0, ticket, 2); /* earlier than announced before */
    CHECK(trial_tick(&t, 21.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_patience_is_that_of_the_options_until_the_worker_says_its_own)
{
    struct trial t = trial_begin(2, 0, 20, NULL);
    trial_hello(&t, 0, 0, 5);

    CHECK(trial_tick(&t, 6) == -1); /* the 5 s were announced for idleness */
    CHECK(trial_tick(&t, 20) == -1 && trial_tick(&t, 20.5) == 0);
    t.now = 30;
    uint64_t ticket = trial_hello(&t, 0, 0, 0);
    trial_progress(&t, 0, ticket, 100);
    CHECK(trial_tick(&t, 100) == -1);
    trial_progress(&t, 0, ticket, 0);
    CHECK(trial_tick(&t, 120) == -1 && trial_tick(&t, 120.5) == 0);
    coordinator_free(t.c);
}

/* The worker begins its next run, for which its patience may be different. */
TEST(coordinator_patience_is_that_of_the_options_after_a_result)
{
    struct trial t = trial_begin_ahead(20);

    trial_hello(&t, 0, 0, 0);
    trial_progress(&t, 0, t.order[0].ticket, 3);
    trial_result(&t, 0, 1, true);
    CHECK(trial_has(&t, ORDER_ACCEPT) && trial_tick(&t, 4) == -1 && trial_tick(&t, 20) == -1 &&
          trial_tick(&t, 20.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_never_gives_up_with_infinite_silence)
{
    struct trial t = trial_begin(2, 0, INFINITY, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 1);

    CHECK(trial_tick(&t, 1e9) == -1);
    trial_progress(&t, 0, ticket, 0);
    CHECK(trial_tick(&t, 2e9) == -1);
    coordinator_free(t.c);
}

/* A patience announced for idleness, or for the run before, while the next order is on its way. */
TEST(coordinator_patience_under_another_ticket_does_not_count)
{
    struct trial t = trial_begin(2, 0, 50, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_progress(&t, 0, 0, 1);
    trial_progress(&t, 0, ticket + 7, 1);
    CHECK(trial_tick(&t, 2) == -1 && trial_tick(&t, 50) == -1);
    trial_progress(&t, 0, 0, 1); /* a sign of life all the same */
    CHECK(trial_tick(&t, 100) == -1 && trial_tick(&t, 100.5) == 0);
    coordinator_free(t.c);
}

TEST(coordinator_takes_checkpoints_and_orders_handed_back_for_words)
{
    struct trial t = trial_begin_ahead(1000);

    trial_hello(&t, 0, 0, 0);
    CHECK(t.count == 2 && t.order[1].kind == ORDER_RUN);
    uint64_t ticket = t.order[0].ticket, ahead = t.order[1].ticket;
    trial_progress(&t, 0, ticket, 10);
    t.now = 8;
    trial_checkpoint(&t, 0, ticket);
    CHECK(trial_tick(&t, 18) == -1);
    trial_result(
        &t, 0, ahead, false); /* it still trains the same run, with the patience announced for that */
    CHECK(trial_tick(&t, 28) == -1 && trial_tick(&t, 28.5) == 0);
    coordinator_free(t.c);
}

/* Messages may wait while the coordinator is busy: only a tick means that all have been handled. */
TEST(coordinator_looks_for_silence_at_a_tick_alone)
{
    struct trial t = trial_begin(3, 0, 10, NULL);
    uint64_t first = trial_hello(&t, 0, 0, 0), second = trial_hello(&t, 1, 0, 0);

    t.now = 1000;
    trial_progress(&t, 0, first, 10);
    trial_progress(&t, 1, second, 10);
    CHECK(!trial_has(&t, ORDER_GIVE_UP) && trial_tick(&t, 1000) == -1);
    coordinator_free(t.c);
}

TEST(coordinator_says_who_is_given_up_before_what_becomes_of_its_runs)
{
    struct trial t = trial_begin(1, 0, 10, NULL);

    trial_hello(&t, 0, 0, 0);
    trial_tick(&t, 11);
    CHECK(t.count == 2 && t.order[0].kind == ORDER_GIVE_UP && t.order[1].kind == ORDER_RETURN);
    CHECK(t.order[0].worker == 0 && t.order[0].cell == 10);
    coordinator_free(t.c);
}

TEST(coordinator_gives_up_idle_workers_and_takes_them_back)
{
    struct trial t = trial_begin(1, 0, 10, NULL);

    trial_hello(&t, 0, 0, 1000);
    trial_progress(&t, 0, 1, 1000);
    trial_hello(&t, 1, 0, 5);
    trial_progress(&t, 1, 0, 5);
    CHECK(trial_state(&t).idle == 1 && trial_state(&t).workers == 2);
    CHECK(trial_tick(&t, 5.5) == 1 && t.count == 1 && trial_got(&t, ORDER_GIVE_UP).cell == -1);
    CHECK(trial_state(&t).idle == 0 && trial_state(&t).workers == 1 && trial_state(&t).silent == 1);
    trial_lost(&t, 0, false);
    CHECK(!trial_has(&t, ORDER_RUN)); /* to the silent one */
    trial_progress(&t, 1, 0, 5);
    CHECK(t.count == 1 && trial_got(&t, ORDER_RUN).worker == 1 && trial_state(&t).silent == 0);
    coordinator_free(t.c);
}

TEST(coordinator_tells_a_worker_that_wakes_to_stop_once)
{
    struct trial t = trial_begin(1, 0, 10, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    CHECK(trial_tick(&t, 11) == 0 && coordinator_cell(t.c, 0, ticket) == -1);
    trial_progress(&t, 0, ticket, 0);
    CHECK(t.count == 1 && trial_has(&t, ORDER_STOP) && trial_got(&t, ORDER_STOP).ticket == 0);
    trial_progress(&t, 0, ticket, 0);
    CHECK(t.count == 0);
    trial_result(
        &t, 0, ticket, false); /* everything is handed back: the worker is idle and gets the returned run */
    CHECK(t.count == 1 && trial_got(&t, ORDER_RUN).cell == 10 && trial_got(&t, ORDER_RUN).ticket != ticket);
    CHECK(trial_tick(&t, 22) == 0);
    trial_progress(&t, 0, 0, 0); /* hung and awake again */
    CHECK(t.count == 1 && trial_has(&t, ORDER_STOP));
    coordinator_free(t.c);
}

TEST(coordinator_accepts_nothing_of_a_worker_that_was_given_up)
{
    struct trial t = trial_begin(1, 0, 10, NULL);
    uint64_t ticket = trial_hello(&t, 0, 0, 0);

    trial_tick(&t, 11);
    trial_result(&t, 0, ticket, true);
    CHECK(!trial_has(&t, ORDER_ACCEPT) && trial_state(&t).ended == 0);
    CHECK(trial_got(&t, ORDER_RUN).cell == 10); /* it has no runs left and may begin again */
    coordinator_free(t.c);
}

TEST(coordinator_finishes_without_those_who_hang_while_all_stops)
{
    struct trial t = trial_begin(2, 0, 10, NULL);
    uint64_t first = trial_hello(&t, 0, 0, 0);

    trial_hello(&t, 1, 1, 0);
    trial_event(&t, (struct event){.kind = EVENT_STOP});
    trial_result(&t, 0, first, false);
    CHECK(trial_has(&t, ORDER_RETURN) && !trial_has(&t, ORDER_FINISH));
    trial_progress(&t, 0, 0, 1000);
    CHECK(trial_tick(&t, 11) == 1 && trial_has(&t, ORDER_FINISH));
    coordinator_free(t.c);
}
