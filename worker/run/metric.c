/* The table of metrics and what follows from it: shapes, the form of a row, which metrics a run has. */
#include "model/core/check.h"
#include "model/instruments/instruments.h"
#include "worker/run/run.h"

#include <math.h>
#include <string.h>

/* The help texts of METRICS say so. */
_Static_assert(HESSIAN_RISK_PERCENT == 5, "hessian_bound: probability");
_Static_assert(SHARPNESS_PASSES == 9, "critical_sharpness: passes");
_Static_assert(SPECTRA_RANK_PERCENT == 1 && SPECTRA_ALIVE_PERCENT == 25, "qk_rank: share; dead: share");
_Static_assert(STRAIGHT_POINTS == 4, "gradient_depth_slope: layers; residual_growth: layers and one");

const struct metric_row metric_table[METRIC_COUNT] = {
#define X(name, shape, group, nature, ...)                                                                   \
    [METRIC_##name] = {#name, METRIC_PER_##shape, GROUP_##group, NATURE_##nature, __VA_ARGS__},
    METRICS(X)
#undef X
};

const struct nature_row nature_table[NATURE_COUNT] = {
#define X(NATURE, word, ...) [NATURE_##NATURE] = {#word, __VA_ARGS__},
    METRIC_NATURES(X)
#undef X
};

/* ---- dimensions ---- */

/* The number of blocks of the longest stack. */
static int64_t longest_stack(const struct architecture *a)
{
    int64_t longest = 0;

    for (int64_t stack = 0; stack < architecture_stacks(a); stack++) {
        struct stack_form form = architecture_stack(a, stack);
        longest = form.end - form.begin > longest ? form.end - form.begin : longest;
    }
    return longest;
}

/*
 * The number of kinds of tensors, up to the last one that such a network may have. Kinds that it does
 * without, such as biases, are listed in any case; those of norms of queries and keys and of cross-attention
 * only where they exist, so that other datasets need no room for them.
 */
static int64_t tensor_kinds(const struct architecture *a)
{
    bool cross = architecture_stack(a, architecture_stacks(a) - 1).cross;
    unsigned may_have = QKV_BIASED | O_BIASED | FEEDFORWARD_BIASED | SHIFTED | GATED |
                        (a->qk_norm ? QK_NORM : 0u) | (cross ? CROSS : 0u);
    int64_t length = LAYER_TENSOR_COUNT;

    while (tensor_table[LAYER_TENSOR_FIRST + length - 1].needs & ~may_have)
        length--;
    return length;
}

/* The length along a dimension that metrics of such a network, measured so, need. */
static int64_t length_along(
    enum metric_dimension dimension, const struct architecture *a, const struct measure *measure)
{
    switch (dimension) {
    case DIMENSION_STEP:
        return 1;
    case DIMENSION_STACK:
        return architecture_stacks(a);
    case DIMENSION_LAYER:
        return longest_stack(a);
    case DIMENSION_TENSOR:
        return tensor_kinds(a);
    case DIMENSION_HEAD:
        return a->heads;
    case DIMENSION_BIN:
        return saturation_bins(a->context);
    case DIMENSION_SCALE:
        return HOMOGENEITY_SCALES;
    case DIMENSION_PROBE:
        return measure->hessian_probes;
    case DIMENSION_LANCZOS:
        return measure->hessian_steps;
    case DIMENSION_DEPTH:
        return longest_stack(a) + 1;
    case DIMENSION_EXPONENT:
        return measure->lyapunov_exponents;
    case DIMENSION_FORCE:
        return FORCE_COUNT;
    case DIMENSION_SINGULAR:
        return spectra_length(a);
    case DIMENSION_COUNT:
        break;
    }
    return 0;
}

static double place_itself(int64_t place)
{
    return (double)place;
}

static double bin_end(int64_t place)
{
    return ldexp(1, (int)place);
}

/* The places along STACK, in the order of an encoder-decoder's stacks. */
enum { STACK_ENCODER, STACK_DECODER };

static const char *stack_name(int64_t place)
{
    static const char *const name[STACKS_MOST] = {[STACK_ENCODER] = "encoder", [STACK_DECODER] = "decoder"};

    return place < STACKS_MOST ? name[place] : NULL;
}

static const char *layer_tensor_name(int64_t place)
{
    return place < LAYER_TENSOR_COUNT ? tensor_table[LAYER_TENSOR_FIRST + place].name : NULL;
}

static const char *force_name(int64_t place)
{
#define X(FORCE, word) [FORCE_##FORCE] = #word,
    static const char *const name[FORCE_COUNT] = {FORCES(X)};
#undef X

    return place < FORCE_COUNT ? name[place] : NULL;
}

const struct metric_dimension_row metric_dimension_table[DIMENSION_COUNT] = {
#define INTEGER(function) .number = function
#define REAL(function) .number = function, .is_real = true
#define WORD(function) .word = function
#define X(NAME, dimension, coordinate, described, note)                                                      \
    [DIMENSION_##NAME] = {.name = #dimension, coordinate, .long_name = described, .comment = note},
    METRIC_DIMENSIONS(X)
#undef X
};

/* ---- shapes and places ---- */

const struct metric_shape_row metric_shape_table[METRIC_SHAPE_COUNT] = {
#define X(SHAPE, rank, ...) [METRIC_PER_##SHAPE] = {rank, {__VA_ARGS__}},
    METRIC_SHAPES(X)
#undef X
};

const char *const metric_group_names[GROUP_COUNT] = {
#define X(GROUP, word, initial) [GROUP_##GROUP] = #word,
    METRIC_GROUPS(X)
#undef X
};

const bool metric_group_initial[GROUP_COUNT] = {
#define X(GROUP, word, initial) [GROUP_##GROUP] = initial,
    METRIC_GROUPS(X)
#undef X
};

static const struct metric_shape_row *shape_of(enum metric metric)
{
    return &metric_shape_table[metric_table[metric].shape];
}

bool metric_is_of_run(enum metric metric)
{
    const struct metric_shape_row *shape = shape_of(metric);

    return shape->rank == 0 || shape->dimension[0] != DIMENSION_STEP;
}

/* Sets which dimensions the metrics of these groups have, in one pass: rows ask for it often. */
static void dimensions_needed(bool needed[DIMENSION_COUNT], const bool group[GROUP_COUNT])
{
    static const enum metric_dimension always[] = {
        DIMENSION_STEP, DIMENSION_STACK, DIMENSION_LAYER, DIMENSION_TENSOR};

    memset(needed, 0, DIMENSION_COUNT * sizeof(*needed));
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
        needed[always[i]] = true;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (int i = 0; group[metric_table[metric].group] && i < shape_of(metric)->rank; i++)
            needed[shape_of(metric)->dimension[i]] = true;
}

bool metric_dimension_needed(enum metric_dimension dimension, const bool group[GROUP_COUNT])
{
    bool needed[DIMENSION_COUNT];

    dimensions_needed(needed, group);
    return needed[dimension];
}

enum metric metric_of_all_stacks(enum metric metric)
{
    switch (metric) {
    case METRIC_stack_norm:
        return METRIC_param_norm;
    case METRIC_stack_direction_cosine:
        return METRIC_direction_cosine;
    default:
        INVARIANT(metric_table[metric].shape != METRIC_PER_STACK_OF_TWO, "%s has no whole",
            metric_table[metric].name);
        return metric;
    }
}

static bool has_stacks(const struct metric_form *form)
{
    return form->along[DIMENSION_STACK] > 1;
}

bool metric_dimension_stored(
    enum metric_dimension dimension, const struct metric_form *form, const bool group[GROUP_COUNT])
{
    return metric_dimension_needed(dimension, group) && (dimension != DIMENSION_STACK || has_stacks(form));
}

bool metric_stored(enum metric metric, const struct metric_form *form, const bool group[GROUP_COUNT])
{
    const struct metric_row *row = &metric_table[metric];

    return group[row->group] && (row->shape != METRIC_PER_STACK_OF_TWO || has_stacks(form));
}

int metric_dimensions(
    enum metric metric, const struct metric_form *form, enum metric_dimension dimension[METRIC_RANK_MOST])
{
    const struct metric_shape_row *shape = shape_of(metric);
    int rank = 0;

    for (int i = 0; i < shape->rank; i++)
        if (shape->dimension[i] != DIMENSION_STACK || has_stacks(form))
            dimension[rank++] = shape->dimension[i];
    return rank;
}

size_t metric_values(enum metric metric, const struct metric_form *form)
{
    size_t values = 1;

    for (int i = 0; i < shape_of(metric)->rank; i++)
        values *= (size_t)form->along[shape_of(metric)->dimension[i]];
    return values;
}

void metric_form_place(struct metric_form *form)
{
    form->row_size = form->run_size = 0;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t *end = metric_is_of_run(metric) ? &form->run_size : &form->row_size;
        form->offset[metric] = *end;
        *end += metric_values(metric, form);
    }
}

void metric_lengthen(struct metric_form *form, const struct run *run, const struct measure *measure)
{
    const struct architecture a = run_architecture(run, run->vocabulary);
    bool needed[DIMENSION_COUNT];

    dimensions_needed(needed, measure->group);
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        int64_t length = needed[i] ? length_along(i, &a, measure) : 0;
        if (length > form->along[i])
            form->along[i] = length;
    }
}

struct metric_form metric_form(const struct run *run, const struct measure *measure)
{
    struct metric_form form = {
        .first_stack = run->network == NETWORK_DECODER ? STACK_DECODER : STACK_ENCODER};

    metric_lengthen(&form, run, measure);
    metric_form_place(&form);
    return form;
}

size_t metric_row_size(const struct metric_form *form, int64_t step)
{
    return step == STEP_OF_RUN ? form->run_size : form->row_size;
}
