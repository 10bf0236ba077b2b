#ifndef NORMSWEEP_MODEL_CORE_BATCH_H
#define NORMSWEEP_MODEL_CORE_BATCH_H

#include <stdint.h>

/* Sequences packed one after another, without padding. rows is the sum of their lengths. */
struct batch {
    int64_t sequences, rows;
    int64_t *start; /* [sequences + 1] first row of each sequence; start[sequences] == rows */
    int32_t *tokens; /* [rows] */
    int32_t *target; /* [rows] */
};

#endif
