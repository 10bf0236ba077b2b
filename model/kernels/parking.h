#ifndef NORMSWEEP_MODEL_KERNELS_PARKING_H
#define NORMSWEEP_MODEL_KERNELS_PARKING_H

#include <stdbool.h>
#include <stdint.h>

/* Where one thread waits for others; {0} at first. Aligned, so that its neighbours' do not slow it down. */
struct parking {
    _Alignas(64) _Atomic uint32_t asleep; /* 1 while the thread sleeps or is about to: a futex */
};

typedef bool parking_condition(int64_t thread);

/*
 * Returns when `holds` is true of this thread, the only one that waits in this place. A thread that makes it
 * true calls parking_wake() afterwards. The thread spins for some microseconds, but not while it is
 * `in_the_way`, and then sleeps.
 */
void parking_wait(
    struct parking *parking, parking_condition *holds, parking_condition *in_the_way, int64_t thread);
void parking_wake(struct parking *parking);

/* Nanoseconds since some time. */
int64_t parking_clock(void);

#endif
