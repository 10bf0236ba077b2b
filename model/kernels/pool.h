#ifndef NORMSWEEP_MODEL_KERNELS_POOL_H
#define NORMSWEEP_MODEL_KERNELS_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* ---- parking ---- */

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

/* ---- pool ---- */

/* Does one share of some work. */
typedef void pool_share(const void *context, int64_t share);

enum { POOL_THREADS_MOST = 1024 };

/*
 * Does shares 0 .. shares - 1 by up to `threads` threads, of which the caller is one, and returns when all
 * are done. Who does which share is left to chance, so results must not depend on it; one may do all.
 * Denormals are flushed in every thread if they are in the caller.
 *
 * The other threads are the process's: they are started by the first call that asks for so many, take no
 * signals, have the affinity of the thread that made that call, and end with the process. A child of a fork
 * starts its own. If the system grants fewer, or another thread uses them at the moment, fewer threads do all
 * shares, if need be the caller alone.
 */
void pool_run(int64_t threads, int64_t shares, pool_share *run, const void *context);

#endif
