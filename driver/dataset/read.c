
#include "driver/dataset/inside.h"
#include "driver/sweep/grid.h"
#include "model/core/check.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

int64_t dataset_steps(const struct dataset *dataset)
{
    return dataset->layout.step_count;
}

const int64_t *dataset_step_numbers(const struct dataset *dataset)
{
    return dataset->layout.step;
}

/* Reads `count` numbers at an offset of the file, which has its full length. 0 or an errno. */
static int get_numbers(int file, int64_t place, double *values, int64_t count)
{
    unsigned char *bytes = (unsigned char *)values;
    size_t done = 0, size = 8 * (size_t)count;

    while (done < size) {
        ssize_t got = pread(file, bytes + done, size - done, place + (int64_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        done += (size_t)got;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t number;
        memcpy(&number, &values[i], sizeof(number));
        number = be64toh(number);
        memcpy(&values[i], &number, sizeof(number));
    }
    return 0;
}

/* The value of a run whose outcome is not written yet. */
static double waiting_value(const struct dataset *dataset, int64_t cell, enum metric metric)
{
    const struct sweep *sweep = dataset->layout.sweep;
    struct run run;

    sweep_cell(sweep, cell, &run);
    const struct metric_form form = metric_form(&run, &sweep->measure);
    return dataset->end[cell][form.offset[metric]];
}

int dataset_read(
    struct dataset *dataset, int64_t cell, enum metric metric, double *values, struct error *error)
{
    bool of_run = metric_is_of_run(metric);
    int64_t count = of_run ? 1 : dataset->layout.step_count;

    INVARIANT(metric_values(metric, &dataset->layout.form) == 1, "%s has %zu values",
        metric_table[metric].name, metric_values(metric, &dataset->layout.form));
    for (int64_t i = 0; i < count; i++)
        values[i] = NAN;
    if (dataset->metric[metric] < 0)
        return 0;
    if (of_run && dataset->end[cell]) {
        values[0] = waiting_value(dataset, cell, metric);
        return 0;
    }
    int status = write_buffer_flush(&dataset->buffer);
    if (status == 0)
        status =
            get_numbers(dataset->buffer.descriptor, metric_place(dataset, metric, cell, 0), values, count);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}
