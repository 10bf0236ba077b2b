#ifndef NORMSWEEP_MODEL_INSTRUMENTS_RESIDUAL_H
#define NORMSWEEP_MODEL_INSTRUMENTS_RESIDUAL_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"

/*
 * How the residual stream x_0 .. x_L of one stack on one batch, and gradients with respect to it, change
 * through its blocks; what cross-attention reads does not change. The first position of a sequence is left
 * out of means over tokens: it sees nothing but itself, and often has a norm unlike all others. In this
 * order: residual_states, residual_gradients, residual_angle
 */
struct residual {
    int64_t stack, first, layers; /* the stack, its first block, their number L */
    double *norm; /* [L + 1] mean over tokens of |x_l| */
    double *cosine; /* [L + 1] mean over tokens of cos(x_(l-1), x_l); NaN at 0 */
    /* slope over l of the mean over tokens of ln|x_l|, and its standard error; NaN for fewer than
     * STRAIGHT_POINTS depths */
    double growth, growth_error;
    double gradient_growth; /* 1/L ln(|dLoss/dx_0| / |dLoss/dx_L|) */
    /*
     * The two exponents of Cowsik, Nebabu, Qi and Ganguli, "Geometric Dynamics of Signal Propagation Predict
     * Trainability of Transformers" (2024). gradient: 1/L ln |d(x_L . R)/dx_0|^2 for a random R of norm 1.
     * angle: 1/L ln((1 - p_L/q_L) / (1 - p_0/q_0)) in the limit p_0/q_0 -> 1, see residual_angle.
     */
    double gradient_exponent, angle_exponent;

    double scale; /* root of the mean over tokens of |x_0|^2 / C */
    double *depth, *logarithm; /* [L + 1] of the fit */
    double *square; /* [rows] |x_l|^2 */
    scalar *state, *tangent; /* [rows, C] */
};

/* For a stack and batches of up to `rows` rows. */
void residual_layout(struct residual *residual, const struct architecture *architecture, int64_t stack,
    int64_t rows, struct arena *arena);

/* A forward pass: norms, growth and cosines. */
void residual_states(
    struct residual *residual, struct transformer *model, const scalar *weights, const struct batch *batch);

/* After residual_states of the same arguments, two passes back: the gradient of the loss, and that of
 * x_L . R. */
void residual_gradients(struct residual *residual, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed);

/*
 * After residual_states. With q and p the means of the diagonal and of the rest of X X^T over the tokens of a
 * sequence, 1 - p/q measures how much its tokens differ. The exponent is a property of tokens that hardly do:
 * the input state is the sum of one random vector u, the same for all tokens, and a perturbation e d_i of
 * each. For e -> 0, (1 - p/q) / e^2 tends to the variance of the tokens' tangents over |u|^2, where the
 * variance is that of a sample, sum |d_i - mean d|^2 / (T - 1): all that is linear in e, and the second order
 * of the states, cancels in q - p. So the limit is computed, without an e: a forward pass of T equal tokens
 * and the tangents of d. u has the root mean square of the embedded tokens.
 *
 * A block maps tangents that are the same for all tokens to such tangents: it treats equal tokens alike, and
 * their weights in attention sum to 1. So the mean of the tangents has no effect on their variance, and is
 * taken away after each block, else it would grow above the differences until these are rounding errors. Then
 * the variance is made 1, and the logarithms of what it was are summed.
 *
 * `model` has tangents and takes sequences of `context` rows, one of which is used. Cross-attention reads the
 * source of the first sequence of `batch`, which is used for nothing else. NaN for one token, and if the
 * tangents become the same for all.
 */
void residual_angle(struct residual *residual, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed);

#endif
