#ifndef NORMSWEEP_DRIVER_DATASET_ORDER_H
#define NORMSWEEP_DRIVER_DATASET_ORDER_H

#include "driver/dataset/ledger.h"

/*
 * Maps an existing file to the layout's sweep, as mapping_init does, and lets the sweep take the order of
 * values along axes of numbers from a file whose order is not strict, unless the sweep has more values than
 * the file: the file is then written anew in any case, in the sweep's own order. On failure -1.
 */
int order_map(struct mapping *mapping, struct sweep *sweep, const struct view *view,
    const struct layout *layout, struct error *error);

#endif
