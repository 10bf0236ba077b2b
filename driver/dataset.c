/*
 * The dataset as the ledger of a sweep.
 *
 * A file gets its name only once it is whole: laid out, filled to its full length and synced under the name
 * OUT.nc.new, then renamed. From then on its header and length never change, so that at any moment, after any
 * crash, it opens; a file that was still growing would give readers values that nobody has written. What
 * changes from start to start is a row of the session table, laid out for SESSIONS_FIRST starts.
 *
 * What a run came to is written in two steps: its values, a sync; its outcome, a sync. An outcome that says a
 * run has ended is therefore never there without its values, and results that wait together share the two
 * syncs. nc_sync hands the library's buffer to the system, where readers see it; fsync hands it to the disk.
 *
 * Three things make a file be written anew, beside the old one, with all that was measured: the sweep has
 * grown (values of an axis, steps, layers), its title or text is another, or the session table is full.
 */
#include "driver/dataset_ledger.h"
#include "driver/output.h"

#include <netcdf.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

int dataset_error(const struct dataset *dataset, int status, struct error *error)
{
    return layout_error(error, dataset->name, status);
}

static int sync_path(const char *path, int flags)
{
    int descriptor = open(path, flags | O_RDONLY | O_CLOEXEC);

    if (descriptor < 0)
        return errno;
    int status = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    return status;
}

static int sync_folder(const char *path)
{
    char *copy = strdup(path);
    int status = copy ? sync_path(dirname(copy), O_DIRECTORY) : ENOMEM;

    free(copy);
    return status == EINVAL ? 0 : status; /* a file system that knows no such thing */
}

/* Refuses what the disk cannot hold before it is full. */
static int check_space(const struct dataset *dataset, struct error *error)
{
    char *copy = strdup(dataset->path);
    struct statvfs disk;
    double need = (double)dataset->layout.bytes;
    bool known = copy && statvfs(dirname(copy), &disk) == 0 && disk.f_blocks > 0;

    free(copy);
    if (!known || need <= (double)disk.f_bavail * (double)disk.f_frsize)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s: it takes %.4g MB, %.4g MB are free", dataset->name,
        strerror(ENOSPC), need / 1e6, (double)disk.f_bavail * (double)disk.f_frsize / 1e6);
}

/* Gives the new file its name, and where `old` is not NULL that name to the file that has it now. */
static int put_in_place(const char *path, const char *new, const char *old)
{
    int status = sync_path(new, 0);

    if (status == 0 && old && rename(path, old) != 0)
        status = errno;
    if (status == 0 && rename(new, path) != 0)
        status = errno;
    return status ? status : sync_folder(path);
}

