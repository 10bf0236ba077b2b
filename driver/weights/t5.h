#ifndef NORMSWEEP_DRIVER_WEIGHTS_T5_H
#define NORMSWEEP_DRIVER_WEIGHTS_T5_H

#include "driver/weights/family.h"

extern const struct family family_t5;

#endif
