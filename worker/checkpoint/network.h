#ifndef NORMSWEEP_WORKER_CHECKPOINT_NETWORK_H
#define NORMSWEEP_WORKER_CHECKPOINT_NETWORK_H

#include "model/core/error.h"
#include "worker/checkpoint/visit.h"

/*
 * The architecture of a network in a weights file: the attributes of the variable `architecture`. Whoever
 * writes such a file, a run or analysis/weights, writes all of them; sizes and numbers have no default there.
 */

/* Defines the variable with its attributes, or writes its value, 0, depending on the pass. */
void network_visit(struct form *form, const struct architecture *architecture);

/* Reads the attributes, of which nothing is trusted. -1 with a message in error, without path. */
int network_read(int file, struct architecture *architecture, struct error *error);

#endif
