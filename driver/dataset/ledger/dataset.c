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
#include "worker/host/host.h"

#include <netcdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Makes runs pending that were under way or are retried.
 *
 * A run that was under way when its coordinator died, and has no checkpoint, counts that as a death. It is
 * never the last one that a run may have: all processes died together, so nobody saw which run was at fault,
 * if any was. Deaths are in the file before outcomes, which say that they have yet to be counted. So are the
 * reasons why cells of other parts are skipped.
 */
static int renew_runs(struct dataset *dataset, const struct start_plan *plan, struct error *error)
{
    const struct sweep *sweep = dataset->layout.sweep;
    struct checkpoint_set saved;
    char *folder = folder_of(dataset->name), reason[STRING_SHORT];
    int failed = folder ? checkpoint_set_init(&saved, folder, error) : dataset_error(dataset, ENOMEM, error);

    free(folder);
    if (failed)
        return -1;
    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        int deaths = dataset->deaths[cell];
        if (dataset->outcome[cell] == OUTCOME_RUNNING && deaths < DEATHS_MOST - 1) {
            struct digest digest;
            struct run run;
            sweep_cell(sweep, cell, &run);
            sweep_run_digest(sweep, dataset->layout.corpus, &run, &digest);
            deaths += !checkpoint_set_has(&saved, &digest);
        }
        if (plan->outcome[cell] == OUTCOME_PENDING && deaths >= DEATHS_MOST) /* it is retried */
            deaths = 0;
        if (deaths != dataset->deaths[cell])
            write_integer(dataset, RUN_VARIABLE_deaths, cell, deaths);
        dataset->deaths[cell] = deaths;
    }
    checkpoint_set_release(&saved);
    for (int64_t cell = 0; sweep->part_of && cell < sweep->cells; cell++)
        if (!sweep_skips(sweep, cell) && plan->outcome[cell] == OUTCOME_SKIPPED &&
            dataset->outcome[cell] != OUTCOME_SKIPPED) {
            snprintf(reason, sizeof(reason), PART_REASON "%d/%d", sweep->part_of[cell], sweep->parts);
            write_text(dataset, RUN_VARIABLE_reason, cell, reason);
        }
    write_flush(dataset);
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        if (plan->outcome[cell] != dataset->outcome[cell])
            write_outcome(dataset, cell, (enum outcome)plan->outcome[cell]);
    return 0;
}

/* Writes this start's row of the session table. */
static void write_session(struct dataset *dataset, const struct session *session)
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

    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &date));
    for (int i = 0; i < SESSION_NUMBER_FIRST; i++)
        write_session_text(dataset, (enum session_variable)i, text[i] ? text[i] : "");
    write_session_number(dataset, SESSION_VARIABLE_begin, clock_now() - dataset->zero);
}

static int read_counts(int file, enum run_variable which, int *value)
{
    int variable, status = lookup_variable(file, run_variable_table[which].name, &variable);

    return status == NC_NOERR ? nc_get_var_int(file, variable, value) : status;
}

/* Reads outcomes, attempts and deaths of all runs. A netCDF status. */
static int read_runs(struct dataset *dataset, int file)
{
    size_t cells = (size_t)dataset->layout.sweep->cells;
    int variable, status = lookup_variable(file, run_variable_table[RUN_VARIABLE_outcome].name, &variable);

    dataset->outcome = malloc(cells);
    dataset->attempts = malloc(cells * sizeof(*dataset->attempts));
    dataset->deaths = malloc(cells * sizeof(*dataset->deaths));
    if (!dataset->outcome || !dataset->attempts || !dataset->deaths)
        return NC_ENOMEM;
    if (status == NC_NOERR)
        status = nc_get_var_schar(file, variable, dataset->outcome);
    if (status == NC_NOERR)
        status = read_counts(file, RUN_VARIABLE_attempts, dataset->attempts);
    return status == NC_NOERR ? read_counts(file, RUN_VARIABLE_deaths, dataset->deaths) : status;
}

/* Finds where the variables are in the file, and reads what is known of its runs. Needs the netCDF library;
 * afterwards only the buffer writes. */
static int read_file(struct dataset *dataset, struct error *error)
{
    const struct outline outline = layout_outline(&dataset->layout);
    struct view view;

    if (view_open(&view, dataset->name, error) != 0)
        return -1;
    dataset->row = variable_table_of(&outline, view.extent, view.file, &dataset->row_count);
    int status = dataset->row ? read_runs(dataset, view.file) : NC_ENOMEM;
    for (int i = 0; status == NC_NOERR && i < dataset->row_count; i++)
        if (dataset->row[i].kind <= VARIABLE_SESSION && dataset->row[i].begin < 0)
            status = NC_ENOTNC;
    view_close(&view);
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

/* Opens the file, which is complete and fits the sweep, for writing in place. */
static int attach_file(struct dataset *dataset, const struct start_plan *plan, const struct session *session,
    struct error *error)
{
    if (read_file(dataset, error) != 0)
        return -1;
    dataset->end = calloc((size_t)dataset->layout.sweep->cells, sizeof(*dataset->end));
    dataset->status = dataset->end ? write_buffer_open(&dataset->buffer, dataset->path) : ENOMEM;
    if (write_end(dataset, error) != 0 || renew_runs(dataset, plan, error) != 0)
        return -1;
    if (session)
        write_session(dataset, session);
    write_sync(dataset);
    return write_end(dataset, error);
}

int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error)
{
    struct dataset *opened = malloc(sizeof(*opened));
    struct start_plan plan;
    struct error ignored;

    if (!opened)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    *opened = (struct dataset){.name = strdup(path), .buffer.descriptor = -1};
    int result = opened->name ? start_plan_make(&plan, opened->name, sweep, corpus, options, error)
                              : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    if (result == 0) {
        result = start_plan_execute(&plan, error);
        opened->path = plan.path;
        opened->layout = plan.layout;
        opened->session = plan.session;
        opened->zero = plan.zero;
        opened->grown = plan.grown;
        plan.path = NULL;
        plan.layout = (struct layout){0};
        if (result == 0)
            result = attach_file(opened, &plan, session, error);
        start_plan_release(&plan);
    }
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
    int status = write_buffer_close(&dataset->buffer);
    int result = status == 0 ? 0 : dataset_error(dataset, status, error);
    for (int64_t cell = 0; dataset->end && cell < dataset->layout.sweep->cells; cell++)
        free(dataset->end[cell]);
    free(dataset->end);
    layout_release(&dataset->layout);
    free(dataset->name);
    free(dataset->path);
    free(dataset->ours);
    free(dataset->row);
    free(dataset->outcome);
    free(dataset->attempts);
    free(dataset->deaths);
    free(dataset->waiting);
    free(dataset);
    return result;
}

const signed char *dataset_outcomes(const struct dataset *dataset)
{
    return dataset->outcome;
}

const struct grown_steps *dataset_grown(const struct dataset *dataset)
{
    return &dataset->grown;
}
