#ifndef NORMSWEEP_DRIVER_WEIGHTS_GPT2_CONFIG_H
#define NORMSWEEP_DRIVER_WEIGHTS_GPT2_CONFIG_H

#include "driver/weights/gpt2.h"

/*
 * Reads config.json in the folder of `weights`, where there is one; without, heads are 0 and the activation
 * is gelu_new. Refused is what this program does not compute, with file, line and column.
 */
int gpt2_config_read(struct gpt2_config *config, const char *weights, struct error *error);

#endif
