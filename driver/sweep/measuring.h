#ifndef NORMSWEEP_DRIVER_SWEEP_MEASURING_H
#define NORMSWEEP_DRIVER_SWEEP_MEASURING_H

#include "driver/sweep/inside.h"

/* Read `measure: {every | steps, metrics}`, and a key of MEASURE_OPTIONS, into the sweep's struct measure. */
int measure_read(struct reader *reader, const struct node *node);
int options_read(struct reader *reader, enum key key, const struct node *node);

/* Refuses options of groups that are not measured; after all keys are read. */
int options_check(struct reader *reader);

#define ROWS_MOST 10000000 /* measured steps of a run */

/* An upper bound on the measured steps of a run that ends at `last_step`, without counting them one by one.
 */
double measure_rows_bound(const struct measure *measure, int64_t last_step);

#endif
