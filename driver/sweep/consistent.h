#ifndef NORMSWEEP_DRIVER_SWEEP_CONSISTENT_H
#define NORMSWEEP_DRIVER_SWEEP_CONSISTENT_H

#include "driver/sweep/reader.h"

/* Checks that keys fit together: that the corpus uses every given key, and that every cell that is not
 * skipped is a valid run. */
int consistent_check(struct reader *reader);

#endif
