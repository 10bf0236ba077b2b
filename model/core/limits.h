#ifndef NORMSWEEP_MODEL_CORE_LIMITS_H
#define NORMSWEEP_MODEL_CORE_LIMITS_H

#include <stdint.h>

/*
 * What this process may use: the machine's own, or less where a control group (a container, a batch job) says
 * so. An overcommitting kernel grants any memory and kills later: what exceeds the limit has to be refused
 * beforehand.
 */
struct limits {
    uint64_t memory; /* bytes */
    double processors; /* a quota of their time, perhaps a fraction; INFINITY: none */
};

/* Read once. */
const struct limits *limits(void);

/* Reads them with `root` before /proc and /sys; "" is this machine. For tests. */
void limits_read(struct limits *limits, const char *root);

#endif
