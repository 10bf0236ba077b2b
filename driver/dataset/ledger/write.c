/*
 * Writing into the open dataset. A result takes two syncs: its values, then its outcome, so that a run that
 * counts as ended has all its values, whatever is killed in between. Values of a run under way may be lost
 * with the process; its checkpoint has them, and the next start clears what is left of them before the run
 * sends them again.
 */
#include "driver/dataset/ledger/inside.h"
#include "model/core/printable.h"

#include <endian.h>
#include <math.h>

enum { NUMBERS_AT_ONCE = 64 };

/* Copies a text into a field of `width` bytes, padded with zeros. Cuts it between UTF-8 characters; bytes
 * that are not UTF-8 become '?'. */
static void fill_field(char *field, size_t width, const char *text)
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

/* ---- values ---- */

/* NULL: it is not in the file, as it is not measured. */
static const struct variable *variable_of(const struct dataset *dataset, enum variable_kind kind, int which)
{
    return variable_find(dataset->row, dataset->row_count, kind, which);
}

/* Where the values of a cell, or that of a session, begin in the file. */
static int64_t offset_of(const struct dataset *dataset, const struct variable *row, int64_t index)
{
    int64_t count = row->of_cells ? dataset->layout.sweep->cells : row->length[0];

    INVARIANT(index >= 0 && index < count && row->begin >= 0, "%s: %lld", row->name, (long long)index);
    return row->begin + index * (variable_bytes(row) / (row->of_cells ? 1 : count));
}

static void write_bytes(struct dataset *dataset, int64_t offset, const void *bytes, size_t size)
{
    if (dataset->status == 0)
        dataset->status = write_buffer_put(&dataset->buffer, offset, bytes, size);
}

/* Writes values of 8 bytes. */
static void write_numbers(struct dataset *dataset, int64_t offset, const void *value, size_t count)
{
    uint64_t number[NUMBERS_AT_ONCE];

    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < NUMBERS_AT_ONCE ? count - done : NUMBERS_AT_ONCE;
        memcpy(number, (const uint64_t *)value + done, some * sizeof(*number));
        for (size_t i = 0; i < some; i++)
            number[i] = htobe64(number[i]);
        write_bytes(dataset, offset + 8 * (int64_t)done, number, 8 * some);
    }
}

void write_integer(struct dataset *dataset, enum run_variable which, int64_t cell, int64_t value)
{
    const struct variable *row = variable_of(dataset, VARIABLE_RUN, (int)which);
    unsigned char byte = (unsigned char)value;

    INVARIANT(
        row && (row->type == NC_BYTE || row->type == NC_INT64), "an integer for variable %d", (int)which);
    if (row->type == NC_BYTE)
        write_bytes(dataset, offset_of(dataset, row, cell), &byte, 1);
    else
        write_numbers(dataset, offset_of(dataset, row, cell), &value, 1);
}

void write_real(struct dataset *dataset, enum variable_kind kind, int which, int64_t index, double value)
{
    const struct variable *row = variable_of(dataset, kind, which);

    INVARIANT(row && row->type == NC_DOUBLE, "a real number for variable %d of kind %d", which, (int)kind);
    write_numbers(dataset, offset_of(dataset, row, index), &value, 1);
}

void write_text(struct dataset *dataset, enum variable_kind kind, int which, int64_t index, const char *text)
{
    const struct variable *row = variable_of(dataset, kind, which);
    char field[STRING_LONGEST];

    INVARIANT(row && row->type == NC_CHAR, "a text for variable %d of kind %d", which, (int)kind);
    fill_field(field, (size_t)row->width, text);
    write_bytes(dataset, offset_of(dataset, row, index), field, (size_t)row->width);
}

void write_outcome(struct dataset *dataset, int64_t cell, enum outcome outcome)
{
    write_integer(dataset, RUN_VARIABLE_outcome, cell, outcome);
    if (dataset->status == 0)
        dataset->outcome[cell] = (signed char)outcome;
}

void write_flush(struct dataset *dataset)
{
    if (dataset->status == 0)
        dataset->status = write_buffer_flush(&dataset->buffer);
}

void write_sync(struct dataset *dataset)
{
    if (dataset->status == 0)
        dataset->status = write_buffer_sync(&dataset->buffer);
}

int write_end(struct dataset *dataset, struct error *error)
{
    int status = dataset->status;

    dataset->status = 0;
    return status == 0 ? 0 : layout_error(error, dataset->name, status);
}

