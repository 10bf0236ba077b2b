#ifndef NORMSWEEP_MODEL_KERNELS_POOL_H
#define NORMSWEEP_MODEL_KERNELS_POOL_H

#include <stdint.h>

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
