#include "worker/metric.h"

const struct metric_row metric_table[METRIC_COUNT] = {
#define X(name, shape, group, unit, long_name, help)                                                         \
    [METRIC_##name] = {#name, METRIC_PER_##shape, GROUP_##group, unit, long_name, help},
    METRICS(X)
#undef X
};

const char *const metric_group_names[GROUP_COUNT] = {
    [GROUP_ALWAYS] = "always", [GROUP_NORMS] = "norms", [GROUP_ALIGNMENT] = "alignment"};

size_t metric_values(enum metric metric, int64_t layers)
{
    switch (metric_table[metric].shape) {
    case METRIC_PER_RUN:
    case METRIC_PER_STEP:
        return 1;
    case METRIC_PER_LAYER:
        return (size_t)layers;
    case METRIC_PER_TENSOR:
        return (size_t)layers * LAYER_TENSOR_COUNT;
    }
    return 0;
}

/* Values of the metrics before `end` that share a vector with per-run or with per-step ones. */
static size_t values_before(enum metric end, bool per_run, int64_t layers)
{
    size_t count = 0;

    for (enum metric metric = 0; metric < end; metric++)
        if ((metric_table[metric].shape == METRIC_PER_RUN) == per_run)
            count += metric_values(metric, layers);
    return count;
}

size_t metric_offset(enum metric metric, int64_t layers)
{
    return values_before(metric, metric_table[metric].shape == METRIC_PER_RUN, layers);
}

size_t metric_row_size(int64_t layers)
{
    return values_before(METRIC_COUNT, false, layers);
}

size_t metric_run_size(void)
{
    return values_before(METRIC_COUNT, true, 1);
}