/* Clears the values of a cell; of a metric over steps, from row `first` on. */
static void wipe_variable(struct dataset *dataset, const struct variable *row, int64_t cell, int64_t first)
{
    bool over_steps = row->kind == VARIABLE_METRIC && !metric_is_of_run((enum metric)row->which);
    int64_t offset = offset_of(dataset, row, cell), end = offset + variable_bytes(row);
    uint64_t nothing[NUMBERS_AT_ONCE];
    const double none = NAN;

    memset(nothing, row->filled ? 0xff : 0, sizeof(nothing));
    for (int i = 0; row->type == NC_DOUBLE && i < NUMBERS_AT_ONCE; i++) {
        memcpy(&nothing[i], &none, sizeof(none));
        nothing[i] = htobe64(nothing[i]);
    }
    if (over_steps)
        offset += 8 * first * (int64_t)metric_values((enum metric)row->which, &dataset->layout.form);
    for (int64_t some; offset < end; offset += some) {
        some = end - offset < (int64_t)sizeof(nothing) ? end - offset : (int64_t)sizeof(nothing);
        write_bytes(dataset, offset, nothing, (size_t)some);
    }
}

/* Clears the values of earlier attempts at a run, except rows before step `from`. */
static void wipe(struct dataset *dataset, int64_t cell, int64_t from)
{
    int64_t first = step_place(dataset->layout.step, dataset->layout.step_count, from);

    for (int i = 0; i < dataset->row_count; i++) {
        const struct variable *row = &dataset->row[i];
        bool kept = row->kind == VARIABLE_RUN &&
                    (row->which == RUN_VARIABLE_outcome || row->which == RUN_VARIABLE_attempts ||
                        row->which == RUN_VARIABLE_deaths);
        if (row->of_cells && !kept)
            wipe_variable(dataset, row, cell, first);
    }
}

static void drop_end(struct dataset *dataset, int64_t cell)
{
    free(dataset->end[cell]);
    dataset->end[cell] = NULL;
}

/* The run returns or fails, perhaps after its last step: takes back what only an ended run has. */
static void take_back_end(struct dataset *dataset, int64_t cell)
{
    static const enum metric fitted[] = {
        METRIC_fit_aligned_norm, METRIC_fit_misaligned_norm, METRIC_fit_adam_like_norm};

    drop_end(dataset, cell);
    for (size_t i = 0; i < sizeof(fitted) / sizeof(*fitted); i++) {
        const struct variable *row = variable_of(dataset, VARIABLE_METRIC, (int)fitted[i]);
        if (row)
            wipe_variable(dataset, row, cell, 0);
    }
}

int64_t dataset_session(const struct dataset *dataset)
{
    return dataset->session;
}

const struct layout *dataset_layout(const struct dataset *dataset)
{
    return &dataset->layout;
}

/* The moment on the sweep's clock, which is written as the last one of this session, too. */
static double write_moment(struct dataset *dataset)
{
    double moment = clock_now() - dataset->zero;

    write_real(dataset, VARIABLE_SESSION, SESSION_VARIABLE_end, dataset->session, moment);
    return moment;
}

int dataset_put_pace(struct dataset *dataset, const struct pace *pace, struct error *error)
{
    const double value[SESSION_VARIABLE_COUNT] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = pace->field,
        SESSION_NUMBERS(X)
#undef X
    };

    write_moment(dataset);
    for (enum session_variable i = SESSION_VARIABLE_end + 1; i < SESSION_VARIABLE_COUNT; i++)
        write_real(dataset, VARIABLE_SESSION, (int)i, dataset->session, value[i]);
    return write_end(dataset, error);
}

int dataset_put_bad_hosts(struct dataset *dataset, const char *hosts, struct error *error)
{
    write_text(dataset, VARIABLE_SESSION, SESSION_VARIABLE_bad_hosts, dataset->session, hosts);
    return write_end(dataset, error);
}

int dataset_start(
    struct dataset *dataset, int64_t cell, const char *host, int worker, int64_t from, struct error *error)
{
    if (dataset->attempts[cell] > 0)
        wipe(dataset, cell, from);
    drop_end(dataset, cell);
    write_integer(dataset, RUN_VARIABLE_attempts, cell, ++dataset->attempts[cell]);
    write_integer(dataset, RUN_VARIABLE_session, cell, dataset->session);
    write_integer(dataset, RUN_VARIABLE_worker, cell, worker);
    write_real(dataset, VARIABLE_RUN, RUN_VARIABLE_begin, cell, write_moment(dataset));
    write_text(dataset, VARIABLE_RUN, RUN_VARIABLE_host, cell, host);
    write_outcome(dataset, cell, OUTCOME_RUNNING);
    return write_end(dataset, error);
}

/* The place of a step among the dataset's, 0 for STEP_OF_RUN; -1 where the dataset does not have it. */
static int64_t row_of_step(const struct layout *layout, int64_t step)
{
    int64_t found = step_place(layout->step, layout->step_count, step);

    if (step == STEP_OF_RUN)
        return 0;
    return found < layout->step_count && layout->step[found] == step ? found : -1;
}

