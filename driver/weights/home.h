#ifndef NORMSWEEP_DRIVER_WEIGHTS_HOME_H
#define NORMSWEEP_DRIVER_WEIGHTS_HOME_H

#include "model/core/error.h"
#include "worker/run/run.h"

/* The networks of the transformers library that a run can be written as: X(HOME, model_type, class). */
#define HOMES(X)                                                                                             \
    X(GPT2, "gpt2", "GPT2LMHeadModel")                                                                       \
    X(LLAMA, "llama", "LlamaForCausalLM")

enum home {
#define X(NAME, ...) HOME_##NAME,
    HOMES(X)
#undef X
        HOME_COUNT,
};

struct home_row {
    const char *type, *class;
};

extern const struct home_row home_table[HOME_COUNT];

/* The home that computes what the run computes, its bias of the output aside. -1: there is none; the line in
 * error names the keys that are in the way, their values, and what each home needs. */
int home_find(const struct run *run, enum home *home, struct error *error);

#endif
