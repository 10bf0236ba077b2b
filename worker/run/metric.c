#include "worker/run/metric.h"

#include <math.h>

#include "model/instruments/hessian.h"
#include "model/instruments/homogeneity.h"
#include "model/instruments/saturation.h"
#include "model/instruments/straight.h"
#include "worker/run/measure.h"

/* The help texts of METRICS say so. */
_Static_assert(HESSIAN_RISK_PERCENT == 5, "hessian_bound: probability");
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

static int64_t length_one(const struct run *run, const struct measure *measure)
{
    (void)run, (void)measure;
    return 1;
}

static int64_t length_layers(const struct run *run, const struct measure *measure)
{
    (void)measure;
    return run->layers;
}

static int64_t length_tensors(const struct run *run, const struct measure *measure)
{
    (void)run, (void)measure;
    return LAYER_TENSOR_COUNT;
}

static int64_t length_heads(const struct run *run, const struct measure *measure)
{
    (void)measure;
    return run->heads;
}

static int64_t length_bins(const struct run *run, const struct measure *measure)
{
    (void)measure;
    return saturation_bins(run->context);
}

static int64_t length_scales(const struct run *run, const struct measure *measure)
{
    (void)run, (void)measure;
    return HOMOGENEITY_SCALES;
}

static int64_t length_probes(const struct run *run, const struct measure *measure)
{
    (void)run;
    return measure->hessian_probes;
}

static int64_t length_lanczos(const struct run *run, const struct measure *measure)
{
    (void)run;
    return measure->hessian_steps;
}

static int64_t length_depths(const struct run *run, const struct measure *measure)
{
    (void)measure;
    return run->layers + 1;
}

static int64_t length_exponents(const struct run *run, const struct measure *measure)
{
    (void)run;
    return measure->lyapunov_exponents;
}

static double place_itself(int64_t place)
{
    return (double)place;
}

static double bin_end(int64_t place)
{
    return ldexp(1, (int)place);
}

static const char *layer_tensor_name(int64_t place)
{
    return place < LAYER_TENSOR_COUNT ? tensor_table[LAYER_TENSOR_FIRST + place].name : NULL;
}

const struct metric_dimension_row metric_dimension_table[DIMENSION_COUNT] = {
#define INTEGER(function) .number = function
#define REAL(function) .number = function, .is_real = true
#define WORD(function) .word = function
#define X(NAME, dimension, how_long, coordinate, described, note)                                            \
    [DIMENSION_##NAME] = {                                                                                   \
        .name = #dimension, .length = how_long, coordinate, .long_name = described, .comment = note},
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

bool metric_dimension_needed(enum metric_dimension dimension, const bool group[GROUP_COUNT])
{
    if (dimension == DIMENSION_STEP || dimension == DIMENSION_LAYER || dimension == DIMENSION_TENSOR)
        return true;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (int i = 0; group[metric_table[metric].group] && i < shape_of(metric)->rank; i++)
            if (shape_of(metric)->dimension[i] == dimension)
                return true;
    return false;
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
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        int64_t length = metric_dimension_table[i].length(run, measure);
        if (length > form->along[i] && metric_dimension_needed(i, measure->group))
            form->along[i] = length;
    }
}

struct metric_form metric_form(const struct run *run, const struct measure *measure)
{
    struct metric_form form = {0};

    metric_lengthen(&form, run, measure);
    metric_form_place(&form);
    return form;
}

size_t metric_row_size(const struct metric_form *form, int64_t step)
{
    return step == STEP_OF_RUN ? form->run_size : form->row_size;
}