static struct metric_form form_of_cell(const struct dataset *dataset, int64_t cell)
{
    const struct sweep *sweep = dataset->layout.sweep;
    struct run run;

    sweep_cell(sweep, cell, &run);
    return metric_form(&run, &sweep->measure);
}

/* Writes values [offset, offset + count) of a run's row at a step that the dataset has, or of STEP_OF_RUN. */
static void write_row(struct dataset *dataset, int64_t cell, const struct metric_form *form, int64_t step,
    const double *values, size_t offset, size_t count)
{
    const struct layout *layout = &dataset->layout;
    int64_t at = row_of_step(layout, step);

    INVARIANT(at >= 0, "step %lld of cell %lld", (long long)step, (long long)cell);
    for (int i = 0; i < dataset->row_count; i++) {
        const struct variable *row = &dataset->row[i];
        enum metric metric = (enum metric)row->which;
        if (row->kind != VARIABLE_METRIC || metric_is_of_run(metric) != (step == STEP_OF_RUN))
            continue;
        int64_t begin =
            offset_of(dataset, row, cell) + 8 * at * (int64_t)metric_values(metric, &layout->form);
        size_t first = form->offset[metric], last = first + metric_values(metric, form);
        size_t from = first > offset ? first : offset;
        size_t end = last < offset + count ? last : offset + count;
        for (size_t j = from, some; j < end; j += some) {
            size_t there = layout_find(&layout->form, form, metric, j - first, &some);
            some = some < end - j ? some : end - j;
            write_numbers(dataset, begin + 8 * (int64_t)there, values + (j - offset), some);
        }
    }
}

bool dataset_has_values(
    const struct dataset *dataset, int64_t cell, int64_t step, size_t offset, size_t count)
{
    const struct metric_form form = form_of_cell(dataset, cell);
    size_t size = metric_row_size(&form, step);

    return row_of_step(&dataset->layout, step) >= 0 && offset <= size && count <= size - offset;
}

int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error)
{
    const struct metric_form form = form_of_cell(dataset, cell);

    INVARIANT(dataset_has_values(dataset, cell, step, offset, count),
        "values [%zu, %zu + %zu) at step %lld of run %lld, %zu in its row", offset, offset, count,
        (long long)step, (long long)cell, metric_row_size(&form, step));
    if (step != STEP_OF_RUN) {
        write_row(dataset, cell, &form, step, values, offset, count);
        return write_end(dataset, error);
    }
    if (!dataset->end[cell]) { /* kept until the outcome of the run is known */
        dataset->end[cell] = malloc(form.run_size * sizeof(*values));
        if (!dataset->end[cell])
            return layout_error(error, dataset->name, ENOMEM);
        for (size_t i = 0; i < form.run_size; i++)
            dataset->end[cell][i] = NAN;
    }
    memcpy(dataset->end[cell] + offset, values, count * sizeof(*values));
    return 0;
}

int dataset_return(struct dataset *dataset, int64_t cell, struct error *error)
{
    take_back_end(dataset, cell);
    write_real(dataset, VARIABLE_RUN, RUN_VARIABLE_end, cell, write_moment(dataset));
    write_outcome(dataset, cell, OUTCOME_PENDING);
    return write_end(dataset, error);
}

int dataset_leave(
    struct dataset *dataset, int64_t cell, const char *reason, enum phase phase, struct error *error)
{
    enum outcome now = (enum outcome)dataset->outcome[cell];

    if (now != OUTCOME_PENDING && now != OUTCOME_SKIPPED)
        return 0;
    if (now == OUTCOME_PENDING && dataset->attempts[cell] > 0)
        wipe(dataset, cell, 0);
    write_text(dataset, VARIABLE_RUN, RUN_VARIABLE_reason, cell, reason);
    write_integer(dataset, RUN_VARIABLE_phase, cell, phase);
    write_outcome(dataset, cell, OUTCOME_SKIPPED);
    return write_end(dataset, error);
}

int dataset_need(struct dataset *dataset, int64_t cell, struct error *error)
{
    if (dataset->outcome[cell] != OUTCOME_SKIPPED)
        return 0;
    write_text(dataset, VARIABLE_RUN, RUN_VARIABLE_reason, cell, "");
    write_integer(dataset, RUN_VARIABLE_phase, cell, PHASE_NONE);
    write_outcome(dataset, cell, OUTCOME_PENDING);
    return write_end(dataset, error);
}

const int *dataset_deaths(const struct dataset *dataset)
{
    return dataset->deaths;
}

