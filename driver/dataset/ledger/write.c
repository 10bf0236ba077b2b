/*
 * Writing into the open dataset. A result takes two syncs: its values, then its outcome, so that a run that
 * counts as ended has all its values, whatever is killed in between. Values of a run under way may be lost
 * with the process; its checkpoint has them, and the next start clears what is left of them before the run
 * sends them again.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"
#include "model/core/printable.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS_AT_ONCE = 64 };

void dataset_field(char *field, size_t width, const char *text)
{
    size_t used = 0;

    memset(field, 0, width);
    while (*text) {
        size_t length = utf8_length(text, strnlen(text, UTF8_MOST));
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

/* ---- values; 0 or an errno ---- */

static int put_numbers(struct dataset *dataset, int64_t place, const double *value, size_t count)
{
    uint64_t number[NUMBERS_AT_ONCE];
    int status = 0;

    for (size_t done = 0, some; done < count && status == 0; done += some) {
        some = count - done < NUMBERS_AT_ONCE ? count - done : NUMBERS_AT_ONCE;
        memcpy(number, value + done, some * sizeof(*number));
        for (size_t i = 0; i < some; i++)
            number[i] = htobe64(number[i]);
        status = write_buffer_put(&dataset->buffer, place + 8 * (int64_t)done, number, 8 * some);
    }
    return status;
}

static int64_t place_of(const struct dataset *dataset, enum run_variable variable, int64_t cell)
{
    INVARIANT(cell >= 0 && cell < dataset->layout.sweep->cells, "%s of cell %lld",
        run_variable_table[variable].name, (long long)cell);
    return dataset->run[variable] + cell * run_variable_bytes(variable);
}

static int put_integer(struct dataset *dataset, enum run_variable variable, int64_t cell, int64_t value)
{
    uint64_t number = htobe64((uint64_t)value);
    unsigned char byte = (unsigned char)value;
    bool small = run_variable_table[variable].type == STORED_BYTE;

    return write_buffer_put(&dataset->buffer, place_of(dataset, variable, cell),
        small ? (const void *)&byte : &number, small ? sizeof(byte) : sizeof(number));
}

static int put_real(struct dataset *dataset, enum run_variable variable, int64_t cell, double value)
{
    return put_numbers(dataset, place_of(dataset, variable, cell), &value, 1);
}

static int put_text(struct dataset *dataset, enum run_variable variable, int64_t cell, const char *text)
{
    char field[STRING_LONGEST];
    size_t width = (size_t)run_variable_table[variable].width;

    dataset_field(field, width, text);
    return write_buffer_put(&dataset->buffer, place_of(dataset, variable, cell), field, width);
}

/* Writes an outcome, and keeps it for dataset_outcomes. */
static int put_outcome(struct dataset *dataset, int64_t cell, enum outcome outcome)
{
    int status = put_integer(dataset, RUN_VARIABLE_outcome, cell, outcome);

    if (status == 0)
        dataset->outcome[cell] = (signed char)outcome;
    return status;
}

/* Clears a metric of a run from row `row` on; nothing to do where it is not measured. */
static int wipe_metric(struct dataset *dataset, enum metric metric, int64_t cell, int64_t row)
{
    double nothing[NUMBERS_AT_ONCE];
    int status = 0;

    if (dataset->metric[metric] < 0)
        return 0;
    for (int i = 0; i < NUMBERS_AT_ONCE; i++)
        nothing[i] = NAN;
    int64_t place = metric_place(dataset, metric, cell, row);
    int64_t left = (metric_place(dataset, metric, cell + 1, 0) - place) / 8;
    for (int64_t some; left > 0 && status == 0; left -= some, place += 8 * some) {
        some = left < NUMBERS_AT_ONCE ? left : NUMBERS_AT_ONCE;
        status = put_numbers(dataset, place, nothing, (size_t)some);
    }
    return status;
}

static int wipe_metrics(struct dataset *dataset, int64_t cell, int64_t from)
{
    int64_t first = step_place(dataset->layout.step, dataset->layout.step_count, from);
    int status = 0;

    for (int i = 0; status == 0 && i < METRIC_COUNT; i++)
        status = wipe_metric(dataset, i, cell, metric_is_of_run(i) ? 0 : first);
    return status;
}

