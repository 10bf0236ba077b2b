#ifndef NORMSWEEP_DRIVER_TABLES_NATURE_H
#define NORMSWEEP_DRIVER_TABLES_NATURE_H

#include "worker/run/metric.h"

/*
 * The nature of a variable whose attribute METRIC_NATURE is `word`. Without it (NULL, or a word that only a
 * later version knows) the metric table decides by name; a variable that is not a metric is a record.
 */
const struct nature_row *nature_of(const char *variable, const char *word);

#endif
