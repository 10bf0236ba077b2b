/*
 * The cost of a run, for the order in which runs are trained and for plans: floating-point operations of its
 * matrix products, and everything beside them as such operations that take as long.
 */
#include "model/corpora/corpora.h"
#include "model/instruments/instruments.h"
#include "worker/run/run.h"

#include <math.h>
#include <stdbool.h>

/*
 * The time of everything beside matrix products, in floating-point operations of a product that take as long.
 * Rough values, from step times of shapes between width 16 and 192. They need not be exact, and only their
 * ratios count: with costs wrong by a factor of 1.35 a makespan is 0.4 % above the optimum (test_makespan.c).
 */
enum {
    COST_TOKEN = 40, /* a token's loss, for each word of the vocabulary */
    COST_WIDTH = 240, /* a token in a layer, for each element of the width: norms, biases, sums */
    COST_ATTENTION = 300, /* a token in a head, for each position it may see */
    COST_GELU = 80, /* a token in a layer, for each element of the feed-forward width */
    COST_GATE = 20, /* the same of a gated layer's products by elements */
    COST_UPDATE = 30, /* a parameter in a step of the optimiser */
    COST_MEASURE = 60, /* a parameter in a measured step */
    COST_INIT = 2000, /* a parameter's first value */
    COST_ORTHOGONAL = 100, /* an element of a tangent, for each other one that it is made orthogonal to */
    SHARPNESS_USUAL = 5, /* forward passes, of up to SHARPNESS_PASSES */
    COST_SINGULAR = 12, /* singular values of a matrix, for each cube of its shorter side */
    COST_SINGULAR_SQUARE = 3500, /* the same for each square */
    HESSIAN_GRADIENTS = 3, /* gradients that a product with the Hessian takes as long as */
};

/* Matrix products per token of either side, forward and backward. */
static double token_arithmetic(const struct run *run, int64_t vocabulary)
{
    const struct architecture a = run_architecture(run, vocabulary);
    double width = (double)a.width, keys = (double)extent_length(&a, EXTENT_KEYS);
    double attention = 2 * width * (width + keys);
    double feedforward = (a.gated ? 3 : 2) * width * (double)a.feedforward;
    double sum = 6 * (double)a.vocabulary * width;

    for (int64_t i = 0; i < architecture_stacks(&a); i++) {
        const struct stack_form stack = architecture_stack(&a, i);
        double weights = (stack.cross ? 2 : 1) * attention + feedforward; /* of a block's matrices */
        /* positions that a token sees in a block, on average, in sequences of full length */
        double own = (double)run->context / (stack.mask == MASK_CAUSAL ? 2 : 1);
        double seen = (own + (stack.cross ? (double)run->context : 0)) * width;
        sum += (double)(stack.end - stack.begin) * (6 * weights + 12 * seen);
    }
    return sum;
}

double train_step_arithmetic(const struct run *run, int64_t vocabulary)
{
    return token_arithmetic(run, vocabulary) * (double)run->batch * (double)run->context;
}

/* The same with everything beside the products. */
static double token_cost(const struct run *run, int64_t vocabulary)
{
    double hidden = (run->activation != ACTIVATION_RELU ? COST_GELU : 0) + (run->gated ? COST_GATE : 0);
    double attention = COST_ATTENTION * (double)run->heads * (double)run->context;
    double beside = COST_WIDTH * (double)run->width + attention + hidden * (double)run->feedforward;
    const struct architecture a = run_architecture(run, vocabulary);

    return token_arithmetic(run, vocabulary) + (double)architecture_blocks(&a) * beside +
           COST_TOKEN * (double)vocabulary;
}

double train_step_cost(const struct run *run, int64_t vocabulary)
{
    const struct architecture a = run_architecture(run, vocabulary);

    return token_cost(run, vocabulary) * (double)run->batch * (double)run->context +
           COST_UPDATE * (double)architecture_parameters(&a);
}

double train_hessian_products(const struct run *run, const struct measure *measure)
{
    struct optimiser_options options = run_optimiser(run);
    const struct architecture a = run_architecture(run, run->vocabulary);
    int64_t products = hessian_products(architecture_blocks(&a), measure->hessian_probes,
        measure->hessian_steps, measure->group[GROUP_HESSIAN_LAYERS], edge_has_preconditioner(&options));

    return (double)measure->hessian_batches * (double)products;
}

struct lyapunov_work train_lyapunov_work(const struct run *run, const struct measure *measure)
{
    const struct architecture a = run_architecture(run, run->vocabulary);
    double layers = (double)architecture_blocks(&a), size = (double)run->context * (double)run->width;
    double count = fmin((double)measure->lyapunov_exponents, size);
    double rounds = 2 * (1 + (2 * (double)measure->lyapunov_sweeps + 1) * layers);

    if (!measure->group[GROUP_LYAPUNOV])
        return (struct lyapunov_work){0, 0};
    return (struct lyapunov_work){1 + count * rounds / layers, count * count / 2 * size * rounds};
}

double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    const struct architecture a = run_architecture(run, corpus->vocabulary);
    const struct lyapunov_work work = train_lyapunov_work(run, measure);
    const bool *group = measure->group;
    int64_t last_step = run_last_step(run, corpus);
    double batch = (double)run->batch, context = (double)run->context, side = (double)run->width;
    double forward = token_cost(run, corpus->vocabulary) / 3;
    double rows = (double)measure_rows(measure, last_step, NULL);
    double measured = (double)measure_count(measure, last_step);

    /* tokens of the gradients that are averaged at measured steps, and of the Hessian's products */
    double batches = (double)(group[GROUP_GRADIENTS] ? measure->gradient_batches : 0);
    double products =
        (double)measure_hessians(measure, last_step) * train_hessian_products(run, measure) * batch * context;
    double gradients = measured * (batches * batch * context) + HESSIAN_GRADIENTS * products;

    /* forward passes of a token; residual: states, gradients twice, and the tangents of one sequence */
    double sharpness = group[GROUP_SHARPNESS] ? SHARPNESS_USUAL * batch * context : 0;
    double tokens = sharpness + (group[GROUP_RESIDUAL] ? (3 * batch + 3) * context : 0);
    double lyapunov = forward * context * work.passes + COST_ORTHOGONAL * work.products;
    double probes = measured * (forward * tokens + lyapunov);

    /* passes over the validation text, and its tokens: a prediction of sums or pairs takes more than one */
    int64_t other = (group[GROUP_SATURATION] ? 3 : group[GROUP_HEADS]) + group[GROUP_ATTENTION];
    double passes = (double)measure_validations(measure, last_step) + measured * (double)other;
    double each = run->corpus == CORPUS_MODULAR ? MODULAR_INPUTS : run->corpus == CORPUS_PAIRS ? 2 : 1;
    double validated = fmin(each * (double)measure->validate_tokens, (double)corpus->valid.token_count);

    /* the spectra of all matrices, nearly all of which have the width as their shorter side */
    double matrices = 0;
    for (int64_t i = 0; i < architecture_stacks(&a); i++) {
        const struct stack_form stack = architecture_stack(&a, i);
        matrices += (double)(stack.end - stack.begin) * ((stack.cross ? 8 : 4) + (a.gated ? 3 : 2));
    }
    double spectra = (double)measure_spectra(measure, run, last_step) *
                     (matrices * side * side * (COST_SINGULAR * side + COST_SINGULAR_SQUARE));

    return train_step_cost(run, corpus->vocabulary) * (double)last_step + forward * passes * validated +
           forward * 3 * gradients + probes + spectra +
           (double)architecture_parameters(&a) * (COST_INIT + COST_MEASURE * rows);
}
