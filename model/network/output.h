#ifndef NORMSWEEP_MODEL_NETWORK_OUTPUT_H
#define NORMSWEEP_MODEL_NETWORK_OUTPUT_H

#include "model/network/pass.h"

/* The logits of all rows [rows, V], from the output layer's input x [rows, C]. */
void output_logits(const struct pass *pass, scalar *logits, const scalar *x);

/*
 * The loss of the batch from the output layer's input x [rows, C], block of rows by block of rows, since the
 * logits of a whole batch would not fit the cache. If the pass goes back, also the gradients of the trained
 * loss (see transformer.h): dstream, that of x, and those of the output layer; with tgradient, the tangents
 * of all these.
 */
double output_loss(const struct pass *pass, struct dual x);

#endif
