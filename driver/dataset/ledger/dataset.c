/*
 * The dataset as the ledger of a sweep.
 *
 * A file is laid out, filled to its full length and synced under the name OUT.nc.new; only then is it
 * renamed. From then on its header and length never change, so it can be opened at any moment and after any
 * crash; while a file still grew, readers would see values that nobody has written. Information about each
 * start is a row of the session table, which is laid out for SESSIONS_FIRST starts.
 *
 * A result is written in two steps: values, sync; outcome, sync. So the file never says that a run has ended
 * without having its values. Results that wait together share the two syncs.
 *
 * Since the header never changes, every value has a fixed place in the file; a buffer (buffer.c) writes it
 * there. The netCDF library would read a block and seek four times for each variable of each row: 340 system
 * calls for a run of three rows. A flush passes the buffer to the system, where readers see it; a sync passes
 * it to the disk.
 */
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/inside.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "worker/checkpoint/checkpoint.h"

#include <netcdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Reads the values [cells] of a count into new memory. A netCDF status. */
static int read_count(const struct dataset *dataset, int file, enum run_variable which, int **count)
{
    int variable;
    int status = lookup_variable(file, run_variable_table[which].name, &variable);

    *count = malloc((size_t)dataset->layout.sweep->cells * sizeof(**count));
    if (!*count)
        return NC_ENOMEM;
    return status == NC_NOERR ? nc_get_var_int(file, variable, *count) : status;
}

static bool has_checkpoint(const struct dataset *dataset, const struct checkpoint_set *saved, int64_t cell)
{
    const struct layout *layout = &dataset->layout;
    struct digest digest;
    struct run run;

    sweep_cell(layout->sweep, cell, &run);
    sweep_run_digest(layout->sweep, layout->corpus, &run, &digest);
    return checkpoint_set_has(saved, &digest);
}

/*
 * Makes runs pending that were under way or are retried; a netCDF status.
 *
 * A run that was under way when its coordinator died, and has no checkpoint, counts that as a death. It is
 * never the last one that a run may have: all processes died together, so nobody saw which run was at fault,
 * if any was. Deaths are written before outcomes, which say that they have yet to be counted.
 */
static int renew_runs(
    struct dataset *dataset, int file, const struct checkpoint_set *saved, bool retry_failed)
{
    const struct sweep *sweep = dataset->layout.sweep;
    bool renewed = false, counted = false;
    int variable, status = NC_NOERR;

    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        enum outcome before = (enum outcome)dataset->outcome[cell];
        enum outcome now = dataset_first_outcome(sweep, cell, before, retry_failed);
        int deaths = dataset->deaths[cell];
        if (before == OUTCOME_RUNNING && deaths < DEATHS_MOST - 1 && !has_checkpoint(dataset, saved, cell))
            deaths++;
        if (now == OUTCOME_PENDING && deaths >= DEATHS_MOST) /* it had failed, and is retried */
            deaths = 0;
        counted = counted || deaths != dataset->deaths[cell];
        renewed = renewed || now != before;
        dataset->deaths[cell] = deaths;
        dataset->outcome[cell] = (signed char)now;
    }
    if (counted)
        status = lookup_variable(file, run_variable_table[RUN_VARIABLE_deaths].name, &variable);
    if (counted && status == NC_NOERR)
        status = nc_put_var_int(file, variable, dataset->deaths);
    if (renewed && status == NC_NOERR)
        status = lookup_variable(file, run_variable_table[RUN_VARIABLE_outcome].name, &variable);
    if (renewed && status == NC_NOERR)
        status = nc_put_var_schar(file, variable, dataset->outcome);
    return status;
}

/* Writes this start's row into an open file. Returns a netCDF status. */
static int session_write(const struct dataset *dataset, int file, const struct session *session)
{
    char now[STRING_SHORT];
    time_t clock = time(NULL);
    struct tm date;
    const char *text[SESSION_NUMBER_FIRST] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = session->field,
        SESSION_VARIABLES(X)
#undef X
            [SESSION_VARIABLE_start] = now,
    };
    int status = NC_NOERR;

    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &date));
    for (int i = 0; status == NC_NOERR && i < SESSION_NUMBER_FIRST; i++) {
        const struct session_variable_row *row = &session_variable_table[i];
        size_t start[2] = {(size_t)dataset->session, 0}, count[2] = {1, (size_t)row->width};
        char field[STRING_LONG];
        int variable;
        dataset_field(field, (size_t)row->width, text[i] ? text[i] : "");
        status = lookup_variable(file, row->name, &variable);
        if (status == NC_NOERR)
            status = nc_put_vara_text(file, variable, start, count, field);
    }
    return status;
}

