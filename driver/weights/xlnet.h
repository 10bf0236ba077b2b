#ifndef NORMSWEEP_DRIVER_WEIGHTS_XLNET_H
#define NORMSWEEP_DRIVER_WEIGHTS_XLNET_H

#include "driver/weights/family.h"

extern const struct family family_xlnet;

#endif
