/*
 * How a start finds or makes the file of its sweep.
 *
 * A new file, with all measurements of the old one and everything that others have added (foreign.c), is
 * written in four cases: the sweep has grown (values of an axis, steps, layers), its text has changed, the
 * session table is full, or another program has rewritten the file so that numbers no longer lie at multiples
 * of 8.
 */
#include "driver/dataset/settle.h"

#include "driver/dataset/create.h"
#include "driver/dataset/displaced.h"
#include "driver/dataset/foreign.h"
#include "driver/dataset/longer.h"
#include "driver/dataset/lookup.h"
#include "driver/dataset/prospect_inside.h"
#include "driver/dataset/session.h"
#include "driver/dataset/verify.h"
#include "driver/dataset/view_attributes.h"
#include "driver/output/folder.h"
#include "driver/output/output.h"
#include "driver/tables/dataset_tables.h"
#include "worker/host/sync.h"

#include <netcdf.h>

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int sync_folder_of(const char *path)
{
    char *copy = strdup(path);
    int status = copy ? sync_folder(dirname(copy)) : ENOMEM;

    free(copy);
    return status;
}

/* Refuses a file that does not fit on the disk, before it is full. `foreign`: bytes that others added. */
static int check_space(const struct dataset *dataset, double foreign, struct error *error)
{
    char *copy = strdup(dataset->path);
    struct statvfs disk;
    double need = (double)dataset->layout.bytes + (isnan(foreign) ? 0 : foreign);
    bool known = copy && statvfs(dirname(copy), &disk) == 0 && disk.f_blocks > 0;

    free(copy);
    if (!known || need <= (double)disk.f_bavail * (double)disk.f_frsize)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s: needs %.4g MB, but only %.4g MB are free",
        dataset->name, strerror(ENOSPC), need / 1e6, (double)disk.f_bavail * (double)disk.f_frsize / 1e6);
}

/* What a new file replaces. */
enum successor {
    SUCCESSOR_OF_NONE, /* nothing: the path does not exist */
    SUCCESSOR_OF_COPY, /* a file whose contents have been copied to the new one */
    SUCCESSOR_OF_OLD, /* a file that is renamed to OUT.nc.old, and replaces what is there */
    SUCCESSOR_OF_SHORTER, /* a file that is renamed as longer.h says, if its new name is free */
};

/* Syncs the new file and gives it its name. 0 or an errno. */
static int put_in_place(const char *path, const char *new, enum successor successor, const char *old)
{
    int status = sync_file(new);

    if (status == 0 && successor == SUCCESSOR_OF_OLD && rename(path, old) != 0)
        status = errno;
    if (status == 0 && successor == SUCCESSOR_OF_SHORTER)
        status = output_name(path, old);
    if (status == 0 && successor == SUCCESSOR_OF_COPY)
        status = rename(new, path) == 0 ? 0 : errno;
    else if (status == 0)
        status = output_name(new, path);
    return status ? status : sync_folder_of(path);
}

/* Gives the new file its name, after that the files of shorter runs went where their dataset goes. */
static int replace_file(
    const struct dataset *dataset, const char *new, enum successor successor, struct error *error)
{
    char *old = longer_old(dataset->path, dataset->longer.shorter);
    char *name = longer_old(dataset->name, dataset->longer.shorter);
    int status = old && name ? 0 : ENOMEM, result = 0;

    if (status == 0 && successor == SUCCESSOR_OF_SHORTER)
        result = folder_move_runs(dataset->name, name, error);
    if (status == 0 && result == 0)
        status = put_in_place(dataset->path, new, successor, old);
    free(old);
    free(name);
    return status == 0 ? result : dataset_error(dataset, status, error);
}

/* Removes the new file of a start that was killed; refuses anything but a regular file. `look`: removes
 * nothing. 0 or an errno. */
static int clear_new(const char *new, bool look)
{
    mode_t kind = 0;
    int there = output_exists(new, &kind);

    if (there <= 0)
        return there < 0 ? errno : 0;
    if (!S_ISREG(kind))
        return EEXIST;
    return look || unlink(new) == 0 ? 0 : errno;
}

/* Writes and names a new file, which nothing prevents; `foreign`: bytes that others added. */
static int write_new(const struct dataset *dataset, const char *new, enum successor successor,
    const struct view *view, const struct mapping *mapping, double foreign, struct error *error)
{
    int status = layout_write(&dataset->layout, new);

    if (status == NC_NOERR && view)
        status = mapping_copy(mapping, view, &dataset->layout, new);
    int result = status == NC_NOERR ? 0 : dataset_error(dataset, status, error);
    if (result == 0 && foreign != 0) /* or NaN */
        result = foreign_copy(view, mapping, &dataset->layout, new, error);
    if (result == 0)
        result = replace_file(dataset, new, successor, error);
    if (result != 0)
        unlink(new);
    return result;
}

/* Says what write_new would do. */
static int foresee_new(const struct dataset *dataset, enum successor successor, const struct view *view,
    const struct mapping *mapping, double foreign, struct error *error)
{
    static const enum prospect_fate fates[] = {[SUCCESSOR_OF_NONE] = PROSPECT_MADE,
        [SUCCESSOR_OF_COPY] = PROSPECT_REWRITTEN,
        [SUCCESSOR_OF_OLD] = PROSPECT_SET_ASIDE,
        [SUCCESSOR_OF_SHORTER] = PROSPECT_LONGER};

    dataset->prospect->fate = fates[successor];
    return foreign != 0 ? foreign_check(view, mapping, &dataset->layout, error) : 0;
}

