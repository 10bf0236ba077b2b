#ifndef NORMSWEEP_WORKER_HOST_INSIDE_H
#define NORMSWEEP_WORKER_HOST_INSIDE_H

#include <stdint.h>
#include <time.h>

#include "worker/host/host.h"

/* The least bytes of texts, or tokens to draw, of a corpus that is shared. */
enum { NODE_SHARE_FROM = 1 << 20 };

/*
 * The share of processors_pin out of `count` processors, which it sorts. Returns the number of processors
 * from *first on; 0: do not bind.
 */
int processors_share(
    struct processor *processor, int count, int index, int workers, int64_t threads, int *first);

/*
 * Blocks installed signals, with one that has already come, during an exec of this program, until the new
 * program installs its handlers. If the exec fails, signals_let_go undoes it.
 */
void signals_hold(void);
void signals_let_go(void);

#endif
