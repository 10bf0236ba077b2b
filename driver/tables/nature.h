#ifndef NORMSWEEP_DRIVER_TABLES_NATURE_H
#define NORMSWEEP_DRIVER_TABLES_NATURE_H

#include "worker/run/metric.h"

/*
 * The nature of a variable whose attribute METRIC_NATURE is `word`. Without one (NULL, or a word of a later
 * version) it is what the metric table says of the name; what is not a metric is a record.
 */
const struct nature_row *nature_of(const char *variable, const char *word);

#endif
