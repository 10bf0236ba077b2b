#ifndef NORMSWEEP_MODEL_CORE_DENORMALS_H
#define NORMSWEEP_MODEL_CORE_DENORMALS_H

#include <stdbool.h>

/*
 * Denormal numbers are those too small for a full significand: below 1.2e-38 in float, 2.2e-308 in double.
 * Many processors compute with them a hundred times more slowly, and a weight that decays towards zero
 * crosses their range in many steps. Where they are flushed, they count as zero, as operands and as results.
 */

/* Flushes denormals in the calling thread from now on, or no longer; returns whether it did before. */
bool denormals_flush(bool flush);

/* Are they flushed in the calling thread? Always false on processors without such a setting. */
bool denormals_flushed(void);

/* Why they cannot be flushed here; NULL: they can. */
const char *denormals_why_not(void);

#endif
