/* Writing in place: what is measured, and how runs end. */
#include "driver/dataset_ledger.h"

#include <netcdf.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at text, 0 where there is none. */
static size_t character_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;

    if (text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

void dataset_field(char *field, size_t width, const char *text)
{
    size_t used = 0;

    memset(field, 0, width);
    while (*text) {
        size_t length = character_length((const unsigned char *)text);
        size_t taken = length ? length : 1;
        if (used + taken > width)
            return;
        if (length)
            memcpy(field + used, text, length);
        else
            field[used] = '?';
        used += taken;
        text += taken;
    }
}

/* The place of a cell in any variable: zeros along the dimensions after the grid's. */
static int64_t begin(const struct dataset *dataset, int64_t cell, size_t start[DIMENSIONS_MAX])
{
    const struct sweep *sweep = dataset->layout.sweep;
    int64_t index[AXES_MAX];

    sweep_indices(sweep, cell, index);
    memset(start, 0, DIMENSIONS_MAX * sizeof(*start));
    for (int64_t i = 0; i < sweep->axis_count; i++)
        start[i] = (size_t)index[i];
    return sweep->axis_count;
}

static int put_integer(
    const struct dataset *dataset, enum run_variable variable, const size_t *start, int64_t value)
{
    long long number = value;

    return nc_put_var1_longlong(dataset->file, dataset->run[variable], start, &number);
}

static int put_real(
    const struct dataset *dataset, enum run_variable variable, const size_t *start, double value)
{
    return nc_put_var1_double(dataset->file, dataset->run[variable], start, &value);
}

static int put_text(
    const struct dataset *dataset, enum run_variable variable, const size_t *start, const char *text)
{
    size_t count[DIMENSIONS_MAX], width = (size_t)run_variable_table[variable].width;
    char field[REASON_SIZE > STRING_LONG ? REASON_SIZE : STRING_LONG];

    for (int i = 0; i < DIMENSIONS_MAX; i++)
        count[i] = 1;
    count[dataset->layout.sweep->axis_count] = width;
    dataset_field(field, width, text);
    return nc_put_vara_text(dataset->file, dataset->run[variable], start, count, field);
}

/* Writes an outcome and keeps it in mind. */
static int put_outcome(struct dataset *dataset, int64_t cell, enum outcome outcome)
{
    size_t start[DIMENSIONS_MAX];

    begin(dataset, cell, start);
    int status = put_integer(dataset, RUN_VARIABLE_outcome, start, outcome);
    if (status == NC_NOERR)
        dataset->outcome[cell] = (signed char)outcome;
    return status;
}

/* Extents of one cell of a metric after the grid's dimensions; returns their product. */
static size_t metric_extent(const struct dataset *dataset, enum metric metric, size_t count[DIMENSIONS_MAX])
{
    const struct layout *layout = &dataset->layout;
    enum metric_shape shape = metric_table[metric].shape;
    size_t *own = count + layout->sweep->axis_count;

    for (int i = 0; i < DIMENSIONS_MAX; i++)
        count[i] = 1;
    if (shape != METRIC_PER_RUN)
        own[0] = (size_t)layout->step_count;
    if (shape == METRIC_PER_LAYER || shape == METRIC_PER_TENSOR)
        own[1] = (size_t)layout->layers;
    if (shape == METRIC_PER_TENSOR)
        own[2] = LAYER_TENSOR_COUNT;
    return own[0] * own[1] * own[2];
}

static int wipe_metrics(struct dataset *dataset, const size_t *start)
{
    const struct layout *layout = &dataset->layout;
    size_t room = (size_t)(layout->step_count * layout->layers) * LAYER_TENSOR_COUNT;
    size_t count[DIMENSIONS_MAX];
    double *nothing = malloc(room * sizeof(*nothing));
    int status = nothing ? NC_NOERR : NC_ENOMEM;

    for (size_t i = 0; nothing && i < room; i++)
        nothing[i] = NAN;
    for (int i = 0; status == NC_NOERR && i < METRIC_COUNT; i++) {
        if (dataset->metric[i] < 0)
            continue;
        metric_extent(dataset, i, count);
        status = nc_put_vara_double(dataset->file, dataset->metric[i], start, count, nothing);
    }
    free(nothing);
    return status;
}

/* Takes away what earlier attempts at a run have left. */
static int wipe(struct dataset *dataset, const size_t *start)
{
    int status = wipe_metrics(dataset, start);

    for (int i = 0; status == NC_NOERR && i < RUN_VARIABLE_COUNT; i++) {
        const struct run_variable_row *row = &run_variable_table[i];
        if (i == RUN_VARIABLE_outcome || i == RUN_VARIABLE_attempts)
            continue;
        if (row->type == STORED_TEXT)
            status = put_text(dataset, i, start, "");
        else if (row->type == STORED_REAL)
            status = put_real(dataset, i, start, NAN);
        else
            status = put_integer(dataset, i, start, row->filled ? -1 : 0);
    }
    return status;
}

int dataset_start(struct dataset *dataset, int64_t cell, const char *host, struct error *error)
{
    size_t start[DIMENSIONS_MAX];
    long long attempts;

    begin(dataset, cell, start);
    int status = nc_get_var1_longlong(dataset->file, dataset->run[RUN_VARIABLE_attempts], start, &attempts);
    if (status == NC_NOERR && attempts > 0)
        status = wipe(dataset, start);
    if (status == NC_NOERR)
        status = put_integer(dataset, RUN_VARIABLE_attempts, start, attempts + 1);
    if (status == NC_NOERR)
        status = put_integer(dataset, RUN_VARIABLE_session, start, dataset->session);
    if (status == NC_NOERR)
        status = put_text(dataset, RUN_VARIABLE_host, start, host);
    if (status == NC_NOERR)
        status = put_outcome(dataset, cell, OUTCOME_RUNNING);
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

/*
 * Values `from` to `end` (exclusive) of one metric in one row, layer by layer: a part may begin and end
 * inside a layer.
 */
static int put_part(struct dataset *dataset, enum metric metric, const size_t *row, const double *values,
    size_t from, size_t end)
{
    size_t per_layer = metric_table[metric].shape == METRIC_PER_TENSOR ? LAYER_TENSOR_COUNT : 1;
    int64_t axes = dataset->layout.sweep->axis_count;
    size_t start[DIMENSIONS_MAX], count[DIMENSIONS_MAX];
    int status = NC_NOERR;

    memcpy(start, row, sizeof(start));
    for (int i = 0; i < DIMENSIONS_MAX; i++)
        count[i] = 1;
    while (status == NC_NOERR && from < end) {
        size_t tensor = from % per_layer, left = end - from;
        size_t layers = tensor == 0 && left >= per_layer ? left / per_layer : 1;
        size_t rest = per_layer - tensor;
        start[axes + 1] = from / per_layer;
        start[axes + 2] = tensor;
        count[axes + 1] = layers;
        count[axes + 2] = rest < left ? rest : left;
        status = nc_put_vara_double(dataset->file, dataset->metric[metric], start, count, values);
        values += layers * count[axes + 2];
        from += layers * count[axes + 2];
    }
    return status;
}

int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error)
{
    const struct layout *layout = &dataset->layout;
    size_t start[DIMENSIONS_MAX];
    struct run run;
    int status = NC_NOERR;

    const int64_t *place =
        bsearch(&step, layout->step, (size_t)layout->step_count, sizeof(step), step_compare);
    sweep_cell(layout->sweep, cell, &run);
    if (!place || offset + count > metric_row_size(run.layers))
        return error_set(error, ERROR_ENVIRONMENT, "%s: no row at step %lld of run %lld", dataset->name,
            (long long)step, (long long)cell);
    start[0] = 0;
    int64_t axes = begin(dataset, cell, start);
    start[axes] = (size_t)(place - layout->step);
    for (int i = 0; status == NC_NOERR && i < METRIC_COUNT; i++) {
        if (dataset->metric[i] < 0 || metric_table[i].shape == METRIC_PER_RUN)
            continue;
        size_t first = metric_offset(i, run.layers), last = first + metric_values(i, run.layers);
        size_t from = first > offset ? first : offset;
        size_t end = last < offset + count ? last : offset + count;
        if (from < end)
            status = put_part(dataset, i, start, values + (from - offset), from - first, end - first);
    }
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

int dataset_return(struct dataset *dataset, int64_t cell, struct error *error)
{
    int status = put_outcome(dataset, cell, OUTCOME_PENDING);

    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error)
{
    if (result->outcome == OUTCOME_PENDING)
        return dataset_return(dataset, cell, error);
    if (dataset->waiting_count == dataset->waiting_size) {
        int64_t size = dataset->waiting_size ? 2 * dataset->waiting_size : 16;
        struct waiting *more = realloc(dataset->waiting, (size_t)size * sizeof(*more));
        if (!more)
            return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", dataset->name);
        dataset->waiting = more;
        dataset->waiting_size = size;
    }
    dataset->waiting[dataset->waiting_count++] = (struct waiting){cell, *result};
    return 0;
}

static enum phase phase_of(const struct result *result)
{
    double growth = result->values[metric_offset(METRIC_norm_growth, 1)];

    if (result->outcome == OUTCOME_DIVERGED)
        return PHASE_DIVERGED;
    if (result->outcome != OUTCOME_DONE || isnan(growth))
        return PHASE_NONE;
    return growth > 1 ? PHASE_GROWING : PHASE_SHRINKING;
}

static int put_metrics(struct dataset *dataset, const size_t *start, const double *values)
{
    int status = NC_NOERR;

    for (int i = 0; status == NC_NOERR && i < METRIC_COUNT; i++)
        if (dataset->metric[i] >= 0 && metric_table[i].shape == METRIC_PER_RUN)
            status =
                nc_put_var1_double(dataset->file, dataset->metric[i], start, values + metric_offset(i, 1));
    return status;
}

/* Everything of a result but its outcome. */
static int put_values(struct dataset *dataset, const struct waiting *waiting)
{
    const struct result *result = &waiting->result;
    double speed = result->step_seconds > 0 ? (double)result->tokens / result->step_seconds : NAN;
    size_t start[DIMENSIONS_MAX];

    begin(dataset, waiting->cell, start);
    int status = put_metrics(dataset, start, result->values);
    if (status == NC_NOERR)
        status = put_integer(dataset, RUN_VARIABLE_last_step, start, result->last_step);
    if (status == NC_NOERR)
        status = put_integer(dataset, RUN_VARIABLE_diverged_step, start, result->diverged_step);
    if (status == NC_NOERR)
        status = put_real(dataset, RUN_VARIABLE_seconds, start, result->seconds);
    if (status == NC_NOERR)
        status = put_real(dataset, RUN_VARIABLE_tokens_per_second, start, speed);
    if (status == NC_NOERR)
        status = put_text(dataset, RUN_VARIABLE_reason, start, result->reason);
    if (status == NC_NOERR)
        status = put_integer(dataset, RUN_VARIABLE_phase, start, phase_of(result));
    return status;
}

int dataset_commit(struct dataset *dataset, struct error *error)
{
    int status = NC_NOERR;

    if (dataset->waiting_count == 0)
        return dataset_flush(dataset, error);
    for (int64_t i = 0; status == NC_NOERR && i < dataset->waiting_count; i++)
        status = put_values(dataset, &dataset->waiting[i]);
    if (status != NC_NOERR)
        return dataset_error(dataset, status, error);
    if (dataset_sync(dataset, error) != 0)
        return -1;
    for (int64_t i = 0; status == NC_NOERR && i < dataset->waiting_count; i++)
        status =
            put_outcome(dataset, dataset->waiting[i].cell, (enum outcome)dataset->waiting[i].result.outcome);
    if (status != NC_NOERR)
        return dataset_error(dataset, status, error);
    dataset->waiting_count = 0;
    return dataset_sync(dataset, error);
}