/* Clears the values of earlier attempts at a run, except rows before step `from`. */
static int wipe(struct dataset *dataset, int64_t cell, int64_t from)
{
    int status = wipe_metrics(dataset, cell, from);

    for (int i = 0; status == 0 && i < RUN_VARIABLE_COUNT; i++) {
        const struct run_variable_row *row = &run_variable_table[i];
        if (i == RUN_VARIABLE_outcome || i == RUN_VARIABLE_attempts || i == RUN_VARIABLE_deaths)
            continue;
        if (row->type == STORED_TEXT)
            status = put_text(dataset, i, cell, "");
        else if (row->type == STORED_REAL)
            status = put_real(dataset, i, cell, NAN);
        else
            status = put_integer(dataset, i, cell, row->filled ? -1 : 0);
    }
    return status;
}

static void drop_end(struct dataset *dataset, int64_t cell)
{
    free(dataset->end[cell]);
    dataset->end[cell] = NULL;
}

/* The run returns or fails, perhaps after its last step: takes back what only an ended run has. */
static int take_back_end(struct dataset *dataset, int64_t cell)
{
    static const enum metric fitted[] = {
        METRIC_fit_aligned_norm, METRIC_fit_misaligned_norm, METRIC_fit_adam_like_norm};
    int status = 0;

    drop_end(dataset, cell);
    for (size_t i = 0; status == 0 && i < sizeof(fitted) / sizeof(*fitted); i++)
        status = wipe_metric(dataset, fitted[i], cell, 0);
    return status;
}

int64_t dataset_session(const struct dataset *dataset)
{
    return dataset->session;
}

int dataset_put_pace(struct dataset *dataset, const struct pace *pace, struct error *error)
{
    const double value[SESSION_VARIABLE_COUNT] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = pace->field,
        SESSION_NUMBERS(X)
#undef X
    };
    int status = 0;

    for (int i = SESSION_NUMBER_FIRST; status == 0 && i < SESSION_VARIABLE_COUNT; i++)
        status = put_numbers(dataset, dataset->number[i] + 8 * dataset->session, &value[i], 1);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

int dataset_start(struct dataset *dataset, int64_t cell, const char *host, int64_t from, struct error *error)
{
    int status = dataset->attempts[cell] > 0 ? wipe(dataset, cell, from) : 0;

    drop_end(dataset, cell);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_attempts, cell, ++dataset->attempts[cell]);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_session, cell, dataset->session);
    if (status == 0)
        status = put_text(dataset, RUN_VARIABLE_host, cell, host);
    if (status == 0)
        status = put_outcome(dataset, cell, OUTCOME_RUNNING);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

/* Writes values [from, end) of a metric's row of a run; `values` begins with value `from`. */
static int put_metric(struct dataset *dataset, enum metric metric, int64_t place,
    const struct metric_form *run, size_t from, size_t end, const double *values)
{
    int status = 0;

    INVARIANT(end <= metric_values(metric, run), "%s: value %zu of %zu", metric_table[metric].name, end,
        metric_values(metric, run));
    for (size_t i = from, count; i < end && status == 0; i += count) {
        size_t there = layout_find(&dataset->layout.form, run, metric, i, &count);
        count = count < end - i ? count : end - i;
        status = put_numbers(dataset, place + 8 * (int64_t)there, values + (i - from), count);
    }
    return status;
}

/* The place of a step among the dataset's, 0 for STEP_OF_RUN; -1 where the dataset does not have it. */
static int64_t row_of_step(const struct layout *layout, int64_t step)
{
    const int64_t *found =
        bsearch(&step, layout->step, (size_t)layout->step_count, sizeof(step), step_compare);

    return step == STEP_OF_RUN ? 0 : found ? found - layout->step : -1;
}

static struct metric_form form_of_cell(const struct dataset *dataset, int64_t cell)
{
    const struct sweep *sweep = dataset->layout.sweep;
    struct run run;

