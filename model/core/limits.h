#ifndef NORMSWEEP_MODEL_CORE_LIMITS_H
#define NORMSWEEP_MODEL_CORE_LIMITS_H

#include <stdint.h>

/*
 * What this process may use: the whole machine, or less if a control group (a container, a batch job) sets a
 * limit. A kernel that overcommits grants any memory and kills the process later, so requests above the limit
 * must be refused beforehand.
 */
struct limits {
    uint64_t memory; /* bytes */
    double processors; /* quota of processor time, may be a fraction; INFINITY: no quota */
};

/* The limits of this process, read at the first call. */
const struct limits *limits(void);

/* Reads the limits with `root` before /proc and /sys; "" for this machine. For tests. */
void limits_read(struct limits *limits, const char *root);

#endif
