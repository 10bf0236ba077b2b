/*
 * The residual stream of one stack, in three steps that training calls in this order: residual_states (a
 * forward pass), residual_gradients (two passes back through what that kept) and residual_angle (equal
 * tokens, whose root mean square the first step found; training gives it a model of its own for one
 * sequence). All draws are functions of the seed. Sequences of one token give NaN; nothing can fail.
 */
#include "model/instruments/inside.h"

/* Where the draws of each kind begin. */
#define DRAW_SHARED ((uint64_t)0) /* u */
#define DRAW_PERTURBATION ((uint64_t)1 << 40)
#define DRAW_DIRECTION ((uint64_t)2 << 40) /* R */

void residual_layout(struct residual *r, const struct architecture *architecture, int64_t stack, int64_t rows,
    struct arena *arena)
{
    const struct stack_form form = architecture_stack(architecture, stack);
    size_t depths = (size_t)(form.end - form.begin) + 1;
    int64_t most = rows > architecture->context ? rows : architecture->context;

    *r = (struct residual){.stack = stack, .first = form.begin, .layers = form.end - form.begin};
    r->norm = arena_take(arena, depths, sizeof(double));
    r->cosine = arena_take(arena, depths, sizeof(double));
    r->depth = arena_take(arena, depths, sizeof(double));
    r->logarithm = arena_take(arena, depths, sizeof(double));
    r->square = arena_take(arena, (size_t)rows, sizeof(double));
    r->state = arena_plane(arena, most, architecture->width);
    r->tangent = arena_plane(arena, most, architecture->width);
}

static void draw_normal(scalar *x, int64_t count, double deviation, int64_t seed, uint64_t first)
{
    kernels_best(PRECISION_FLOAT)->draw_normal(x, count, deviation, (uint64_t)seed, RANDOM_RESIDUAL, first);
}

void residual_states(
    struct residual *r, struct transformer *model, const scalar *weights, const struct batch *batch)
{
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);
    const struct packed side = transformer_side(model, batch, r->stack);
    int64_t width = model->architecture.width;

    transformer_forward(model, weights, batch, false);
    for (int64_t depth = 0; depth <= r->layers; depth++) {
        const scalar *here = transformer_state(model, r->stack, depth),
                     *before = transformer_state(model, r->stack, depth - (depth > 0));
        /* Sums over the tokens. There are none if all sequences have length 1: NaN. */
        double tokens = 0, norms = 0, logarithms = 0, squares = 0, cosines = 0;
        for (int64_t s = 0; s < side.sequences; s++)
            for (int64_t row = side.start[s] + 1; row < side.start[s + 1]; row++) {
                struct sums own = kernels->sums(before + row * width, here + row * width, width);
                tokens++;
                norms += sqrt(own.square);
                logarithms += log(own.square) / 2;
                squares += own.square;
                cosines += depth ? cosine(own.product, r->square[row], own.square) : NAN;
                r->square[row] = own.square; /* for the next depth */
            }
        r->norm[depth] = norms / tokens;
        r->cosine[depth] = cosines / tokens;
        r->depth[depth] = (double)depth;
        r->logarithm[depth] = logarithms / tokens;
        if (depth == 0)
            r->scale = sqrt(squares / tokens / (double)width);
    }
    struct straight fit = straight_fit(r->depth, r->logarithm, r->layers + 1);
    r->growth = fit.slope;
    r->growth_error = fit.slope_error;
}

static double square_of(const scalar *x, int64_t count)
{
    return kernels_best(PRECISION_FLOAT)->dot(x, x, count);
}

/* ln(|gradient at x_0|^2 / |gradient at x_L|^2) / L of the gradient in r->state, which moves to x_0. */
static double growth_back(
    struct residual *r, struct transformer *model, const scalar *weights, const struct batch *batch)
{
    int64_t size = transformer_side(model, batch, r->stack).rows * model->architecture.width;
    double end = square_of(r->state, size);

    for (int64_t layer = r->layers - 1; layer >= 0; layer--)
        transformer_block_gradient(model, weights, batch, r->first + layer, r->state);
    return log(square_of(r->state, size) / end) / (double)r->layers;
}

void residual_gradients(struct residual *r, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed)
{
    int64_t rows = transformer_side(model, batch, r->stack).rows;

    transformer_output_gradient(model, weights, batch, r->stack, r->state);
    r->gradient_growth = growth_back(r, model, weights, batch) / 2;
    draw_normal(r->state, rows * model->architecture.width, 1, seed, DRAW_DIRECTION);
    r->gradient_exponent = growth_back(r, model, weights, batch);
}

/*
 * Takes from each of `rows` vectors their mean, makes their variance, summed over the elements, 1, and
 * returns what it was. NaN, without a change, for one vector, or if the vectors are all the same up to
 * rounding.
 */
static double centre_rows(scalar *x, int64_t rows, int64_t width)
{
    double variance = 0;

    for (int64_t c = 0; c < width; c++) {
        double mean = 0;
        for (int64_t row = 0; row < rows; row++)
            mean += (double)x[row * width + c] / (double)rows;
        for (int64_t row = 0; row < rows; row++) {
            double rest = (double)x[row * width + c] - mean;
            variance += rest * rest;
            x[row * width + c] = (scalar)rest;
        }
    }
    if (!(variance > 0))
        return NAN;
    variance /= (double)(rows - 1);
    for (int64_t i = 0; i < rows * width; i++)
        x[i] = (scalar)((double)x[i] / sqrt(variance));
    return variance;
}

void residual_angle(struct residual *r, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t seed)
{
    int64_t width = model->architecture.width, rows = model->architecture.context, start[] = {0, rows};
    const struct stack_form form = architecture_stack(&model->architecture, r->stack);
    const struct batch first = batch_first(batch);
    struct batch equal = first; /* one sequence of `rows` tokens on the side that the stack reads */

    if (form.source) {
        equal.source_rows = rows;
        equal.source_start = start;
    } else {
        equal.rows = rows;
        equal.start = start;
    }
    if (form.cross)
        transformer_forward(model, weights, &first, false);
    draw_normal(r->state, width, 1, seed, DRAW_SHARED);
    double drawn = sqrt(square_of(r->state, width) / (double)width);
    for (int64_t row = 0; row < rows; row++) /* equal tokens, whose root mean square is r->scale */
        draw_normal(r->state + row * width, width, r->scale / drawn, seed, DRAW_SHARED);
    draw_normal(r->tangent, rows * width, 1, seed, DRAW_PERTURBATION);
    centre_rows(r->tangent, rows, width);
    double growth = log(square_of(r->state, width));
    transformer_forward_from(model, weights, &equal, r->stack, r->state);
    for (int64_t layer = 0; layer < r->layers; layer++) {
        transformer_block_tangent(model, weights, &equal, r->first + layer, r->tangent);
        growth += log(centre_rows(r->tangent, rows, width));
    }
    growth -= log(square_of(transformer_state(model, r->stack, r->layers), width));
    r->angle_exponent = growth / (double)r->layers;
}