    sweep_cell(sweep, cell, &run);
    return metric_form(&run, &sweep->measure);
}

/* Writes values [offset, offset + count) of a run's row at a step that the dataset has, or of STEP_OF_RUN. */
static int put_row(struct dataset *dataset, int64_t cell, const struct metric_form *form, int64_t step,
    const double *values, size_t offset, size_t count)
{
    int64_t row = row_of_step(&dataset->layout, step);
    int status = 0;

    for (int i = 0; status == 0 && i < METRIC_COUNT; i++) {
        if (dataset->metric[i] < 0 || metric_is_of_run(i) != (step == STEP_OF_RUN))
            continue;
        size_t first = form->offset[i], last = first + metric_values(i, form);
        size_t from = first > offset ? first : offset;
        size_t end = last < offset + count ? last : offset + count;
        int64_t place = metric_place(dataset, i, cell, row);
        if (from < end)
            status = put_metric(dataset, i, place, form, from - first, end - first, values + (from - offset));
    }
    return status;
}

/* Keeps a part of the row of the whole run until its outcome is known. */
static int keep_end(struct dataset *dataset, int64_t cell, const struct metric_form *form,
    const double *values, size_t offset, size_t count)
{
    double *end = dataset->end[cell];

    if (!end) {
        end = dataset->end[cell] = malloc(form->run_size * sizeof(*end));
        if (!end)
            return ENOMEM;
        for (size_t i = 0; i < form->run_size; i++)
            end[i] = NAN;
    }
    memcpy(end + offset, values, count * sizeof(*values));
    return 0;
}

static bool has_values(
    const struct layout *layout, const struct metric_form *form, int64_t step, size_t offset, size_t count)
{
    size_t size = metric_row_size(form, step);

    return row_of_step(layout, step) >= 0 && offset <= size && count <= size - offset;
}

bool dataset_has_values(
    const struct dataset *dataset, int64_t cell, int64_t step, size_t offset, size_t count)
{
    const struct metric_form form = form_of_cell(dataset, cell);

    return has_values(&dataset->layout, &form, step, offset, count);
}

