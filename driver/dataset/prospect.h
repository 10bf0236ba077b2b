#ifndef NORMSWEEP_DRIVER_DATASET_PROSPECT_H
#define NORMSWEEP_DRIVER_DATASET_PROSPECT_H

#include "driver/dataset/dataset.h"

/* What dataset_open would do with the file at an output. */
enum prospect_fate {
    PROSPECT_MADE, /* there is none, so that one is made */
    PROSPECT_CONTINUED, /* it is continued as it is */
    PROSPECT_REWRITTEN, /* a new one with all that it holds takes its place */
    PROSPECT_SET_ASIDE, /* it becomes OUT.nc.old, and a new one is made */
    PROSPECT_LONGER, /* it becomes that of a shorter sweep, and a new one is made */
};

/* What a start would find, without one. */
struct prospect {
    enum prospect_fate fate;
    struct longer longer; /* with PROSPECT_LONGER */
    int64_t cells; /* of the sweep */
    int64_t *place; /* [cells] the cell of the file that holds the same run; -1: none does */
    signed char *before; /* [cells] the outcome in the file; pending if none holds the run */
    signed char *outcome; /* [cells] that with which the start would begin: see dataset_outcomes */
};

/*
 * Looks at everything that dataset_open looks at, with the same arguments, and writes nothing. On failure -1,
 * nothing held, and the error of dataset_open.
 */
int prospect_make(struct prospect *prospect, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct dataset_options *options, struct error *error);
void prospect_release(struct prospect *prospect);

#endif