/* Writes the file anew; with everything of `view`, where not NULL. */
static int write_file(struct dataset *dataset, bool keep_old, const struct view *view,
    const struct mapping *mapping, struct error *error)
{
    char *new = NULL, *old = NULL;

    layout_measure(&dataset->layout);
    if (check_space(dataset, error) != 0)
        return -1;
    int status = asprintf(&new, "%s.new", dataset->path) < 0 || asprintf(&old, "%s.old", dataset->path) < 0
                     ? ENOMEM
                     : layout_write(&dataset->layout, new);
    if (status == NC_NOERR && view)
        status = mapping_copy(mapping, view, &dataset->layout, new);
    if (status == NC_NOERR)
        status = put_in_place(dataset->path, new, keep_old ? old : NULL);
    if (status != NC_NOERR && new)
        unlink(new);
    free(new);
    free(old);
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

static bool has_all_variables(const struct view *view, const struct layout *layout)
{
    int variable;
    bool all = true;

    for (int i = 0; all && i < METRIC_COUNT; i++)
        all = !layout_has(layout, i) || nc_inq_varid(view->file, metric_table[i].name, &variable) == NC_NOERR;
    for (int i = 0; all && i < RUN_VARIABLE_COUNT; i++)
        all = nc_inq_varid(view->file, run_variable_table[i].name, &variable) == NC_NOERR;
    for (int i = 0; all && i < SESSION_VARIABLE_COUNT; i++)
        all = nc_inq_varid(view->file, session_variable_table[i].name, &variable) == NC_NOERR;
    return all;
}

/* The first row of the session table that is free; its length where none is. */
static int64_t free_session(const struct view *view)
{
    for (int64_t i = 0; i < view->sessions; i++) {
        char *start = view_string(view, session_variable_table[SESSION_VARIABLE_start].name, i);
        bool used = start && start[0];
        free(start);
        if (!used)
            return i;
    }
    return view->sessions;
}

static bool has_text(const struct view *view, const char *name, const char *text)
{
    char *found = view_text(view, name);
    bool same = strcmp(found ? found : "", text) == 0;

    free(found);
    return same;
}

/* What may change without any number changing, and stands in the header. */
static bool has_texts(const struct view *view, const struct layout *layout)
{
    return has_text(view, ATTRIBUTE_TITLE, layout_title(layout->sweep)) &&
           has_text(view, ATTRIBUTE_SWEEP, layout->sweep->text ? layout->sweep->text : "");
}

/* Carries on with the file of `view`: as it is, or written anew where its header is no longer the sweep's. */
static int carry_on(struct dataset *dataset, const struct view *view, struct error *error)
{
    struct layout *layout = &dataset->layout;
    struct mapping mapping;

    if (view->tensors != LAYER_TENSOR_COUNT)
        return error_set(error, ERROR_INPUT, "%s: holds other tensors than this program's", dataset->name);
    if (mapping_init(&mapping, view, layout, error) != 0)
        return -1;
    dataset->session = free_session(view);
    bool full = dataset->session == view->sessions;
    layout->sessions = full ? 2 * view->sessions : view->sessions;
    layout->layers = view->layers > layout->layers ? view->layers : layout->layers;
    int result = layout_add_steps(layout, view->step, view->step_count) == 0
                     ? 0
                     : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", dataset->name);
    bool fits = mapping.identity && !full && layout->layers == view->layers &&
                layout->step_count == view->step_count && has_all_variables(view, layout) &&
                has_texts(view, layout);
    if (result == 0 && !fits)
        result = write_file(dataset, false, view, &mapping, error);
    mapping_release(&mapping);
    return result;
}

static int find_variables(struct dataset *dataset)
{
    int status = NC_NOERR;

    for (int i = 0; status == NC_NOERR && i < RUN_VARIABLE_COUNT; i++)
        status = nc_inq_varid(dataset->file, run_variable_table[i].name, &dataset->run[i]);
    for (int i = 0; status == NC_NOERR && i < METRIC_COUNT; i++) {
        dataset->metric[i] = -1;
        if (layout_has(&dataset->layout, i))
            status = nc_inq_varid(dataset->file, metric_table[i].name, &dataset->metric[i]);
    }
    return status;
}

static int write_session(struct dataset *dataset, const struct session *session)
{
    char now[STRING_SHORT];
    time_t clock = time(NULL);
    struct tm date;
    const char *text[SESSION_VARIABLE_COUNT] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = session->field,
        SESSION_VARIABLES(X)
#undef X
            [SESSION_VARIABLE_start] = now,
    };
    int status = NC_NOERR;

    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &date));
    for (int i = 0; status == NC_NOERR && i < SESSION_VARIABLE_COUNT; i++) {
        const struct session_variable_row *row = &session_variable_table[i];
        size_t start[2] = {(size_t)dataset->session, 0}, count[2] = {1, (size_t)row->width};
        char field[STRING_LONG];
        int variable;
        dataset_field(field, (size_t)row->width, text[i] ? text[i] : "");
        status = nc_inq_varid(dataset->file, row->name, &variable);
        if (status == NC_NOERR)
            status = nc_put_vara_text(dataset->file, variable, start, count, field);
    }
    return status;
}

/* What a cell is at the start: nothing runs yet, and what is left out may have changed. */
static enum outcome first_outcome(enum outcome outcome, bool skipped, bool retry_failed)
{
    if (outcome == OUTCOME_RUNNING || outcome == OUTCOME_SKIPPED ||
        (outcome == OUTCOME_FAILED && retry_failed))
        outcome = OUTCOME_PENDING;
    return outcome == OUTCOME_PENDING && skipped ? OUTCOME_SKIPPED : outcome;
}

static int read_outcomes(struct dataset *dataset, const struct dataset_options *options)
{
    const struct sweep *sweep = dataset->layout.sweep;
    int variable = dataset->run[RUN_VARIABLE_outcome];
    bool changed = false;

    dataset->outcome = malloc((size_t)sweep->cells);
    if (!dataset->outcome)
        return NC_ENOMEM;
    int status = nc_get_var_schar(dataset->file, variable, dataset->outcome);
    for (int64_t cell = 0; status == NC_NOERR && cell < sweep->cells; cell++) {
        enum outcome now = first_outcome(
            (enum outcome)dataset->outcome[cell], sweep_skips(sweep, cell), options->retry_failed);
        changed = changed || now != (enum outcome)dataset->outcome[cell];
        dataset->outcome[cell] = (signed char)now;
    }
    if (status == NC_NOERR && changed)
        status = nc_put_var_schar(dataset->file, variable, dataset->outcome);
    return status;
}

