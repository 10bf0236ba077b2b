#ifndef NORMSWEEP_DRIVER_DATASET_PROSPECT_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_PROSPECT_INSIDE_H

#include "driver/dataset/ledger.h"
#include "driver/dataset/prospect.h"

/* Takes the runs of a file that is continued or rewritten, which is its fate already. -1 with the error set.
 */
int prospect_keep(
    struct prospect *prospect, const struct view *view, const struct mapping *mapping, struct error *error);

#endif