int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error)
{
    write_integer(dataset, RUN_VARIABLE_deaths, cell, deaths);
    dataset->deaths[cell] = deaths;
    return write_end(dataset, error);
}

int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error)
{
    if (result->outcome == OUTCOME_PENDING)
        return dataset_return(dataset, cell, error);
    if (result->outcome == OUTCOME_FAILED)
        take_back_end(dataset, cell);
    write_real(dataset, VARIABLE_RUN, RUN_VARIABLE_end, cell, write_moment(dataset));
    if (write_end(dataset, error) != 0)
        return -1;
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

/* Writes everything of a result except its outcome. */
static void write_values(struct dataset *dataset, const struct waiting_result *waiting)
{
    const struct result *result = &waiting->result;
    double speed = result->step_seconds > 0 ? (double)result->tokens / result->step_seconds : NAN;
    int64_t cell = waiting->cell;

    /* A run may fail before its first step is reported, and so before dataset_start. It was started all the
     * same, in this session: a run that has ended without an attempt would be refused at the next start
     * (verify.c). */
    if (dataset->outcome[cell] != OUTCOME_RUNNING) {
        write_integer(dataset, RUN_VARIABLE_attempts, cell, ++dataset->attempts[cell]);
        write_integer(dataset, RUN_VARIABLE_session, cell, dataset->session);
    }
    write_integer(dataset, RUN_VARIABLE_last_step, cell, result->last_step);
    write_integer(dataset, RUN_VARIABLE_diverged_step, cell, result->diverged_step);
    write_real(dataset, VARIABLE_RUN, RUN_VARIABLE_seconds, cell, result->seconds);
    write_real(dataset, VARIABLE_RUN, RUN_VARIABLE_tokens_per_second, cell, speed);
    write_text(dataset, VARIABLE_RUN, RUN_VARIABLE_reason, cell, result->reason);
    write_integer(dataset, RUN_VARIABLE_phase, cell, phase_of(result));
    write_integer(dataset, RUN_VARIABLE_dynamics, cell, result->dynamics);
    write_integer(dataset, RUN_VARIABLE_ended_early, cell, result->ended_early);
    if (dataset->end[cell]) {
        const struct metric_form form = form_of_cell(dataset, cell);
        write_row(dataset, cell, &form, STEP_OF_RUN, dataset->end[cell], 0, form.run_size);
    }
}

int dataset_flush(struct dataset *dataset, struct error *error)
{
    write_flush(dataset);
    return write_end(dataset, error);
}

int dataset_commit(struct dataset *dataset, struct error *error)
{
    if (dataset->waiting_count == 0)
        return dataset_flush(dataset, error);
    for (int64_t i = 0; dataset->status == 0 && i < dataset->waiting_count; i++)
        write_values(dataset, &dataset->waiting[i]);
    write_sync(dataset);
    INVARIANT(dataset->status != 0 || dataset->buffer.used == 0, "%zu bytes of values are not on the disk",
        dataset->buffer.used);
    for (int64_t i = 0; dataset->status == 0 && i < dataset->waiting_count; i++)
        write_outcome(dataset, dataset->waiting[i].cell, (enum outcome)dataset->waiting[i].result.outcome);
    write_sync(dataset);
    if (write_end(dataset, error) != 0)
        return -1;
    for (int64_t i = 0; i < dataset->waiting_count; i++)
        drop_end(dataset, dataset->waiting[i].cell);
    dataset->waiting_count = 0;
    return 0;
}

/* ---- reading ---- */

int dataset_read(
    struct dataset *dataset, int64_t cell, enum metric metric, double *values, struct error *error)
{
    const struct variable *row = variable_of(dataset, VARIABLE_METRIC, (int)metric);
    bool of_run = metric_is_of_run(metric);
    int64_t count = of_run ? 1 : dataset->layout.step_count;

    INVARIANT(metric_values(metric, &dataset->layout.form) == 1, "%s has %zu values",
        metric_table[metric].name, metric_values(metric, &dataset->layout.form));
    for (int64_t i = 0; i < count; i++)
        values[i] = NAN;
    if (!row)
        return 0;
    if (of_run && dataset->end[cell]) { /* its outcome is not written yet */
        values[0] = dataset->end[cell][form_of_cell(dataset, cell).offset[metric]];
        return 0;
    }
    dataset->status = write_buffer_read(
        &dataset->buffer, offset_of(dataset, row, cell), values, (size_t)count * sizeof(*values));
    for (int64_t i = 0; dataset->status == 0 && i < count; i++) {
        uint64_t number;
        memcpy(&number, &values[i], sizeof(number));
        number = be64toh(number);
        memcpy(&values[i], &number, sizeof(number));
    }
    return write_end(dataset, error);
}
