/*
 * Every optimiser moves theta by delta = -eta * (lambda * theta + u), u its update; adam and sgd put lambda *
 * theta into the gradient instead. A row of `kinds` has the step of one tensor and its update alone, without
 * decay and without a trace.
 */
#include "model/optimiser.h"

#include <math.h>
#include <string.h>

#include "model/kernels.h"

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

/* One step's numbers. */
struct step {
    int64_t number;
    double rate;
    double scale; /* of clipping */
};

struct kind {
    bool first, second, scratch; /* which planes it needs */
    void (*step)(struct optimiser *o, const struct tensor *tensor, const struct step *step, scalar *weights,
        const scalar *gradient);
    void (*direction)(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
        const scalar *weights, const scalar *gradient, scalar *direction);
};

/* theta -= eta * (lambda * theta + u), rounded once. */
static void move(scalar *weights, const scalar *update, int64_t count, double rate, double decay)
{
    for (int64_t i = 0; i < count; i++) {
        double theta = (double)weights[i];
        weights[i] = (scalar)(theta - rate * (decay * theta + (double)update[i]));
    }
}

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

    o->kernels->adam(
        &pass, weights, o->first + tensor->offset, o->second + tensor->offset, gradient, tensor->size);
}

static void adam_direction(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient, scalar *direction)
{
    struct adam_pass pass = adam_pass(o, step);

    (void)weights;
    o->kernels->adam_direction(
        &pass, direction, o->first + tensor->offset, o->second + tensor->offset, gradient, tensor->size);
}

/* sgd with momentum, PyTorch's: b = momentum * b + g + lambda * theta, theta -= eta * b. */
static void sgd_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    scalar *buffer = o->first + tensor->offset;
    scalar momentum = (scalar)o->options.momentum, decay = (scalar)o->options.weight_decay;
    scalar scale = (scalar)step->scale;

    for (int64_t i = 0; i < tensor->size; i++) {
        buffer[i] = momentum * buffer[i] + (scale * gradient[i] + decay * weights[i]);
        weights[i] = (scalar)((double)weights[i] - step->rate * (double)buffer[i]);
    }
}

static void sgd_direction(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient, scalar *direction)
{
    const scalar *buffer = o->first + tensor->offset;
    scalar momentum = (scalar)o->options.momentum, scale = (scalar)step->scale;

    (void)weights;
    for (int64_t i = 0; i < tensor->size; i++)
        direction[i] = momentum * buffer[i] + scale * gradient[i];
}

/* normalized_sgd: u = g / |g| by tensors, 0 for a gradient of 0. */
static void normalized_direction(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient, scalar *direction)
{
    double norm = sqrt(o->kernels->dot(gradient, gradient, tensor->size));

    (void)weights, (void)step; /* clipping scales g and |g| alike */
    for (int64_t i = 0; i < tensor->size; i++)
        direction[i] = norm == 0 ? 0 : (scalar)((double)gradient[i] / norm);
}

static void normalized_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    normalized_direction(o, tensor, step, weights, gradient, o->scratch);
    move(weights, o->scratch, tensor->size, step->rate, o->options.weight_decay);
}

/*
 * adafactor: Shazeer and Stern 2018 as T5 uses it. s = g^2 + 1e-30; the second moment of a matrix is R C /
 * mean(R) from running means of s over its columns and rows, of a vector a running mean of s itself, with
 * beta2 = 1 - t^-0.8; the update g / sqrt(second moment) is clipped to a root mean square of 1 and scaled by
 * max(RMS(theta), 1e-3). The factors of a matrix lie at the begin of its place in the plane: R [rows], then C
 * [columns].
 */
static bool is_factored(const struct tensor *tensor)
{
    return tensor->rows > 1 && tensor->columns > 1;
}

static double squared(const scalar *gradient, int64_t i, double scale)
{
    double g = scale * (double)gradient[i];
    return g * g + 1e-30;
}

/* R and C with this gradient taken in, to `factors` [rows + columns]. */
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
        double sum = 0;
        for (int64_t c = 0; c < columns; c++) {
            double s = squared(gradient, r * columns + c, step->scale);
            sum += s;
            by_column[c] += (scalar)((1 - beta2) * s / (double)rows);
        }
        factors[r] = (scalar)(beta2 * (double)old[r] + (1 - beta2) * sum / (double)columns);
    }
}

static void adafactor_matrix(const struct tensor *tensor, const struct step *step, const scalar *gradient,
    const scalar *factors, scalar *update)
{
    int64_t rows = tensor->rows, columns = tensor->columns;
    double mean = 0;

    for (int64_t r = 0; r < rows; r++)
        mean += (double)factors[r] / (double)rows;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double second = (double)factors[r] / mean * (double)factors[rows + c];
            update[r * columns + c] =
                (scalar)(step->scale * (double)gradient[r * columns + c] / sqrt(second));
        }
}

