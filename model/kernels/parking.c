/*
 * A thread spins first, because the next work of a training step mostly comes within microseconds. It does
 * not spin for long: that would take a processor from threads that work, of this team or of a neighbour.
 */
#include "model/kernels/pool.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a thread spins, about twice as long as it takes to wake one; and how often between two looks at
 * the clock. */
enum { SPIN_NANOSECONDS = 50000, SPINS_PER_LOOK = 32 };

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

int64_t parking_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool spin_until(parking_condition *holds, parking_condition *in_the_way, int64_t thread)
{
    int64_t end = parking_clock() + SPIN_NANOSECONDS;

    do
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (holds(thread))
                return true;
            pause_briefly();
        }
    while (parking_clock() < end && !in_the_way(thread));
    return false;
}

/* Either this thread sees the condition, or the one that makes it true sees that this thread is about to
 * sleep. */
void parking_wait(
    struct parking *parking, parking_condition *holds, parking_condition *in_the_way, int64_t thread)
{
    if (spin_until(holds, in_the_way, thread))
        return;
    while (!holds(thread)) {
        atomic_store(&parking->asleep, 1);
        if (!holds(thread))
            futex(&parking->asleep, FUTEX_WAIT_PRIVATE, 1);
        atomic_store(&parking->asleep, 0);
    }
}

void parking_wake(struct parking *parking)
{
    if (atomic_load(&parking->asleep) && atomic_exchange(&parking->asleep, 0))
        futex(&parking->asleep, FUTEX_WAKE_PRIVATE, 1);
}
