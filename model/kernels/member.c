/*
 * Beside a busy neighbour a thread that joins in is not always a gain.
 *
 * The system may wake it on its caller's processor, as the other one is busy, too. It then only takes the
 * caller's place, for some 10 microseconds of switching, and as it sleeps most of the time the system sees no
 * need to move it. So it moves itself, but not more often than once in a while: the system may bring it back.
 *
 * Or it shares a processor with the neighbour, and is made to wait for milliseconds with a share in its hands
 * that takes microseconds. Then the team does without it for some time.
 */
#include "model/kernels/member.h"

#include <sched.h>
#include <stdatomic.h>

enum { LEAVE_NANOSECONDS = 1000000, REST_TIMES = 8, REST_MOST_NANOSECONDS = 100000000 };

void member_begin(struct member *member)
{
    atomic_store_explicit(&member->processor, sched_getcpu(), memory_order_relaxed);
}

void member_end(struct member *member)
{
    atomic_store_explicit(&member->processor, NOWHERE, memory_order_relaxed);
}

bool member_is_here(const struct member *member)
{
    return atomic_load_explicit(&member->processor, memory_order_relaxed) == sched_getcpu();
}

void member_call(struct member *member, int64_t now)
{
    bool called = now >= atomic_load(&member->rested);

    atomic_store(&member->called, called);
    if (called)
        bed_wake(&member->bed);
}

static void rest_for(struct member *member, int64_t nanoseconds)
{
    int64_t most = REST_MOST_NANOSECONDS;

    atomic_store(&member->rested, bed_now() + (nanoseconds < most ? nanoseconds : most));
}

void member_rest(struct member *member, int64_t waited)
{
    rest_for(member, REST_TIMES * waited);
}

void member_leave(struct member *member)
{
    cpu_set_t all, others;

    rest_for(member, LEAVE_NANOSECONDS);
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    others = all;
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
        sched_setaffinity(0, sizeof(all), &all);
}
