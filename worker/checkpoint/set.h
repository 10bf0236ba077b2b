#ifndef NORMSWEEP_WORKER_CHECKPOINT_SET_H
#define NORMSWEEP_WORKER_CHECKPOINT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/core/error.h"

/* The runs that have checkpoints in a folder, and their latest session; read once, when a sweep starts. */
struct checkpoint_set {
    int64_t count, size;
    struct digest *digest; /* [count] in order, distinct; owned */
    int64_t session; /* the latest session of any checkpoint; -1: no checkpoints */
};

/* -1: ERROR_ENVIRONMENT, with errno, and the set is empty. */
int checkpoint_set_init(struct checkpoint_set *set, const char *folder, struct error *error);
void checkpoint_set_release(struct checkpoint_set *set);

bool checkpoint_set_has(const struct checkpoint_set *set, const struct digest *digest);

#endif
