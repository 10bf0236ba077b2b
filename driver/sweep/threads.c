#include "driver/sweep/threads.h"

#include "driver/sweep/grid.h"
#include "worker/host/processors.h"

struct threads threads_of(const struct sweep *sweep)
{
    const struct param *param = param_find("threads");
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param);

    if (!axis)
        return (struct threads){sweep->base.threads, sweep->base.threads};
    const union param_value *value = axis->value + axis_row(axis, param) * axis->length;
    struct threads threads = {value[0].integer, value[0].integer};
    for (int64_t i = 1; i < axis->length; i++) {
        threads.least = value[i].integer < threads.least ? value[i].integer : threads.least;
        threads.most = value[i].integer > threads.most ? value[i].integer : threads.most;
    }
    return threads;
}

int threads_workers(const struct sweep *sweep)
{
    int64_t each = threads_of(sweep).most;
    int processors = processors_count();

    if (each <= 1)
        return processors;
    return each < processors ? processors / (int)each : 1;
}
