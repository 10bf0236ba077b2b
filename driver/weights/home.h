#ifndef NORMSWEEP_DRIVER_WEIGHTS_HOME_H
#define NORMSWEEP_DRIVER_WEIGHTS_HOME_H

#include "driver/weights/family.h"
#include "model/core/error.h"
#include "worker/run/run.h"

/* The networks of the transformers library that a run can be written as: X(HOME, family, class). */
#define HOMES(X)                                                                                             \
    X(GPT2, family_gpt2, "GPT2LMHeadModel")                                                                  \
    X(LLAMA, family_llama, "LlamaForCausalLM")

enum home {
#define X(NAME, ...) HOME_##NAME,
    HOMES(X)
#undef X
        HOME_COUNT,
};

struct home_row {
    const struct family *family;
    const char *class;
};

extern const struct home_row home_table[HOME_COUNT];

/* The home that computes what the run computes, its bias of the output aside. -1: there is none; the line in
 * error names the keys that are in the way, their values, and what each home needs. */
int home_find(const struct run *run, enum home *home, struct error *error);

/* The architecture of a run as its home has it, with every size written out. Weights that are folded as
 * exported.c does it make both compute the same. */
struct architecture home_architecture(enum home home, const struct architecture *run);

#endif
