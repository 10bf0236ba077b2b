/* A coordinator without memory: it is not made, adds nothing, or ends the process rather than lose an order.
 */
#include "tests/driver/schedule/trial.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const allocations[] = {"malloc", "calloc", "realloc"};
enum { ALLOCATIONS = sizeof(allocations) / sizeof(*allocations) };

TEST(coordinator_is_not_made_without_memory)
{
    const struct coordinator_options options = {.silence = 60, .deaths = 3, .orders_ahead = 1};
    const int64_t cell[] = {0, 1, 2};
    const double cost[] = {3, 2, 1};
    int refused = 0;

    for (int i = 0; i < ALLOCATIONS; i++)
        for (int n = 0, failed = 1; failed; n++) {
            failing_after(n, allocations[i], ENOMEM);
            struct coordinator *c = coordinator_new(cell, cost, NULL, 3, 4, &options);
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
    const int64_t cell[] = {1000};
    const double cost[] = {7};

    for (int n = 0; n < 4; n++) {
        struct trial t = trial_begin(3, 0, INFINITY, NULL);
        failing_after(n, "realloc", ENOMEM);
        int64_t added = coordinator_add(t.c, cell, cost, NULL, 1, t.now);
        bool failed = failing_end();
        CHECK(added == (failed ? -1 : 1));
        CHECK(trial_state(&t).pending == (failed ? 3 : 4));
        CHECK(coordinator_add(t.c, cell, cost, NULL, 1, t.now) == failed);
        coordinator_free(t.c);
    }
}

/* Orders that are not taken pile up until there is no memory for another. */
static void push_orders(void)
{
    const struct coordinator_options options = {.silence = 60, .deaths = 3, .orders_ahead = 1};
    const struct rlimit none = {0, 0};
    int64_t cell[200];
    double cost[200];

    setrlimit(RLIMIT_CORE, &none);
    for (int i = 0; i < 200; i++) {
        cell[i] = i;
        cost[i] = 1;
    }
    struct coordinator *c = coordinator_new(cell, cost, NULL, 200, 4, &options);
    if (c) {
        failing_next("realloc", ENOMEM);
        for (int i = 0; i < 200; i++)
            coordinator_handle(c, &(struct event){.kind = EVENT_HELLO, .worker = i % 4});
    }
    _exit(0);
}

TEST(coordinator_ends_the_process_rather_than_lose_an_order)
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        push_orders();
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