/* Writes a new file; with all measurements of `view`, if not NULL. */
static int write_file(struct dataset *dataset, enum successor successor, const struct view *view,
    const struct mapping *mapping, struct error *error)
{
    char *new = NULL;
    double foreign = view ? foreign_bytes(view, &dataset->layout) : 0;

    layout_measure(&dataset->layout);
    if (check_space(dataset, foreign, error) != 0)
        return -1;
    int status = asprintf(&new, "%s.new", dataset->path) < 0 ? ENOMEM : clear_new(new, dataset->prospect);
    int result;
    if (status == EEXIST)
        result = error_set(error, ERROR_INPUT, "%s.new: %s", dataset->name, strerror(status));
    else if (status != 0)
        result = dataset_error(dataset, status, error);
    else if (dataset->prospect)
        result = foresee_new(dataset, successor, view, mapping, foreign, error);
    else
        result = write_new(dataset, new, successor, view, mapping, foreign, error);
    free(new);
    return result;
}

/* Is the sweep's text unchanged, with its title and notes? It may change without changing any number. */
static bool has_text(const struct view *view, const struct sweep *sweep)
{
    char *found = view_text(view, ATTRIBUTE_SWEEP);
    bool same = found && sweep->text && strcmp(found, sweep->text) == 0;

    free(found);
    return same;
}

/* --fresh renames, and overwrites by renaming, only datasets of this program. */
static int check_ours(const char *path, const char *name, const char *suffix, struct error *error)
{
    if (view_check(path, error) == 0)
        return 0;
    if (error->status == ERROR_ENVIRONMENT)
        return -1;
    return error_set(error, ERROR_INPUT, "%s%s: is not a " PROGRAM " dataset; give another -o", name, suffix);
}

/* It is unknown whether the file exists, so nothing is touched. */
static int refuse_unseen(const struct dataset *dataset, const char *suffix, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s%s: %s", dataset->name, suffix, strerror(errno));
}

/* Renames the existing file and its folder to OUT.nc.old and OUT.nc.old.d, and writes a new file. */
static int begin_anew(struct dataset *dataset, struct error *error)
{
    mode_t kind;

    if (check_ours(dataset->path, dataset->name, "", error) != 0)
        return -1;
    char *old = longer_old(dataset->path, 0);
    if (!old)
        return dataset_error(dataset, ENOMEM, error);
    int there = output_exists(old, &kind);
    int result = there < 0 ? refuse_unseen(dataset, ".old", error) : 0;
    if (there > 0)
        result = check_ours(old, dataset->name, ".old", error);
    free(old);
    if (result == 0)
        result = write_file(dataset, SUCCESSOR_OF_OLD, NULL, NULL, error);
    if (result == 0 && !dataset->prospect)
        result = folder_set_aside(dataset->name, error);
    return result;
}

/* The runs of a shorter sweep carry on: their states stay where they are. All cells are pending again, and
 * get their rows from the states. */
static int begin_longer(struct dataset *dataset, int64_t shorter, struct error *error)
{
    const struct layout *layout = &dataset->layout;

    if (longer_find(&dataset->longer, dataset->name, layout->sweep, layout->corpus, shorter, error) != 0)
        return -1;
    return write_file(dataset, SUCCESSOR_OF_SHORTER, NULL, NULL, error);
}

/* Continues the file of `view`: as it is, or in a new file if its header no longer fits the sweep. */
static int carry_on(struct dataset *dataset, const struct view *view, struct error *error)
{
    struct layout *layout = &dataset->layout;
    struct mapping mapping;

    if (verify_dataset(view, error) != 0 || mapping_init(&mapping, view, layout, error) != 0)
        return -1;
    if (mapping.shorter) {
        int64_t shorter = mapping.shorter;
        mapping_release(&mapping);
        return begin_longer(dataset, shorter, error);
    }
    int found = session_find(view, &dataset->session);
    if (found != NC_NOERR) {
        mapping_release(&mapping);
        return dataset_error(dataset, found, error);
    }
    bool full = dataset->session == view->sessions;
    layout->sessions = full ? 2 * view->sessions : view->sessions;
    layout->history = view_text(view, ATTRIBUTE_HISTORY);
    bool kept = layout->history || errno == 0;
    layout->title = view_text(view, ATTRIBUTE_TITLE);
    kept = kept && (layout->title || errno == 0);
    bool longer = layout_lengthen(layout, &view->form);
    int result = kept && layout_add_steps(layout, view->step, view->step_count) == 0
                     ? 0
                     : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", dataset->name);
    bool fits = mapping.identity && !full && !longer && layout->step_count == view->step_count &&
                has_text(view, layout->sweep) && verify_alignment(view);
    if (result == 0 && !fits)
        result = write_file(dataset, SUCCESSOR_OF_COPY, view, &mapping, error);
    if (result == 0 && dataset->prospect)
        result = prospect_keep(dataset->prospect, view, &mapping, error);
    mapping_release(&mapping);
    return result;
}

static bool is_known(const struct dataset *dataset, const struct output_file *known)
{
    struct stat status;

    if (stat(dataset->path, &status) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return known->inode == 0 ||
           (known->device == (long long)status.st_dev && known->inode == (long long)status.st_ino);
}

int dataset_settle(struct dataset *dataset, const struct dataset_options *options, struct error *error)
{
    struct view view;
    mode_t kind = 0;
    int there = output_exists(dataset->path, &kind);

    if (there < 0)
        return refuse_unseen(dataset, "", error);
    if (S_ISDIR(kind))
        return dataset_error(dataset, EISDIR, error);
    if (options->known && !is_known(dataset, options->known))
        return dataset_gone(dataset->name, there, error);
    if (!there)
        return write_file(dataset, SUCCESSOR_OF_NONE, NULL, NULL, error);
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
