#include "worker/run/metric.h"

#include "model/instruments/homogeneity.h"
#include "model/instruments/saturation.h"

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

const struct metric_dimension_row metric_dimension_table[DIMENSION_COUNT] = {
#define X(NAME, name, long_name, comment) [DIMENSION_##NAME] = {#name, long_name, comment},
    METRIC_DIMENSIONS(X)
#undef X
};

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
    size_t of_run = 0;

    form->row_size = 0;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t *end = metric_is_of_run(metric) ? &of_run : &form->row_size;
        form->offset[metric] = *end;
        *end += metric_values(metric, form);
    }
}

void metric_lengthen(struct metric_form *form, const struct run *run, const bool group[GROUP_COUNT])
{
    const int64_t along[DIMENSION_COUNT] = {
        [DIMENSION_STEP] = 1,
        [DIMENSION_LAYER] = run->layers,
        [DIMENSION_TENSOR] = LAYER_TENSOR_COUNT,
        [DIMENSION_HEAD] = run->heads,
        [DIMENSION_POSITIONS] = saturation_bins(run->context),
        [DIMENSION_SCALE] = HOMOGENEITY_SCALES,
    };

    /* Scales stay: a run's own metrics have their places whatever is measured. */
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (along[i] > form->along[i] && (i == DIMENSION_SCALE || metric_dimension_needed(i, group)))
            form->along[i] = along[i];
}

struct metric_form metric_form(const struct run *run, const bool group[GROUP_COUNT])
{
    struct metric_form form = {0};

    metric_lengthen(&form, run, group);
    metric_form_place(&form);
    return form;
}

/* All that the metrics of whole runs have of dimensions. */
static const struct metric_form of_run = {.along = {[DIMENSION_SCALE] = HOMOGENEITY_SCALES}};

size_t metric_run_offset(enum metric metric)
{
    size_t offset = 0;

    for (enum metric before = 0; before < metric; before++)
        offset += metric_is_of_run(before) ? metric_values(before, &of_run) : 0;
    return offset;
}

size_t metric_run_size(void)
{
    return metric_run_offset(METRIC_COUNT);
}
