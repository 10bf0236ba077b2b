/*
 * Every optimiser moves theta by delta = -eta * (lambda * theta + u), u its update; adam and sgd add lambda *
 * theta to the gradient instead. A row of `kinds` has the step of one tensor, and the sums of its update
 * alone, without decay and without a change of state.
 */
#include "model/optimisers/optimiser.h"

#include <math.h>
#include <string.h>

#include "model/kernels/kernels.h"

double schedule_rate(const struct schedule *schedule, int64_t step)
{
    double t = (double)step, start = (double)schedule->start, rate = schedule->learning_rate;

    if (schedule->kind == SCHEDULE_LINEAR && step > schedule->start)
        rate *= 1 - 0.9 * (t - start) / ((double)schedule->last_step - start);
    if (schedule->kind == SCHEDULE_INVERSE_SQRT) {
        start = start < 1 ? 1 : start;
        rate *= t > start ? sqrt(start / t) : 1;
    }
    if (step < schedule->warmup_steps)
        rate *= t / (double)schedule->warmup_steps;
    return rate;
}

/* The grain of a thread's share: 16 KiB of each plane. */
enum { SHARE_GRAIN = 4096 };

struct step {
    int64_t number;
    double rate;
    double scale; /* the clipping factor */
};

struct optimiser_row {
    bool first, second, scratch; /* planes that the kind needs */
    bool by_tensor; /* a step needs whole tensors, one by one */
    void (*step)(struct optimiser *o, const struct tensor *tensor, const struct step *step, scalar *weights,
        const scalar *gradient);
    struct sums (*sums)(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
        const scalar *weights, const scalar *gradient);
};

/* adamw, adam: Kingma and Ba 2015, Loshchilov and Hutter 2019; PyTorch's formulas. */
static struct adam_pass adam_pass(const struct optimiser *o, const struct step *step)
{
    const struct optimiser_options *options = &o->options;

    return (struct adam_pass){
        .rate = step->rate,
        .weight_decay = options->weight_decay,
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

    o->team.kernels->adam(
        &pass, weights, o->first + tensor->offset, o->second + tensor->offset, gradient, tensor->size);
}

static struct sums adam_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct adam_pass pass = adam_pass(o, step);

    /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
    return o->team.kernels->adam_sums(
        &pass, weights, o->first + tensor->offset, o->second + tensor->offset, gradient, tensor->size);
}

/* sgd with momentum: PyTorch's formulas. */
static struct sgd_pass sgd_pass(const struct optimiser *o, const struct step *step)
{
    return (struct sgd_pass){.rate = step->rate,
        .weight_decay = o->options.weight_decay,
        .momentum = o->options.momentum,
        .gradient_scale = step->scale};
}

static void sgd_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    struct sgd_pass pass = sgd_pass(o, step);

    o->team.kernels->sgd(&pass, weights, o->first + tensor->offset, gradient, tensor->size);
}

static struct sums sgd_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct sgd_pass pass = sgd_pass(o, step);

    /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
    return o->team.kernels->sgd_sums(&pass, weights, o->first + tensor->offset, gradient, tensor->size);
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

    o->team.kernels->descend(weights, gradient, tensor->size, scale, step->rate, o->options.weight_decay);
}

static struct sums normalized_sums(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient)
{
    struct sums sums = o->team.kernels->sums(weights, gradient, tensor->size);

    (void)step;
    double scale = inverse_root(sums.square);
    return (struct sums){.square = scale * scale * sums.square, .product = scale * sums.product};
}

/*
 * adafactor: Shazeer and Stern 2018 as T5 uses it. s = g^2 + 1e-30; the second moment of a matrix is R C /
 * mean(R) from running means of s over its columns and rows, of a vector a running mean of s itself, with
 * beta2 = 1 - t^-0.8; the update g / sqrt(second moment) is clipped to a root mean square of 1 and scaled by
 * max(RMS(theta), 1e-3). The factors of a matrix lie at the start of its place in the plane: R [rows], then C
 * [columns].
 */