int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error)
{
    const struct metric_form form = form_of_cell(dataset, cell);

    INVARIANT(has_values(&dataset->layout, &form, step, offset, count),
        "values [%zu, %zu + %zu) at step %lld of run %lld, %zu in its row", offset, offset, count,
        (long long)step, (long long)cell, metric_row_size(&form, step));
    int status = step == STEP_OF_RUN ? keep_end(dataset, cell, &form, values, offset, count)
                                     : put_row(dataset, cell, &form, step, values, offset, count);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

int dataset_return(struct dataset *dataset, int64_t cell, struct error *error)
{
    int status = take_back_end(dataset, cell);

    if (status == 0)
        status = put_outcome(dataset, cell, OUTCOME_PENDING);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

int dataset_leave(
    struct dataset *dataset, int64_t cell, const char *reason, enum phase phase, struct error *error)
{
    enum outcome now = (enum outcome)dataset->outcome[cell];

    if (now != OUTCOME_PENDING && now != OUTCOME_SKIPPED)
        return 0;
    bool begun = now == OUTCOME_PENDING && dataset->attempts[cell] > 0;
    int status = begun ? wipe(dataset, cell, 0) : 0;
    if (status == 0)
        status = put_text(dataset, RUN_VARIABLE_reason, cell, reason);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_phase, cell, phase);
    if (status == 0)
        status = put_outcome(dataset, cell, OUTCOME_SKIPPED);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

int dataset_need(struct dataset *dataset, int64_t cell, struct error *error)
{
    if (dataset->outcome[cell] != OUTCOME_SKIPPED)
        return 0;
    int status = put_text(dataset, RUN_VARIABLE_reason, cell, "");
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_phase, cell, PHASE_NONE);
    if (status == 0)
        status = put_outcome(dataset, cell, OUTCOME_PENDING);
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

const int *dataset_deaths(const struct dataset *dataset)
{
    return dataset->deaths;
}

int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error)
{
    int status = put_integer(dataset, RUN_VARIABLE_deaths, cell, deaths);

    dataset->deaths[cell] = deaths;
    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error)
{
    if (result->outcome == OUTCOME_PENDING)
        return dataset_return(dataset, cell, error);
    int status = result->outcome == OUTCOME_FAILED ? take_back_end(dataset, cell) : 0;
    if (status != 0)
        return dataset_error(dataset, status, error);
    if (dataset->waiting_count == dataset->waiting_size) {
        int64_t size = dataset->waiting_size ? 2 * dataset->waiting_size : 16;
        struct waiting_result *more = realloc(dataset->waiting, (size_t)size * sizeof(*more));
        if (!more)
            return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", dataset->name);
        dataset->waiting = more;
        dataset->waiting_size = size;
    }
    dataset->waiting[dataset->waiting_count++] = (struct waiting_result){cell, *result};
    return 0;
}

static enum phase phase_of(const struct result *result)
{
    if (result->outcome == OUTCOME_DIVERGED)
        return PHASE_DIVERGED;
    if (result->outcome != OUTCOME_DONE || isnan(result->norm_growth))
        return PHASE_NONE;
    return result->norm_growth > 1 ? PHASE_GROWING : PHASE_SHRINKING;
}

/* A run may fail before its first step is reported, and so before dataset_start. It was started all the same,
 * in this session: a run that has ended without an attempt would be refused at the next start (verify.c). */
static int count_attempt(struct dataset *dataset, int64_t cell)
{
    if (dataset->outcome[cell] == OUTCOME_RUNNING)
        return 0;
    int status = put_integer(dataset, RUN_VARIABLE_attempts, cell, ++dataset->attempts[cell]);
    return status == 0 ? put_integer(dataset, RUN_VARIABLE_session, cell, dataset->session) : status;
}

/* Writes everything of a result except its outcome. */
static int put_values(struct dataset *dataset, const struct waiting_result *waiting)
{
    const struct result *result = &waiting->result;
    double speed = result->step_seconds > 0 ? (double)result->tokens / result->step_seconds : NAN;
    int64_t cell = waiting->cell;

    int status = count_attempt(dataset, cell);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_last_step, cell, result->last_step);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_diverged_step, cell, result->diverged_step);
    if (status == 0)
        status = put_real(dataset, RUN_VARIABLE_seconds, cell, result->seconds);
    if (status == 0)
        status = put_real(dataset, RUN_VARIABLE_tokens_per_second, cell, speed);
    if (status == 0)
        status = put_text(dataset, RUN_VARIABLE_reason, cell, result->reason);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_phase, cell, phase_of(result));
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_dynamics, cell, result->dynamics);
    if (status == 0)
        status = put_integer(dataset, RUN_VARIABLE_ended_early, cell, result->ended_early);
    if (status == 0 && dataset->end[cell]) {
        const struct metric_form form = form_of_cell(dataset, cell);
        status = put_row(dataset, cell, &form, STEP_OF_RUN, dataset->end[cell], 0, form.run_size);
    }
    return status;
}

int dataset_commit(struct dataset *dataset, struct error *error)
{
    int status = 0;

    if (dataset->waiting_count == 0)
        return dataset_flush(dataset, error);
    for (int64_t i = 0; status == 0 && i < dataset->waiting_count; i++)
        status = put_values(dataset, &dataset->waiting[i]);
    if (status == 0)
        status = write_buffer_sync(&dataset->buffer);
    for (int64_t i = 0; status == 0 && i < dataset->waiting_count; i++)
        status =
            put_outcome(dataset, dataset->waiting[i].cell, (enum outcome)dataset->waiting[i].result.outcome);
    if (status == 0)
        status = write_buffer_sync(&dataset->buffer);
    if (status != 0)
        return dataset_error(dataset, status, error);
    for (int64_t i = 0; i < dataset->waiting_count; i++)
        drop_end(dataset, dataset->waiting[i].cell);
    dataset->waiting_count = 0;
    return 0;
}

/* ---- reading ---- */

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

int dataset_flush(struct dataset *dataset, struct error *error)
{
    int status = write_buffer_flush(&dataset->buffer);

    return status == 0 ? 0 : dataset_error(dataset, status, error);
}
