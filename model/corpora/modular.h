#ifndef NORMSWEEP_MODEL_CORPORA_MODULAR_H
#define NORMSWEEP_MODEL_CORPORA_MODULAR_H

#include <stdint.h>

/* The tokens of all sums of the corpus modular, for a vocabulary of p + 1 words. */
int64_t modular_tokens(int64_t vocabulary);

/* The input tokens of a sum: "a b =". */
enum { MODULAR_INPUTS = 3 };

#endif