/* Opens the file, which is whole and fits the sweep, for writing in place. */
static int attach(struct dataset *dataset, const struct session *session,
    const struct dataset_options *options, struct error *error)
{
    int status = nc_open(dataset->path, NC_WRITE, &dataset->file);

    if (status != NC_NOERR) {
        dataset->file = -1;
        return dataset_error(dataset, status, error);
    }
    dataset->descriptor = open(dataset->path, O_RDONLY | O_CLOEXEC);
    if (dataset->descriptor < 0)
        return dataset_error(dataset, errno, error);
    status = find_variables(dataset);
    if (status == NC_NOERR)
        status = read_outcomes(dataset, options);
    if (status == NC_NOERR && session)
        status = write_session(dataset, session);
    return status == NC_NOERR ? dataset_sync(dataset, error) : dataset_error(dataset, status, error);
}

/* Nothing but a dataset of this program is renamed, or overwritten by the one that is. */
static int check_ours(const char *path, const char *name, const char *suffix, struct error *error)
{
    if (view_is_dataset(path))
        return 0;
    return error_set(error, ERROR_INPUT, "%s%s: is no dataset of " PROGRAM "; give another -o", name, suffix);
}

/* Sets the file that is there aside, as OUT.nc.old, for a new one. */
static int begin_anew(struct dataset *dataset, struct error *error)
{
    struct stat stat_;
    char *old = NULL;

    if (check_ours(dataset->path, dataset->name, "", error) != 0)
        return -1;
    if (asprintf(&old, "%s.old", dataset->path) < 0)
        return dataset_error(dataset, ENOMEM, error);
    int result = lstat(old, &stat_) == 0 ? check_ours(old, dataset->name, ".old", error) : 0;
    free(old);
    return result == 0 ? write_file(dataset, true, NULL, NULL, error) : -1;
}

/* Makes the file at the path be the sweep's. */
static int settle(struct dataset *dataset, const struct dataset_options *options, struct error *error)
{
    struct stat stat_;
    struct view view;

    bool there = stat(dataset->path, &stat_) == 0;
    if (there && S_ISDIR(stat_.st_mode))
        return dataset_error(dataset, EISDIR, error);
    if (!there)
        return write_file(dataset, false, NULL, NULL, error);
    if (options->fresh)
        return begin_anew(dataset, error);
    if (access(dataset->path, W_OK) != 0)
        return dataset_error(dataset, errno, error);
    if (view_open(&view, dataset->name, error) != 0)
        return -1;
    int result = carry_on(dataset, &view, error);
    view_close(&view);
    return result;
}

static void dispose(struct dataset *dataset)
{
    layout_release(&dataset->layout);
    free(dataset->name);
    free(dataset->path);
    free(dataset->outcome);
    free(dataset->waiting);
    free(dataset);
}

static int open_named(struct dataset *dataset, const struct sweep *sweep, const struct corpus *corpus,
    const struct session *session, const struct dataset_options *options, struct error *error)
{
    dataset->path = output_resolve(dataset->name);
    if (!dataset->path)
        return dataset_error(dataset, errno, error);
    if (layout_init(&dataset->layout, sweep, corpus, error) != 0 || settle(dataset, options, error) != 0)
        return -1;
    return attach(dataset, session, options, error);
}

int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error)
{
    struct dataset *opened = malloc(sizeof(*opened));
    struct error ignored;

    if (!opened)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    *opened = (struct dataset){.name = strdup(path), .file = -1, .descriptor = -1};
    int result = opened->name ? open_named(opened, sweep, corpus, session, options, error)
                              : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    opened->layout.corpus = NULL;
    if (result == 0)
        *dataset = opened;
    else
        dataset_close(opened, &ignored);
    return result;
}

int dataset_sync(struct dataset *dataset, struct error *error)
{
    int status = nc_sync(dataset->file);

    if (status == NC_NOERR && fsync(dataset->descriptor) != 0)
        status = errno;
    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

int dataset_flush(struct dataset *dataset, struct error *error)
{
    int status = nc_sync(dataset->file);

    return status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
}

int dataset_close(struct dataset *dataset, struct error *error)
{
    int status = NC_NOERR;

    if (!dataset)
        return 0;
    if (dataset->file >= 0)
        status = nc_close(dataset->file);
    if (dataset->descriptor >= 0) {
        if (fsync(dataset->descriptor) != 0 && status == NC_NOERR)
            status = errno;
        close(dataset->descriptor);
    }
    int result = status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
    dispose(dataset);
    return result;
}

const signed char *dataset_outcomes(const struct dataset *dataset)
{
    return dataset->outcome;
}