static bool is_factored(const struct tensor *tensor)
{
    return tensor->rows > 1 && tensor->columns > 1;
}

/* factors [rows + columns] = R and C, updated by this gradient. */
static void adafactor_factors(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *gradient, scalar *factors)
{
    double beta2 = 1 - pow((double)step->number, -0.8);
    const scalar *old = o->second + tensor->offset;
    int64_t rows = tensor->rows, columns = tensor->columns;
    scalar *by_column = factors + rows;

    for (int64_t c = 0; c < columns; c++)
        by_column[c] = (scalar)(beta2 * (double)old[rows + c]);
    for (int64_t r = 0; r < rows; r++) {
        double sum = o->team.kernels->add_squares(
            by_column, gradient + r * columns, columns, step->scale, (1 - beta2) / (double)rows);
        factors[r] = (scalar)(beta2 * (double)old[r] + (1 - beta2) * sum / (double)columns);
    }
}

/* g / sqrt(R C / mean(R)) */
static void adafactor_matrix(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *gradient, const scalar *factors, scalar *update)
{
    int64_t rows = tensor->rows, columns = tensor->columns;
    double mean = 0;

    for (int64_t r = 0; r < rows; r++)
        mean += (double)factors[r] / (double)rows;
    for (int64_t r = 0; r < rows; r++)
        o->team.kernels->over_root(update + r * columns, gradient + r * columns, factors + rows, columns,
            step->scale / sqrt((double)factors[r] / mean));
}

static double root_mean_square(const struct optimiser *o, const scalar *x, int64_t count)
{
    return sqrt(o->team.kernels->dot(x, x, count) / (double)count);
}

/*
 * `update` receives the update of a tensor, without decay, to be multiplied by the factor that is returned;
 * `second` receives the new state of the tensor.
 */
static double adafactor_update(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient, scalar *second, scalar *update)
{
    double beta2 = 1 - pow((double)step->number, -0.8);
    const scalar *old = o->second + tensor->offset;

    if (is_factored(tensor)) {
        adafactor_factors(o, tensor, step, gradient, second);
        adafactor_matrix(o, tensor, step, gradient, second, update);
    } else {
        for (int64_t i = 0; i < tensor->size; i++) {
            double g = step->scale * (double)gradient[i];
            double moment = beta2 * (double)old[i] + (1 - beta2) * (g * g + 1e-30);
            second[i] = (scalar)moment;
            update[i] = (scalar)(g / sqrt(moment));
        }
    }
    double clip = fmax(1, root_mean_square(o, update, tensor->size));
    return fmax(root_mean_square(o, weights, tensor->size), 1e-3) / clip;
}

static int64_t adafactor_state(const struct tensor *tensor)
{
    return is_factored(tensor) ? tensor->rows + tensor->columns : tensor->size;
}

static struct sums adafactor_sums(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient)
{
    scalar *update = o->scratch + adafactor_state(tensor);
    double scale = adafactor_update(o, tensor, step, weights, gradient, o->scratch, update);

    struct sums sums = o->team.kernels->sums(weights, update, tensor->size);
    return (struct sums){.square = scale * scale * sums.square, .product = scale * sums.product};
}

static void adafactor_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    scalar *update = o->scratch + adafactor_state(tensor);
    double scale = adafactor_update(o, tensor, step, weights, gradient, o->scratch, update);

    memcpy(o->second + tensor->offset, o->scratch, (size_t)adafactor_state(tensor) * sizeof(*update));
    o->team.kernels->descend(weights, update, tensor->size, scale, step->rate, o->options.weight_decay);
}

