#ifndef NORMSWEEP_DRIVER_JOB_BOUNDARY_H
#define NORMSWEEP_DRIVER_JOB_BOUNDARY_H

#include <stdbool.h>

#include "driver/dataset/dataset.h"
#include "driver/output/lease.h"

/*
 * Brings the variables of the boundary in an open dataset up to date: computes them from the runs if all have
 * ended, else clears them. The sweep is that of the dataset; nothing happens if it has no boundary. Gives the
 * lease, if any, signs of life. Visible at the next flush, on disk with the next sync. -1 with the error set.
 */
int boundary_update(
    const struct sweep *sweep, struct dataset *dataset, struct lease *lease, bool ended, struct error *error);

#endif