static int read_outcomes(struct dataset *dataset, int file)
{
    int64_t cells = dataset->layout.sweep->cells;
    int variable;

    dataset->outcome = malloc((size_t)cells);
    dataset->end = calloc((size_t)cells, sizeof(*dataset->end));
    if (!dataset->outcome || !dataset->end)
        return NC_ENOMEM;
    int status = lookup_variable(file, run_variable_table[RUN_VARIABLE_outcome].name, &variable);
    return status == NC_NOERR ? nc_get_var_schar(file, variable, dataset->outcome) : status;
}

/* Everything that needs the netCDF library; afterwards only the buffer writes. */
static int take_stock(struct dataset *dataset, int file, const struct session *session,
    const struct dataset_options *options, struct error *error)
{
    struct checkpoint_set saved;
    char *folder = folder_of(dataset->name);
    int failed = folder ? checkpoint_set_init(&saved, folder, error) : dataset_error(dataset, ENOMEM, error);

    free(folder);
    if (failed)
        return -1;
    int status = read_outcomes(dataset, file);
    if (status == NC_NOERR)
        status = read_count(dataset, file, RUN_VARIABLE_attempts, &dataset->attempts);
    if (status == NC_NOERR)
        status = read_count(dataset, file, RUN_VARIABLE_deaths, &dataset->deaths);
    if (status == NC_NOERR)
        status = renew_runs(dataset, file, &saved, options->retry_failed);
    checkpoint_set_release(&saved);
    if (status == NC_NOERR && session)
        status = session_write(dataset, file, session);
    return status == NC_NOERR ? places_find(dataset, file, error) : dataset_error(dataset, status, error);
}

/* Opens the file, which is complete and fits the sweep, for writing in place. */
static int attach_file(struct dataset *dataset, const struct session *session,
    const struct dataset_options *options, struct error *error)
{
    int file, status = nc_open(dataset->path, NC_WRITE, &file);

    if (status != NC_NOERR)
        return dataset_error(dataset, status, error);
    int result = take_stock(dataset, file, session, options, error);
    status = written_close(file);
    if (result != 0)
        return -1;
    if (status == NC_NOERR)
        status = write_buffer_open(&dataset->buffer, dataset->path);
    if (status == NC_NOERR)
        status = write_buffer_sync(&dataset->buffer);
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

static void dispose(struct dataset *dataset)
{
    for (int64_t cell = 0; dataset->end && cell < dataset->layout.sweep->cells; cell++)
        free(dataset->end[cell]);
    free(dataset->end);
    layout_release(&dataset->layout);
    free(dataset->name);
    free(dataset->path);
    free(dataset->ours);
    free(dataset->outcome);
    free(dataset->attempts);
    free(dataset->deaths);
    free(dataset->waiting);
    free(dataset);
}

static int open_named(struct dataset *dataset, const struct sweep *sweep, const struct corpus *corpus,
    const struct session *session, const struct dataset_options *options, struct error *error)
{
    struct start_plan plan;

    if (start_plan_make(&plan, dataset->name, sweep, corpus, options, error) != 0)
        return -1;
    int result = start_plan_execute(&plan, error);
    dataset->path = plan.path;
    dataset->layout = plan.layout;
    dataset->session = plan.session;
    dataset->longer = plan.longer;
    plan.path = NULL;
    plan.layout = (struct layout){0};
    start_plan_release(&plan);
    if (result != 0)
        return -1;
    return attach_file(dataset, session, options, error);
}

int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error)
{
    struct dataset *opened = malloc(sizeof(*opened));
    struct error ignored;

    if (!opened)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    *opened = (struct dataset){.name = strdup(path), .buffer.descriptor = -1};
    int result = opened->name ? open_named(opened, sweep, corpus, session, options, error)
                              : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    opened->layout.corpus = NULL;
    if (result == 0)
        *dataset = opened;
    else
        dataset_close(opened, &ignored);
    return result;
}

void dataset_forget(struct dataset *dataset)
{
    write_buffer_forget(&dataset->buffer);
}

int dataset_close(struct dataset *dataset, struct error *error)
{
    if (!dataset)
        return 0;
    int status = dataset->buffer.descriptor >= 0 ? write_buffer_sync(&dataset->buffer) : 0;
    int closed = write_buffer_close(&dataset->buffer);
    status = status == 0 ? closed : status;
    int result = status == 0 ? 0 : dataset_error(dataset, status, error);
    dispose(dataset);
    return result;
}

const signed char *dataset_outcomes(const struct dataset *dataset)
{
    return dataset->outcome;
}

const struct longer *dataset_longer(const struct dataset *dataset)
{
    return &dataset->longer;
}
