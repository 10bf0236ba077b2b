#ifndef NORMSWEEP_MODEL_KERNELS_BED_H
#define NORMSWEEP_MODEL_KERNELS_BED_H

#include <stdbool.h>
#include <stdint.h>

/* Where one thread waits for others; {0} at first. Aligned, so that its neighbours' do not slow it down. */
struct bed {
    _Alignas(64) _Atomic uint32_t asleep; /* 1 while the thread sleeps or is about to: a futex */
};

typedef bool bed_condition(int64_t thread);

/*
 * Returns when `holds` is true of this thread, the only one that waits in this bed. Whoever makes it true
 * calls bed_wake() afterwards. The thread spins for some microseconds, but not while it is `in_the_way`, and
 * then sleeps.
 */
void bed_wait(struct bed *bed, bed_condition *holds, bed_condition *in_the_way, int64_t thread);
void bed_wake(struct bed *bed);

/* Nanoseconds since some time. */
int64_t bed_now(void);

#endif