static double root_mean_square(const struct optimiser *o, const scalar *x, int64_t count)
{
    return sqrt(o->kernels->dot(x, x, count) / (double)count);
}

/* The update without decay; `second` receives the new state of the tensor (a vector's may be the old one's
 * place). */
static void adafactor_update(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient, scalar *update, scalar *second)
{
    double beta2 = 1 - pow((double)step->number, -0.8);
    const scalar *old = o->second + tensor->offset;

    if (is_factored(tensor)) {
        adafactor_factors(o, tensor, step, gradient, second);
        adafactor_matrix(tensor, step, gradient, second, update);
    } else {
        for (int64_t i = 0; i < tensor->size; i++) {
            double moment = beta2 * (double)old[i] + (1 - beta2) * squared(gradient, i, step->scale);
            second[i] = (scalar)moment;
            update[i] = (scalar)(step->scale * (double)gradient[i] / sqrt(moment));
        }
    }
    double clip = fmax(1, root_mean_square(o, update, tensor->size));
    double scale = fmax(root_mean_square(o, weights, tensor->size), 1e-3) / clip;
    for (int64_t i = 0; i < tensor->size; i++)
        update[i] = (scalar)(scale * (double)update[i]);
}

static int64_t adafactor_state(const struct tensor *tensor)
{
    return is_factored(tensor) ? tensor->rows + tensor->columns : tensor->size;
}

static void adafactor_direction(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient, scalar *direction)
{
    adafactor_update(o, tensor, step, weights, gradient, direction, o->scratch);
}

static void adafactor_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    int64_t state = adafactor_state(tensor);
    scalar *update = o->scratch + state;

    adafactor_update(o, tensor, step, weights, gradient, update, o->scratch);
    memcpy(o->second + tensor->offset, o->scratch, (size_t)state * sizeof(*update));
    move(weights, update, tensor->size, step->rate, o->options.weight_decay);
}

static const struct kind kinds[] = {
    [OPTIMISER_ADAMW] = {.first = true, .second = true, .step = adam_step, .direction = adam_direction},
    [OPTIMISER_ADAM] = {.first = true, .second = true, .step = adam_step, .direction = adam_direction},
    [OPTIMISER_SGD] = {.first = true, .step = sgd_step, .direction = sgd_direction},
    [OPTIMISER_NORMALIZED_SGD] = {.scratch = true,
        .step = normalized_step,
        .direction = normalized_direction},
    [OPTIMISER_ADAFACTOR] = {.second = true,
        .scratch = true,
        .step = adafactor_step,
        .direction = adafactor_direction},
};

void optimiser_layout(struct optimiser *optimiser, const struct optimiser_options *options,
    const struct weight_layout *layout, struct arena *arena)
{
    const struct kind *kind = &kinds[options->kind];
    size_t size = (size_t)layout->size;

    *optimiser = (struct optimiser){.options = *options, .layout = layout, .kernels = kernels_best()};
    if (kind->first)
        optimiser->first = arena_take(arena, size, sizeof(scalar));
    if (kind->second)
        optimiser->second = arena_take(arena, size, sizeof(scalar));
    if (kind->scratch)
        optimiser->scratch = arena_take(arena, (size_t)(2 * layout->largest), sizeof(scalar));
}

double optimiser_clip(const struct optimiser *optimiser, const scalar *gradient)
{
    double most = optimiser->options.gradient_clip;

    if (most == 0)
        return 1;
    double scale = most / (sqrt(optimiser->kernels->dot(gradient, gradient, optimiser->layout->size)) + 1e-6);
    return scale < 1 ? scale : 1;
}

void optimiser_step(struct optimiser *optimiser, scalar *weights, const scalar *gradient, double scale,
    int64_t number, double rate)
{
    const struct kind *kind = &kinds[optimiser->options.kind];
    const struct weight_layout *layout = optimiser->layout;
    const struct step step = {.number = number, .rate = rate, .scale = scale};

    if (!kind->scratch) { /* nothing goes by tensors: one pass over the whole plane */
        const struct tensor plane = {.rows = 1, .columns = layout->size, .size = layout->size};
        kind->step(optimiser, &plane, &step, weights, gradient);
        return;
    }
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size)
            kind->step(optimiser, tensor, &step, weights + tensor->offset, gradient + tensor->offset);
    }
}

void optimiser_direction(const struct optimiser *optimiser, const struct tensor *tensor,
    const scalar *weights, const scalar *gradient, double scale, int64_t number, scalar *direction)
{
    const struct step step = {.number = number, .scale = scale};

    kinds[optimiser->options.kind].direction(
        optimiser, tensor, &step, weights + tensor->offset, gradient + tensor->offset, direction);
}
