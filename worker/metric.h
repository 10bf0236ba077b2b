#ifndef NORMSWEEP_WORKER_METRIC_H
#define NORMSWEEP_WORKER_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/transformer.h"

/* What a metric has one value for. All but METRIC_PER_RUN are also per measured step. */
enum metric_shape { METRIC_PER_RUN, METRIC_PER_STEP, METRIC_PER_LAYER, METRIC_PER_TENSOR };

/* Which word of `measure: {metrics: [...]}` switches it on. */
enum metric_group { GROUP_ALWAYS, GROUP_NORMS, GROUP_ALIGNMENT, GROUP_COUNT };

/*
 * The metric table: X(name, shape, group, unit, long_name, help). The single source of netCDF variables,
 * help, README table and the wire. A new metric is one row here and the line in instruments that computes it.
 */
#define METRICS(X)                                                                                           \
    X(train_loss, STEP, ALWAYS, "1", "training loss (nats)", "loss at theta_t on the batch of step t + 1")   \
    X(valid_loss, STEP, ALWAYS, "1", "validation loss (nats)",                                               \
        "loss at theta_t on the first validate.tokens tokens")                                               \
    X(param_norm, STEP, NORMS, "1", "parameter norm",                                                        \
        "|theta_t| over the tensors of the layers; embeddings, output and final LayerNorm left out")         \
    X(embedding_norm, STEP, NORMS, "1", "embedding norm", "norm of the token and position embeddings")       \
    X(output_norm, STEP, NORMS, "1", "output norm", "norm of the output layer's own tensors")                \
    X(total_norm, STEP, NORMS, "1", "norm of all parameters", "norm of everything that is trained")          \
    X(direction_cosine, STEP, NORMS, "1", "direction cosine",                                                \
        "cos(theta_s, theta_t) with s the measured step before t")                                           \
    X(layer_norm, LAYER, NORMS, "1", "parameter norm of a layer", "|theta_t| over the tensors of one layer") \
    X(layer_direction_cosine, LAYER, NORMS, "1", "direction cosine of a layer",                              \
        "direction_cosine over one layer")                                                                   \
    X(tensor_norm, TENSOR, NORMS, "1", "norm of a tensor", "norm of one kind of tensor of one layer")        \
    X(grad_norm, STEP, ALIGNMENT, "1", "gradient norm",                                                      \
        "|g_t|, of the batch of step t + 1, before clipping and decay")                                      \
    X(step_size, STEP, ALIGNMENT, "1", "step size", "|delta_t|, delta_t = theta_(t+1) - theta_t")            \
    X(alignment, STEP, ALIGNMENT, "1", "alignment", "cos(theta_t, delta_t)")                                 \
    X(gradient_alignment, STEP, ALIGNMENT, "1", "gradient alignment", "cos(theta_t, -g_t)")                  \
    X(update_norm, STEP, ALIGNMENT, "1", "update norm",                                                      \
        "|u_t|, the step without its decay, over -learning_rate")                                            \
    X(update_alignment, STEP, ALIGNMENT, "1", "update alignment", "cos(theta_t, -u_t)")                      \
    X(balance_error, STEP, ALIGNMENT, "1", "balance error",                                                  \
        "of |theta_(t+1)|^2 - |theta_t|^2 = 2 theta_t.delta_t + |delta_t|^2, relative to the larger square") \
    X(norm_growth, RUN, ALWAYS, "1", "norm growth",                                                          \
        "|theta_end| / |theta_0|; a cell grows iff it is above 1")                                           \
    X(growth_exponent, RUN, NORMS, "1", "growth exponent p",                                                 \
        "half the slope of log(|theta_t|^2 - |theta_0|^2) over log t: the norm grows like t^p")              \
    X(growth_exponent_error, RUN, NORMS, "1", "standard error of the growth exponent",                       \
        "of growth_exponent, from the residuals of its fit")                                                 \
    X(growth_exponent_r2, RUN, NORMS, "1", "R^2 of the growth exponent's fit",                               \
        "NaN with fewer than 4 such steps")                                                                  \
    X(fit_sqrt_r2, RUN, NORMS, "1", "R^2 of |theta_t| against sqrt(t)",                                      \
        "straight fit over the measured steps")                                                              \
    X(fit_linear_r2, RUN, NORMS, "1", "R^2 of |theta_t| against t", "straight fit over the measured steps")  \
    X(fit_fourth_root_r2, RUN, NORMS, "1", "R^2 of |theta_t| against t^(1/4)",                               \
        "straight fit over the measured steps")                                                              \
    X(fit_exponential_r2, RUN, NORMS, "1", "R^2 of |theta_t| against exp(-t/t_end)",                         \
        "straight fit over the measured steps")                                                              \
    X(final_train_loss, RUN, ALWAYS, "1", "final training loss (nats)", "train_loss at the last step")       \
    X(final_valid_loss, RUN, ALWAYS, "1", "final validation loss (nats)", "valid_loss at the last step")

enum metric {
#define X(name, shape, group, unit, long_name, help) METRIC_##name,
    METRICS(X)
#undef X
        METRIC_COUNT,
};

struct metric_row {
    const char *name;
    enum metric_shape shape;
    enum metric_group group;
    const char *unit, *long_name, *help;
};

extern const struct metric_row metric_table[METRIC_COUNT];
extern const char *const metric_group_names[GROUP_COUNT]; /* "always", "norms", "alignment" */

/* Values of one metric for a run of `layers` layers. */
size_t metric_values(enum metric metric, int64_t layers);

/*
 * Where a metric's values lie in a vector: per-step metrics in a row of metric_row_size(layers) doubles,
 * per-run metrics in one of metric_run_size() doubles, each in the order of the table. Tensor values are
 * [layer][LAYER_TENSOR_COUNT].
 */
size_t metric_offset(enum metric metric, int64_t layers);
size_t metric_row_size(int64_t layers);
size_t metric_run_size(void);

#endif
