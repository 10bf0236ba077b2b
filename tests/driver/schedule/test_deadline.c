#include "driver/schedule/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

enum { WORKERS = 50, ROUNDS = 20000 };

/* Compared with a search of all deadlines, which are postponed, moved forward and removed. */
TEST(deadline_finds_who_is_due)
{
    struct deadlines deadlines;
    double due[WORKERS], now = 0;
    int found = 0;

    CHECK(deadlines_init(&deadlines, WORKERS) == 0);
    for (int i = 0; i < WORKERS; i++)
        due[i] = INFINITY;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int worker = (int)(WORKERS * random_uniform(1, RANDOM_TEST, 3 * round));
        double kind = random_uniform(1, RANDOM_TEST, 3 * round + 1);
        now += 0.02;
        due[worker] = kind < 0.1 ? INFINITY : now + 2 * random_uniform(1, RANDOM_TEST, 3 * round + 2);
        deadline_set(&deadlines, worker, due[worker]);
        for (int passed; (passed = deadline_passed(&deadlines, now)) != DEADLINE_NONE; found++) {
            CHECK(due[passed] < now);
            due[passed] = INFINITY;
        }
        for (int i = 0; i < WORKERS; i++)
            CHECK(!(due[i] < now));
        CHECK(deadlines.count <= WORKERS);
    }
    CHECK(found > ROUNDS / 10);
    deadlines_release(&deadlines);
}

TEST(deadline_never_passes_when_there_is_none)
{
    struct deadlines deadlines;

    CHECK(deadlines_init(&deadlines, 2) == 0);
    CHECK(deadline_passed(&deadlines, 1e300) == DEADLINE_NONE);
    deadline_set(&deadlines, 0, INFINITY);
    deadline_set(&deadlines, 1, 5);
    deadline_set(&deadlines, 1, INFINITY);
    CHECK(deadline_passed(&deadlines, INFINITY) == DEADLINE_NONE);
    CHECK(deadlines.count == 0);
    deadlines_release(&deadlines);
}
