#ifndef NORMSWEEP_DRIVER_TABLES_NATURE_H
#define NORMSWEEP_DRIVER_TABLES_NATURE_H

#include "worker/run/metric.h"

/*
 * The nature of a variable whose attribute METRIC_NATURE is `word`. A variable that others have added has
 * none (NULL), or any word, and is a record.
 */
const struct nature_row *nature_of(const char *word);

#endif
