/* Forward passes alone: the states that they leave, and the logits, against the loss and plain formulas. */
#include "tests/model/network/model_case.h"

#include <stdlib.h>
#include <string.h>

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-13 : 2e-5;

static const int64_t lengths[] = {5, 1, 9, 2};

static struct architecture architecture_of(int bits)
{
    return (struct architecture){
        .vocabulary = 23,
        .init_scale = 1,
        .residual_scale = 1,
        .context = 9,
        .width = 12,
        .heads = 3,
        .feedforward = 10,
        .layers = 2,
        .norm_placement = (enum norm_placement)(bits / 8 % 3),
        .attention_mask = bits & 1 ? MASK_MULTIPLICATIVE : MASK_CAUSAL,
        .biases = bits & 2 ? BIAS_ALL : BIAS_OUTPUT,
        .tied = bits & 4,
        .final_norm = bits >= 3 * 8,
        .norm_epsilon = bits >= 3 * 8 ? 0.1 : 0,
    };
}

static double of(const scalar *plane, int64_t row, int64_t width, int64_t column)
{
    return (double)plane[row * width + column];
}

/* The final LayerNorm of a row of the last state, where there is one; the state itself elsewhere. */
static void check_final(const struct model_case *k, int64_t row)
{
    const struct architecture *c = &k->model.architecture;
    const scalar *state = transformer_state(&k->model, 0, c->layers), *final = transformer_final(&k->model);
    const scalar *gain = model_case_tensor(k, TENSOR_FINAL, 0);
    const scalar *bias = c->biases & BIAS_NORM ? model_case_tensor(k, TENSOR_FINAL_BIAS, 0) : NULL;
    double mean = 0, variance = 0;

    for (int64_t i = 0; i < c->width; i++)
        mean += of(state, row, c->width, i) / (double)c->width;
    for (int64_t i = 0; i < c->width; i++)
        variance += pow(of(state, row, c->width, i) - mean, 2) / (double)c->width;
    for (int64_t i = 0; i < c->width; i++) {
        double x = of(state, row, c->width, i);
        if (c->norm_placement == NORM_PRE || c->final_norm)
            x = (x - mean) / sqrt(variance + (c->norm_epsilon != 0 ? c->norm_epsilon : 1e-5)) *
                    (double)gain[i] +
                (bias ? (double)bias[i] : 0);
        CHECK_CLOSE(of(final, row, c->width, i), x, 10 * rounding);
    }
}

/* A row's logits are the output layer of what it sees, and their cross-entropy is the row's loss. */
static void check_logits(const struct model_case *k, const scalar *logits, double loss, int64_t row)
{
    const struct architecture *c = &k->model.architecture;
    const scalar *output = model_case_tensor(k, c->tied ? TENSOR_TOKEN : TENSOR_OUTPUT, 0);
    const scalar *bias = model_case_tensor(k, TENSOR_OUTPUT_BIAS, 0);
    double sum = 0;

    for (int64_t word = 0; word < c->vocabulary; word++) {
        double logit = (double)bias[word];
        for (int64_t i = 0; i < c->width; i++)
            logit += of(output, word, c->width, i) * of(transformer_final(&k->model), row, c->width, i);
        CHECK_CLOSE(of(logits, row, c->vocabulary, word), logit, 10 * rounding);
        sum += exp(logit);
    }
    CHECK_CLOSE(loss, log(sum) - of(logits, row, c->vocabulary, k->batch.target[row]), 10 * rounding);
}

static void check_architecture(const struct architecture *architecture)
{
    struct model_case k;
    double loss[17];

    model_case_init(&k, architecture, lengths, 4, 5);
    model_case_move(&k, 0.1);
    size_t size = (size_t)(k.batch.rows * architecture->width) * sizeof(scalar);
    scalar *state = malloc(size), *logits = calloc((size_t)k.batch.rows * 23, sizeof(scalar));
    transformer_loss(&k.model, k.weights, &k.batch, loss);
    memcpy(state, transformer_state(&k.model, 0, 1), size);
    transformer_logits(&k.model, k.weights, &k.batch, logits);
    for (int64_t row = 0; row < k.batch.rows; row++) {
        check_logits(&k, logits, loss[row], row);
        check_final(&k, row);
    }
    transformer_forward(&k.model, k.weights, &k.batch, true);
    CHECK(memcmp(state, transformer_state(&k.model, 0, 1), size) != 0);
    transformer_forward(&k.model, k.weights, &k.batch, false);
    CHECK(memcmp(state, transformer_state(&k.model, 0, 1), size) == 0);
    free(state);
    free(logits);
    model_case_release(&k);
}

TEST(forward_states_and_logits)
{
    for (int bits = 0; bits < 2 * 3 * 8; bits++) {
        const struct architecture architecture = architecture_of(bits);
        check_architecture(&architecture);
    }
}
