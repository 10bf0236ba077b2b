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
#include "model/kernels/pool.h"

#include <sched.h>
#include <stdatomic.h>

enum { LEAVE_NANOSECONDS = 1000000, REST_TIMES = 8, REST_MOST_NANOSECONDS = 100000000 };

void pool_thread_begin(struct pool_thread *thread)
{
    atomic_store_explicit(&thread->processor, sched_getcpu(), memory_order_relaxed);
}

void pool_thread_end(struct pool_thread *thread)
{
    atomic_store_explicit(&thread->processor, NOWHERE, memory_order_relaxed);
}

bool pool_thread_is_here(const struct pool_thread *thread)
{
    return atomic_load_explicit(&thread->processor, memory_order_relaxed) == sched_getcpu();
}

void pool_thread_call(struct pool_thread *thread, int64_t now)
{
    bool called = now >= atomic_load(&thread->rested);

    atomic_store(&thread->called, called);
    if (called)
        parking_wake(&thread->parking);
}

/* Rests the thread for so long, or for as long as it already has to. */
static void rest_for(struct pool_thread *thread, int64_t nanoseconds)
{
    const int64_t most = REST_MOST_NANOSECONDS;
    int64_t end = parking_clock() + (nanoseconds < most ? nanoseconds : most);
    int64_t before = atomic_load(&thread->rested);

    while (before < end && !atomic_compare_exchange_weak(&thread->rested, &before, end))
        ;
}

void pool_thread_rest(struct pool_thread *thread, int64_t waited)
{
    rest_for(thread, REST_TIMES * waited);
}

void pool_thread_leave(struct pool_thread *thread)
{
    cpu_set_t all, others;

    rest_for(thread, LEAVE_NANOSECONDS);
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    others = all;
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
        sched_setaffinity(0, sizeof(all), &all);
}