static const struct optimiser_row kinds[] = {
    [OPTIMISER_ADAMW] = {.first = true, .second = true, .step = adam_step, .sums = adam_sums},
    [OPTIMISER_ADAM] = {.first = true, .second = true, .step = adam_step, .sums = adam_sums},
    [OPTIMISER_SGD] = {.first = true, .step = sgd_step, .sums = sgd_sums},
    [OPTIMISER_NORMALIZED_SGD] = {.by_tensor = true, .step = normalized_step, .sums = normalized_sums},
    [OPTIMISER_ADAFACTOR] =
        {.second = true, .scratch = true, .by_tensor = true, .step = adafactor_step, .sums = adafactor_sums},
};

void optimiser_layout(struct optimiser *optimiser, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, struct arena *arena)
{
    const struct optimiser_row *kind = &kinds[options->kind];
    size_t size = (size_t)layout->size;

    *optimiser = (struct optimiser){.options = *options, .layout = layout};
    team_layout(&optimiser->team, threads, 0, arena);
    if (kind->first)
        optimiser->first = arena_take(arena, size, sizeof(scalar));
    if (kind->second)
        optimiser->second = arena_take(arena, size, sizeof(scalar));
    if (kind->scratch)
        optimiser->scratch = arena_take(arena, (size_t)(2 * layout->largest), sizeof(scalar));
}

int64_t optimiser_second_size(const struct optimiser *optimiser, const struct tensor *tensor)
{
    if (!optimiser->second || tensor->size == 0)
        return 0;
    return optimiser->options.kind == OPTIMISER_ADAFACTOR ? adafactor_state(tensor) : tensor->size;
}

double optimiser_clip(const struct optimiser *optimiser, const scalar *gradient)
{
    double most = optimiser->options.gradient_clip;

    if (most == 0)
        return 1;
    double scale =
        most / (sqrt(optimiser->team.kernels->dot(gradient, gradient, optimiser->layout->size)) + 1e-6);
    return scale < 1 ? scale : 1;
}

/* A part of the plane as a tensor, for kinds that take any part. */
static struct tensor range_of(int64_t begin, int64_t end)
{
    return (struct tensor){.offset = begin, .rows = 1, .columns = end - begin, .size = end - begin};
}

/* A step of the whole plane, which threads share. */
struct plane_step {
    struct optimiser *optimiser;
    const struct step *step;
    scalar *weights;
    const scalar *gradient;
};

static void step_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct plane_step *plane = context;
    const struct tensor range = range_of(begin, end);

    (void)scratch;
    kinds[plane->optimiser->options.kind].step(
        plane->optimiser, &range, plane->step, plane->weights + begin, plane->gradient + begin);
}

void optimiser_step(struct optimiser *optimiser, scalar *weights, const scalar *gradient, double scale,
    int64_t number, double rate)
{
    const struct optimiser_row *kind = &kinds[optimiser->options.kind];
    const struct weight_layout *layout = optimiser->layout;
    const struct step step = {.number = number, .rate = rate, .scale = scale};

    if (!kind->by_tensor) {
        const struct plane_step plane = {optimiser, &step, weights, gradient};
        team_run(&optimiser->team, layout->size, SHARE_GRAIN, step_share, &plane);
        return;
    }
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size)
            kind->step(optimiser, tensor, &step, weights + tensor->offset, gradient + tensor->offset);
    }
}

struct sums optimiser_update(const struct optimiser *optimiser, const scalar *weights, const scalar *gradient,
    double scale, int64_t number, int64_t begin, int64_t end)
{
    const struct optimiser_row *kind = &kinds[optimiser->options.kind];
    const struct weight_layout *layout = optimiser->layout;
    const struct step step = {.number = number, .scale = scale};
    struct sums sums = {0};

    if (!kind->by_tensor) {
        const struct tensor range = range_of(begin, end);
        /* cppcheck-suppress returnDanglingLifetime; two numbers point nowhere */
        return kind->sums(optimiser, &range, &step, weights + begin, gradient + begin);
    }
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size == 0 || tensor->offset < begin || tensor->offset >= end)
            continue;
        struct sums one =
            kind->sums(optimiser, tensor, &step, weights + tensor->offset, gradient + tensor->offset);
        sums.square += one.square;
        sums.product += one.product;
    }
    return sums;
}
