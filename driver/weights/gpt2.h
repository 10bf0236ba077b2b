#ifndef NORMSWEEP_DRIVER_WEIGHTS_GPT2_H
#define NORMSWEEP_DRIVER_WEIGHTS_GPT2_H

#include "driver/weights/safetensors.h"
#include "model/network/transformer.h"

/* What the tensors do not say of a model. */
struct gpt2_config {
    int64_t heads; /* 0: not known */
    enum activation activation;
};

/*
 * The architecture of a model whose tensors are named as Hugging Face's GPT-2 names them, "transformer."
 * before each or before none: LayerNorm before the sub-layers, every bias but the output layer's, and an
 * output layer of its own only where lm_head.weight is there and differs from wte.weight. Every tensor has to
 * be there, of its shape and with none besides, but for the masks among them. 0 heads: it does not matter how
 * many; 1 is taken. On failure the line in error, without the file's name.
 */
int gpt2_architecture(const struct safetensors *file, const struct gpt2_config *config,
    struct architecture *architecture, struct error *error);

/*
 * Copies the tensors into a plane of the layout of that architecture, [in, out] turned into [out, in]; the
 * bias of the output layer becomes 0. Refused: what is not finite as a scalar.
 */
int gpt2_weights(const struct safetensors *file, const struct architecture *architecture,
    const struct weight_layout *layout, scalar *weights, struct error *error);

#endif
