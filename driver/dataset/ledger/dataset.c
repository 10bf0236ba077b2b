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
#include "driver/dataset/ledger/inside.h"
#include "worker/checkpoint/checkpoint.h"

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
    int failed =
        folder ? checkpoint_set_init(&saved, folder, error) : layout_error(error, dataset->name, ENOMEM);

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
            write_text(dataset, VARIABLE_RUN, RUN_VARIABLE_reason, cell, reason);
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
        write_text(dataset, VARIABLE_SESSION, i, dataset->session, text[i] ? text[i] : "");
    write_real(
        dataset, VARIABLE_SESSION, SESSION_VARIABLE_begin, dataset->session, clock_now() - dataset->zero);
}

static int read_counts(int file, enum run_variable which, int *value)
{
    int variable, status = lookup_variable(file, run_variable_table[which].name, &variable);

    return status == NC_NOERR ? nc_get_var_int(file, variable, value) : status;
}

/* Opens the file, which is complete and fits the sweep, for writing in place: finds where the variables are
 * in it, and reads what is known of its runs, which needs the netCDF library; afterwards only the buffer
 * writes. */
static int attach_file(struct dataset *dataset, const struct start_plan *plan, const struct session *session,
    struct error *error)
{
    const struct outline outline = layout_outline(&dataset->layout);
    size_t cells = (size_t)dataset->layout.sweep->cells;
    struct view view;

    if (view_open(&view, dataset->name, error) != 0)
        return -1;
    dataset->row = variable_table_of(&outline, view.extent, view.file, &dataset->row_count);
    dataset->outcome = malloc(cells);
    dataset->attempts = malloc(cells * sizeof(*dataset->attempts));
    dataset->deaths = malloc(cells * sizeof(*dataset->deaths));
    dataset->end = calloc(cells, sizeof(*dataset->end));
    bool memory = dataset->row && dataset->outcome && dataset->attempts && dataset->deaths && dataset->end;
    int status = memory ? read_counts(view.file, RUN_VARIABLE_attempts, dataset->attempts) : NC_ENOMEM;
    if (status == NC_NOERR)
        status = read_counts(view.file, RUN_VARIABLE_deaths, dataset->deaths);
    for (int i = 0; status == NC_NOERR && i < dataset->row_count; i++)
        if (dataset->row[i].kind <= VARIABLE_SESSION && dataset->row[i].begin < 0)
            status = NC_ENOTNC;
    int result = status == NC_NOERR ? view_outcomes(&view, dataset->outcome, error)
                                    : layout_error(error, dataset->name, status);
    view_close(&view);
    if (result != 0)
        return -1;
    dataset->status = write_buffer_open(&dataset->buffer, dataset->path);
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
    int result = status == 0 ? 0 : layout_error(error, dataset->name, status);
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
