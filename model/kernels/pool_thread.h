#ifndef NORMSWEEP_MODEL_KERNELS_POOL_THREAD_H
#define NORMSWEEP_MODEL_KERNELS_POOL_THREAD_H

#include "model/kernels/parking.h"

/* A thread of the pool, as the others see it. {.processor = NOWHERE} at first. */
struct pool_thread {
    struct parking parking;
    _Atomic int processor; /* on which it works; or NOWHERE */
    _Atomic bool called; /* it may claim shares */
    _Atomic int64_t rested; /* the time from which on it is called again */
};

enum { NOWHERE = -1 };

/* Called by the thread itself: it works on this processor from now on; it does not work any more. */
void pool_thread_begin(struct pool_thread *thread);
void pool_thread_end(struct pool_thread *thread);

/* Does the thread work on the processor that the calling thread runs on? */
bool pool_thread_is_here(const struct pool_thread *thread);

/* Calls the thread to a job that begins now, and wakes it, unless it rests. */
void pool_thread_call(struct pool_thread *thread, int64_t now);

/* The thread has made its caller wait for so many nanoseconds longer than it should: rests it for many
 * times as long, so that the team loses little against one thread. */
void pool_thread_rest(struct pool_thread *thread, int64_t waited);

/* Called by the thread itself, on its caller's processor: goes to another one, and rests for a moment. */
void pool_thread_leave(struct pool_thread *thread);

#endif
