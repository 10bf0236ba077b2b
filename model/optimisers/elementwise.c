/*
 * Optimisers whose update of a weight depends on that weight's gradient and state alone, or, of
 * normalized_sgd, on those and a norm: adamw, adam, sgd, normalized_sgd, lion, in this order.
 *
 * optimiser.c calls them through the rows at the end of the file. For each there are its step and the sums of
 * its update, both of them passes of a kernel over the plane; |u| of a full step where its elements are not
 * 1; and where theory has them, the memory, the balance and the edge of stability. A step may get any range
 * of the plane, except normalized_sgd's, which needs whole tensors. Nothing here can fail.
 */
#include "model/optimisers/inside.h"

#include <math.h>

/* adamw, adam: Kingma and Ba 2015, Loshchilov and Hutter 2019; PyTorch's formulas. */
static struct adam_pass adam_pass(const struct optimiser *o, const struct step *step)
{
    const struct optimiser_options *options = &o->options;

    return (struct adam_pass){
        .rate = step->rate,
        .weight_decay = step->decay,
        .cautious = step->cautious,
        .beta1 = options->beta1,
        .beta2 = options->beta2,
        .epsilon = options->epsilon,
        .correction1 = 1 - pow(options->beta1, (double)step->number),
        .correction2 = 1 - pow(options->beta2, (double)step->number),
        .gradient_scale = step->scale,
        .coupled = options->kind == OPTIMISER_ADAM,
        .factor = options->decay == DECAY_FACTOR,
    };
}

static void adam_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    struct adam_pass pass = adam_pass(o, step);

    o->team.kernels->adam(&pass, weights, o->first + tensor->offset, o->second + tensor->offset, gradient,
        tensor->size, step->moved);
}

static struct sums adam_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct adam_pass pass = adam_pass(o, step);

    /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
    return o->team.kernels->adam_sums(
        &pass, weights, o->first + tensor->offset, o->second + tensor->offset, gradient, tensor->size);
}

/* adam's decay passes through its moments: no formula then. */
static double adam_memory(const struct optimiser_options *options, const struct step *step, double steps)
{
    if (options->kind == OPTIMISER_ADAM && step->decay != 0)
        return NAN;
    return memory_of_mean(options->beta1, step->rate * step->decay, steps);
}

/* m / sqrt(v) has the variance of a running mean of numbers of variance 1. */
static struct equilibrium adam_balance(
    const struct optimiser_options *options, const struct tensor *tensor, const struct step *step)
{
    double beta = options->beta1, decayed = step->rate * step->decay;

    (void)tensor;
    if (options->kind == OPTIMISER_ADAM)
        return equilibrium_unknown();
    return equilibrium_of_walk(
        adam_memory(options, step, INFINITY), decayed, sqrt((1 - beta) / (1 + beta)), step->rate);
}

static double adam_edge(const struct optimiser_options *options)
{
    return (2 + 2 * options->beta1) / (1 - options->beta1);
}

/* sgd with momentum: PyTorch's formulas. */
static struct sgd_pass sgd_pass(const struct optimiser *o, const struct step *step)
{
    return (struct sgd_pass){.rate = step->rate,
        .weight_decay = step->decay,
        .momentum = o->options.momentum,
        .gradient_scale = step->scale};
}

static void sgd_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    struct sgd_pass pass = sgd_pass(o, step);

    o->team.kernels->sgd(&pass, weights, o->first + tensor->offset, gradient, tensor->size, step->moved);
}

static struct sums sgd_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct sgd_pass pass = sgd_pass(o, step);

    /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
    return o->team.kernels->sgd_sums(&pass, weights, o->first + tensor->offset, gradient, tensor->size);
}

/* Clipping bounds the gradient as a whole: this tensor's part of it if all of it lies along theta. */
static double sgd_full(
    const struct optimiser_options *options, const struct tensor *tensor, double norm, double whole)
{
    (void)tensor;
    return options->gradient_clip > 0 ? options->gradient_clip * norm / whole : INFINITY;
}

