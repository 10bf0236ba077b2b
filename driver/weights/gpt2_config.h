#ifndef NORMSWEEP_DRIVER_WEIGHTS_GPT2_CONFIG_H
#define NORMSWEEP_DRIVER_WEIGHTS_GPT2_CONFIG_H

#include "driver/weights/gpt2.h"

/*
 * Reads config.json in the folder of `weights`. If there is none, heads are 0 and the activation is gelu_new.
 * -1 with a message in error, with file, line and column: the file is invalid or asks for something that this
 * program does not compute.
 */
int gpt2_config_read(struct gpt2_config *config, const char *weights, struct error *error);

#endif
