/*
 * adafactor: Shazeer and Stern 2018 as T5 uses it. s = g^2 + 1e-30; the second moment of a matrix is R C /
 * mean(R) from running means of s over its columns and rows, of a vector a running mean of s itself, with
 * beta2 = 1 - t^-0.8; the update g / sqrt(second moment) is clipped to a root mean square of 1 and scaled by
 * max(RMS(theta), 1e-3). The factors of a matrix lie at the start of its place in the plane: R [rows], then C
 * [columns].
 */
#include "model/optimisers/inside.h"

#include <math.h>
#include <string.h>

/* By its shape: the factors of a matrix of one row would be more numbers than its moment. */
static bool is_factored(const struct tensor *tensor)
{
    return tensor->rows > 1 && tensor->columns > 1;
}

static double root_mean_square(const struct optimiser *o, const scalar *x, int64_t count)
{
    return sqrt(o->team.kernels->dot(x, x, count) / (double)count);
}

/* `update` receives the update of a tensor, without decay, to be multiplied by the factor that is returned;
 * `second` receives the new state of the tensor. */
static double adafactor_update(const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, const scalar *weights, const scalar *gradient, scalar *second, scalar *update)
{
    double beta2 = 1 - pow((double)step->number, -0.8), mean = 0;
    const scalar *old = o->second + tensor->offset;
    int64_t rows = tensor->rows, columns = tensor->columns;

    if (is_factored(tensor)) {
        scalar *by_row = second, *by_column = second + rows; /* R and C */
        for (int64_t c = 0; c < columns; c++)
            by_column[c] = (scalar)(beta2 * (double)old[rows + c]);
        for (int64_t r = 0; r < rows; r++) {
            double sum = o->team.kernels->add_squares(
                by_column, gradient + r * columns, columns, step->scale, (1 - beta2) / (double)rows);
            by_row[r] = (scalar)(beta2 * (double)old[r] + (1 - beta2) * sum / (double)columns);
        }
        for (int64_t r = 0; r < rows; r++)
            mean += (double)by_row[r] / (double)rows;
        for (int64_t r = 0; r < rows; r++)
            o->team.kernels->over_root(update + r * columns, gradient + r * columns, by_column, columns,
                step->scale / sqrt((double)by_row[r] / mean));
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
    optimiser_descend(o, step, weights, update, tensor->size, scale);
}

static double adafactor_full(
    const struct optimiser_options *options, const struct tensor *tensor, double norm, double whole)
{
    (void)options, (void)whole;
    return fmax(norm, 1e-3 * sqrt((double)tensor->size));
}

const struct optimiser_row adafactor_row = {.second = true,
    .whole = true,
    .scratch = 2,
    .second_size = adafactor_state,
    .step = adafactor_step,
    .sums = adafactor_sums,
    .full = adafactor_full};
