#ifndef NORMSWEEP_DRIVER_WEIGHTS_GPT2_H
#define NORMSWEEP_DRIVER_WEIGHTS_GPT2_H

#include "driver/weights/safetensors.h"
#include "model/network/transformer.h"

/* Properties of a model that its tensors do not show. */
struct gpt2_config {
    int64_t heads; /* 0: unknown */
    enum activation activation;
};

/*
 * The architecture of a model whose tensors have the names of Hugging Face's GPT-2, with "transformer."
 * before all of them or before none: LayerNorm before the sub-layers, every bias except the output layer's,
 * and a separate output layer only if lm_head.weight exists and differs from wte.weight. Every tensor must
 * exist with the right shape; other tensors, except masks, are refused. If config->heads is 0, 1 is used. -1
 * with a message in error, without the file's name.
 */
int gpt2_architecture(const struct safetensors *file, const struct gpt2_config *config,
    struct architecture *architecture, struct error *error);

/*
 * Copies the tensors into a plane of weights of that architecture; matrices stored as [in, out] are
 * transposed to [out, in], and the bias of the output layer becomes 0. -1 with a message in error: a value is
 * not finite as a scalar.
 */
int gpt2_weights(const struct safetensors *file, const struct architecture *architecture,
    const struct weight_layout *layout, scalar *weights, struct error *error);

#endif
