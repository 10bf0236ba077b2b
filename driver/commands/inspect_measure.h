#ifndef NORMSWEEP_DRIVER_COMMANDS_INSPECT_MEASURE_H
#define NORMSWEEP_DRIVER_COMMANDS_INSPECT_MEASURE_H

#include "driver/commands/inspect_text.h"
#include "driver/dataset/inspected.h"

/*
 * Measures a network: its norms in one pass over the files; with a text, also saturation, heads and loss.
 * Memory holds what lies outside the blocks and one block, twice if there is a text, and the activations of
 * one block for one batch, which is smaller where memory is short; the weights of each block are converted
 * from the mapped file for each batch. keep_states: of the first sequences. A line on stderr shows the
 * progress if that is a terminal. On success the results point into *arena, which the caller releases after
 * them. -1 with "<path>: why" in error, nothing to release.
 */
int inspect_measure(struct inspected *inspected, struct arena *arena, struct trained *trained,
    struct inspect_text *text, int64_t threads, bool keep_states, struct error *error);

#endif
