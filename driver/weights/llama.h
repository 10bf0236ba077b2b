#ifndef NORMSWEEP_DRIVER_WEIGHTS_LLAMA_H
#define NORMSWEEP_DRIVER_WEIGHTS_LLAMA_H

#include "driver/weights/family.h"

extern const struct family family_llama;
extern const struct family family_mistral;
extern const struct family family_qwen2;
extern const struct family family_olmo2;

#endif
