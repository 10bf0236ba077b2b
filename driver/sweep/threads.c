#include "driver/sweep/threads.h"

#include "model/kernels/team.h"
#include "worker/host/processors.h"

static struct threads threads_on(const struct axis *axis, int64_t row)
{
    const union param_value *value = axis->value + row * axis->length;
    struct threads threads = {value[0].integer, value[0].integer};

    for (int64_t i = 1; i < axis->length; i++) {
        threads.least = value[i].integer < threads.least ? value[i].integer : threads.least;
        threads.most = value[i].integer > threads.most ? value[i].integer : threads.most;
    }
    return threads;
}

struct threads threads_of(const struct sweep *sweep)
{
    const struct param *wanted = param_find("threads");

    for (int64_t i = 0; i < sweep->axis_count; i++)
        for (int64_t j = 0; j < sweep->axis[i].param_count; j++)
            if (sweep->axis[i].param[j] == wanted)
                return threads_on(&sweep->axis[i], j);
    return (struct threads){sweep->base.threads, sweep->base.threads};
}

int threads_workers(const struct sweep *sweep)
{
    int64_t each = team_has_threads() ? threads_of(sweep).most : 1;
    int processors = processors_count();

    if (each <= 1)
        return processors;
    return each < processors ? processors / (int)each : 1;
}
