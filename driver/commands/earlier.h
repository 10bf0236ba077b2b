#ifndef NORMSWEEP_DRIVER_COMMANDS_EARLIER_H
#define NORMSWEEP_DRIVER_COMMANDS_EARLIER_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/longer.h"
#include "driver/dataset/view.h"
#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "model/corpora/corpus.h"

/*
 * Which runs of the sweep have ended in the dataset that exists at its output? All, if its search has ended.
 * Sets *ended to [cells], which the caller frees; NULL if there is no dataset. Has the sweep grown beyond the
 * dataset? -1: `run` would refuse the dataset, or memory is lacking; the message is that of `run`. Only
 * reads.
 */
int earlier_runs(const struct sweep *sweep, const struct corpus *corpus, bool **ended, struct longer *longer,
    struct error *error);

/*
 * The cell of an open dataset that holds the run of each cell of the sweep, -1: none. Sets *place to [cells],
 * which the caller frees. The dataset, which verify_content has accepted, holds the whole sweep or a part of
 * it; it holds no run if the sweep has grown beyond its *shorter steps, which else are 0. -1: it holds
 * something else, or memory is lacking; the message is that of `run`.
 */
int earlier_places(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **place, int64_t *shorter, struct error *error);

#endif