/* Without the decay of its weights, whose part holds_decay() in optimiser.c is about. */
static double sgd_memory(const struct optimiser_options *options, const struct step *step, double steps)
{
    (void)step;
    return memory_of_mean(options->momentum, 0, steps);
}

/* The root mean square of its weights depends on that of the gradients. Momentum a damps the swings of a
 * large decay d, up to d = 2 (1 + a). */
static struct equilibrium sgd_balance(
    const struct optimiser_options *options, const struct tensor *tensor, const struct step *step)
{
    double share = step->rate * step->decay / (1 + options->momentum);

    (void)tensor;
    if (!(share < 2))
        return equilibrium_unknown();
    return (struct equilibrium){.rotation = sqrt(2 * share), .rms = NAN};
}

static double sgd_edge(const struct optimiser_options *options)
{
    return 2 + 2 * options->momentum;
}

/* normalized_sgd: u = g / |g| for each tensor, 0 for a gradient of 0; clipping scales g and |g| alike. */
static double inverse_root(double square)
{
    return square == 0 ? 0 : 1 / sqrt(square);
}

static void normalized_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    double scale = inverse_root(o->team.kernels->dot(gradient, gradient, tensor->size));

    optimiser_descend(o, step, weights, gradient, tensor->size, scale);
}

static struct sums normalized_sums(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient)
{
    struct sums sums = o->team.kernels->sums(weights, gradient, tensor->size);

    (void)step;
    double scale = inverse_root(sums.square);
    return (struct sums){.square = scale * scale * sums.square, .product = scale * sums.product};
}

static double normalized_full(
    const struct optimiser_options *options, const struct tensor *tensor, double norm, double whole)
{
    (void)options, (void)tensor, (void)norm, (void)whole;
    return 1;
}

static struct equilibrium normalized_balance(
    const struct optimiser_options *options, const struct tensor *tensor, const struct step *step)
{
    (void)options;
    return equilibrium_of_walk(0, step->rate * step->decay, 1 / sqrt((double)tensor->size), step->rate);
}

/* lion: Chen et al. 2023. */
static struct lion_pass lion_pass(const struct optimiser *o, const struct step *step)
{
    return (struct lion_pass){.rate = step->rate,
        .weight_decay = step->decay,
        .beta1 = o->options.beta1,
        .beta2 = o->options.beta2,
        .gradient_scale = step->scale,
        .cautious = step->cautious};
}

static void lion_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    struct lion_pass pass = lion_pass(o, step);

    o->team.kernels->lion(&pass, weights, o->first + tensor->offset, gradient, tensor->size, step->moved);
}

static struct sums lion_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct lion_pass pass = lion_pass(o, step);

    /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
    return o->team.kernels->lion_sums(&pass, weights, o->first + tensor->offset, gradient, tensor->size);
}

static double lion_memory(const struct optimiser_options *options, const struct step *step, double steps)
{
    return memory_of_sign(options->beta1, options->beta2, step->rate * step->decay, steps);
}

static struct equilibrium lion_balance(
    const struct optimiser_options *options, const struct tensor *tensor, const struct step *step)
{
    (void)tensor;
    return equilibrium_of_walk(lion_memory(options, step, INFINITY), step->rate * step->decay, 1, step->rate);
}

const struct optimiser_row adam_row = {.first = true,
    .second = true,
    .step = adam_step,
    .sums = adam_sums,
    .memory = adam_memory,
    .balance = adam_balance,
    .edge = adam_edge,
    .preconditioned = true};
const struct optimiser_row sgd_row = {.first = true,
    .step = sgd_step,
    .sums = sgd_sums,
    .full = sgd_full,
    .memory = sgd_memory,
    .balance = sgd_balance,
    .edge = sgd_edge};
const struct optimiser_row normalized_row = {.whole = true,
    .step = normalized_step,
    .sums = normalized_sums,
    .full = normalized_full,
    .balance = normalized_balance};
const struct optimiser_row lion_row = {
    .first = true, .step = lion_step, .sums = lion_sums, .memory = lion_memory, .balance = lion_balance};
