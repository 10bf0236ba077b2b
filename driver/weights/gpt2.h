#ifndef NORMSWEEP_DRIVER_WEIGHTS_GPT2_H
#define NORMSWEEP_DRIVER_WEIGHTS_GPT2_H

#include "driver/weights/family.h"

extern const struct family family_gpt2;

#endif
