/*
 * Decides what a start does with the file at its output, and does it. The decision writes nothing, so that a
 * dry run is a plan that is not executed.
 *
 * A file of the same sweep, or of a part of it, is continued in place if it fits. If it does not, in one of
 * the cases of enum rewrite, a new file with all measurements of the old one, and everything that others have
 * added (additions.c), takes its place. A new file is written beside the old one, completely, and only then
 * gets its name: a start that is killed at any moment leaves the old file or the new one.
 */
#include "driver/dataset/extend/inside.h"
#include "worker/host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* ---- a file that fits ---- */

const char *const rewrite_words[REWRITE_COUNT] = {
    [REWRITE_CELLS] = "its cells are others or in another order",
    [REWRITE_STEPS] = "more steps are measured",
    [REWRITE_LENGTHS] = "it has no room for all layers, heads or tensors",
    [REWRITE_TEXT] = "the text of the sweep file has changed",
    [REWRITE_SESSIONS] = "its table of starts is full",
    [REWRITE_OFFSETS] = "another program has moved its numbers",
};

/* Seconds; a larger number is not an age. A session that was killed before it told its end has the fill value
 * in its place, which another program may have changed from NaN to a number. */
#define AGE_MOST 1e12

/* Finds the first free row of the session table, its length if none is free, and sets the sweep's clock: it
 * began with the first session, but the last one ended before now, whatever the clocks of their hosts say. */
static int find_session(struct start_plan *plan, struct error *error)
{
    const struct view *view = &plan->view;
    const struct session_variable_row *table = session_variable_table;
    double age = 0, *end = view_stored(view, table[SESSION_VARIABLE_end].name, view->sessions, error);

    if (!end)
        return -1;
    int variable, status = lookup_variable(view->file, table[SESSION_VARIABLE_start].name, &variable);
    for (plan->session = 0; status == NC_NOERR && plan->session < view->sessions; plan->session++) {
        size_t from[] = {(size_t)plan->session, 0},
               count[] = {1, (size_t)table[SESSION_VARIABLE_start].width};
        char start[STRING_LONGEST + 1] = "";
        struct tm date = {0};
        status = nc_get_vara_text(view->file, variable, from, count, start);
        if (!start[0])
            break;
        if (plan->session == 0 && strptime(start, "%Y-%m-%dT%H:%M:%SZ", &date))
            age = fmax(difftime(time(NULL), timegm(&date)), 0);
        if (end[plan->session] < AGE_MOST)
            age = fmax(age, end[plan->session]);
    }
    free(end);
    plan->zero = clock_now() - age;
    return status == NC_NOERR ? 0 : layout_error(error, plan->name, status);
}

/* Takes over what the new header has from the old one, and marks each case in which a new one is needed. */
static int fits(struct start_plan *plan, struct error *error)
{
    const struct view *view = &plan->view;
    struct layout *layout = &plan->layout;
    const char *own_text = layout->sweep->text;
    int cause = 0;

    if (find_session(plan, error) != 0)
        return -1;
    layout->history = view_text(view, ATTRIBUTE_HISTORY, &cause);
    layout->title = view_text(view, ATTRIBUTE_TITLE, &cause);
    if (cause || layout_add_steps(layout, view->step, view->step_count) != 0)
        return layout_error(error, plan->name, ENOMEM);
    plan->rewrite[REWRITE_CELLS] = !plan->match.identity;
    plan->rewrite[REWRITE_STEPS] = layout->step_count > view->step_count;
    plan->rewrite[REWRITE_LENGTHS] = layout_lengthen(layout, &view->form);
    char *text = view_text(view, ATTRIBUTE_SWEEP, NULL); /* may change without changing any number */
    plan->rewrite[REWRITE_TEXT] = !text || !own_text || strcmp(text, own_text) != 0;
    free(text);
    plan->rewrite[REWRITE_SESSIONS] = plan->session == view->sessions;
    plan->rewrite[REWRITE_OFFSETS] = !verify_alignment(view);
    layout->sessions = plan->rewrite[REWRITE_SESSIONS] ? 2 * view->sessions : view->sessions;
    plan->fate = START_CONTINUES;
    for (int i = 0; i < REWRITE_COUNT; i++)
        plan->fate = plan->rewrite[i] ? START_REWRITES : plan->fate;
    return 0;
}

/* Finds the runs of a file that is continued or rewritten. Only those that were ever started are copied. */
static int find_runs(struct start_plan *plan, struct error *error)
{
    const struct view *view = &plan->view;
    double *attempts = view_stored(view, run_variable_table[RUN_VARIABLE_attempts].name, view->cells, error);
    signed char *outcome = calloc((size_t)view->cells + 1, 1);
    int result = attempts && outcome ? view_outcomes(view, outcome, error) : -1;

    if (attempts && !outcome)
        layout_error(error, plan->name, ENOMEM);
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++) {
        int64_t to = match_cell(&plan->match, view, cell);
        bool copied = plan->fate == START_CONTINUES || attempts[cell] > 0;
        plan->kept_cell[to] = cell;
        plan->before[to] = outcome[cell];
        plan->outcome[to] = copied ? outcome[cell] : OUTCOME_PENDING;
    }
    free(attempts);
    free(outcome);
    return result;
}

/* ---- steps that have grown ---- */

char *set_aside_name(const char *path, int64_t old_steps)
{
    char *old;
    int length =
        old_steps ? asprintf(&old, "%s.%" PRId64 ".old", path, old_steps) : asprintf(&old, "%s.old", path);

    return length < 0 ? NULL : old;
}

/* Refuses to grow if the name that the dataset would get is taken. */
static int check_name(const struct start_plan *plan, struct error *error)
{
    char *old = set_aside_name(plan->path, plan->match.old_steps);
    char *name = set_aside_name(plan->name, plan->match.old_steps);
    mode_t kind = 0;
    int cause = old && name ? output_kind(old, &kind) : ENOMEM, result = 0;

    if (cause)
        result = error_set(error, ERROR_ENVIRONMENT, "%s: %s", name ? name : plan->name, strerror(cause));
    else if (kind)
        result = error_set(error, ERROR_INPUT,
            "%s: exists, and %s, whose runs have fewer steps, would be renamed to it; rename it, or give "
            "another -o",
            name, plan->name);
    free(name);
    free(old);
    return result;
}

/* Counts the runs, and those that can carry on, as a run with the same trunk has kept its state. Only reads.
 */
static int find_grown(struct start_plan *plan, struct error *error)
{
    const struct sweep *sweep = plan->layout.sweep;
    char *folder = folder_states(plan->name);
    struct checkpoint_set states = {0};
    struct digest trunk;
    struct walk walk;
    int status =
        folder ? check_name(plan, error) : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", plan->name);

    if (status == 0 && checkpoint_set_init(&states, folder, error) != 0)
        status = -1;
    if (status == 0) {
        plan->grown.old_steps = plan->match.old_steps;
        walk_init(&walk, sweep);
        for (; walk_next(&walk); plan->grown.runs++) {
            sweep_trunk_digest(sweep, plan->layout.corpus, &walk.run, &trunk);
            plan->grown.kept += checkpoint_set_has(&states, &trunk);
        }
    }
    checkpoint_set_release(&states);
    free(folder);
    return status;
}

/* A part continues its own file alone, and a whole sweep no part. A sweep that has changed is divided anew:
 * its parts have other runs. */
static int check_part(const struct start_plan *plan, struct error *error)
{
    const char *here = plan->layout.sweep->part_text;
    int cause = 0, result = 0;
    char *there = view_text(&plan->view, ATTRIBUTE_PART, &cause);
    int length = there ? (int)strcspn(there, " ") : 0; /* of "3/8" */

    if (cause)
        result = layout_error(error, plan->name, cause);
    else if (here && !there)
        result =
            error_set(error, ERROR_INPUT, "%s: holds a whole sweep, not a part; give another -o", plan->name);
    else if (there && (!here || strncmp(there, here, (size_t)length + 1) != 0))
        result = error_set(
            error, ERROR_INPUT, "%s: holds part %.*s of a sweep; give another -o", plan->name, length, there);
    else if (there && strcmp(there, here) != 0)
        result = error_set(error, ERROR_INPUT,
            "%s: holds part %.*s of a sweep, as it was when the part began; a part does not grow: give back "
            "the axes and skip that it had, or use --fresh for all parts",
            plan->name, length, there);
    free(there);
    return result;
}

/* The file of `view` holds the sweep or a part of it: it is continued, rewritten, or that of a shorter one.
 */
static int plan_old_file(struct start_plan *plan, struct error *error)
{
    if (verify_dataset(&plan->view, error) != 0 ||
        match_init(&plan->match, &plan->view, plan->layout.sweep, plan->layout.corpus, error) != 0 ||
        check_part(plan, error) != 0)
        return -1;
    if (plan->match.old_steps) { /* its states stay where they are; all cells are pending again */
        plan->fate = START_GROWS;
        return find_grown(plan, error);
    }
    return fits(plan, error) == 0 ? find_runs(plan, error) : -1;
}

/* ---- a new file ---- */

/* Refuses a file that does not fit on the disk, before it is full. */
static int check_space(const struct start_plan *plan, struct error *error)
{
    char *copy = strdup(plan->path);
    struct statvfs disk;
    double need = fmax(layout_bytes(&plan->layout), 0) + fmax(plan->additions, 0); /* NaN: not known */
    bool known = copy && statvfs(dirname(copy), &disk) == 0 && disk.f_blocks > 0;

    free(copy);
    if (!known || !(need > (double)disk.f_bavail * (double)disk.f_frsize))
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s: needs %.4g MB, but only %.4g MB are free", plan->name,
        strerror(ENOSPC), need / 1e6, (double)disk.f_bavail * (double)disk.f_frsize / 1e6);
}

/* The new file needs room and its first name, which only a start that was killed may have left behind. */
static int check_new_file(struct start_plan *plan, struct error *error)
{
    struct error refusal;
    bool refused = plan->fate == START_REWRITES &&
                   additions_find(&plan->view, &plan->match, &plan->layout, &plan->additions, &refusal) != 0;
    char *new;
    mode_t kind = 0;

    if (check_space(plan, error) != 0)
        return -1;
    if (asprintf(&new, "%s.new", plan->path) < 0)
        return layout_error(error, plan->name, ENOMEM);
    int status = output_kind(new, &kind);
    free(new);
    if (status != 0)
        return layout_error(error, plan->name, status);
    if (kind && !S_ISREG(kind))
        return error_set(error, ERROR_INPUT, "%s.new: %s", plan->name, strerror(EEXIST));
    if (refused)
        *error = refusal;
    return refused ? -1 : 0;
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

static int plan_fresh_file(struct start_plan *plan, struct error *error)
{
    mode_t kind;

    plan->fate = START_SETS_ASIDE;
    if (check_ours(plan->path, plan->name, "", error) != 0)
        return -1;
    char *old = set_aside_name(plan->path, 0);
    if (!old)
        return layout_error(error, plan->name, ENOMEM);
    int cause = output_kind(old, &kind), result = 0;
    if (cause)
        result = error_set(error, ERROR_ENVIRONMENT, "%s.old: %s", plan->name, strerror(cause));
    else if (kind)
        result = check_ours(old, plan->name, ".old", error);
    free(old);
    return result;
}

/* ---- the plan ---- */

static bool is_known(const struct start_plan *plan, const struct output_file *known)
{
    struct stat status;

    if (stat(plan->path, &status) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return known->inode == 0 ||
           (known->device == (long long)status.st_dev && known->inode == (long long)status.st_ino);
}

/* The outcome of a cell at the start: nothing runs yet, and skip may have changed. What a search for a
 * boundary has skipped stays so until the search needs it. */
static enum outcome first_outcome(
    const struct sweep *sweep, int64_t cell, enum outcome outcome, bool retry_failed)
{
    if (outcome == OUTCOME_RUNNING ||
        (outcome == OUTCOME_FAILED && retry_failed && sweep_chooses(sweep, cell)) ||
        (outcome == OUTCOME_SKIPPED && sweep->refine.kind == REFINE_NONE))
        outcome = OUTCOME_PENDING;
    return outcome == OUTCOME_PENDING && !sweep_trains(sweep, cell) ? OUTCOME_SKIPPED : outcome;
}

int dataset_gone(const char *name, bool another, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT,
        "%s: was %s while its sweep ran, so the sweep has stopped; to continue, put %s back and run the same "
        "command again",
        name, another ? "replaced by another file" : "renamed or removed", another ? "the first one" : "it");
}

static int decide(struct start_plan *plan, const struct dataset_options *options, struct error *error)
{
    mode_t kind;
    int cause = output_kind(plan->path, &kind), result = 0;

    if (cause) /* whether a file exists is unknown, so nothing is touched */
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", plan->name, strerror(cause));
    if (S_ISDIR(kind))
        return layout_error(error, plan->name, EISDIR);
    if (options->known && !is_known(plan, options->known))
        return dataset_gone(plan->name, kind != 0, error);
    if (kind && !options->fresh && access(plan->path, W_OK) != 0)
        return layout_error(error, plan->name, errno);
    if (!kind)
        plan->fate = START_MAKES;
    else if (options->fresh)
        result = plan_fresh_file(plan, error);
    else
        result = view_open(&plan->view, plan->name, error) == 0 ? plan_old_file(plan, error) : -1;
    return result == 0 && plan->fate != START_CONTINUES ? check_new_file(plan, error) : result;
}

int start_plan_make(struct start_plan *plan, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct dataset_options *options, struct error *error)
{
    size_t cells = (size_t)sweep->cells;

    *plan =
        (struct start_plan){.name = path, .view = {.file = -1}, .zero = clock_now(), .cells = sweep->cells};
    int cause = output_resolve(path, &plan->path);
    if (options->known && (cause == ENOENT || cause == ENOTDIR)) /* the output's folder is gone, too */
        return dataset_gone(path, false, error);
    if (cause)
        return layout_error(error, path, cause);
    plan->kept_cell = malloc(cells * sizeof(*plan->kept_cell));
    plan->before = calloc(cells, 1);
    plan->outcome = calloc(cells, 1);
    if (!plan->kept_cell || !plan->before || !plan->outcome) {
        layout_error(error, plan->name, ENOMEM);
        start_plan_release(plan);
        return -1;
    }
    _Static_assert(OUTCOME_PENDING == 0, "cells are pending until a file is found that holds them");
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        plan->kept_cell[cell] = -1;
    layout_init(&plan->layout, sweep, corpus);
    int result = decide(plan, options, error);
    for (int64_t cell = 0; result == 0 && cell < sweep->cells; cell++)
        plan->outcome[cell] =
            (signed char)first_outcome(sweep, cell, (enum outcome)plan->outcome[cell], options->retry_failed);
    if (result != 0)
        start_plan_release(plan);
    return result;
}

void start_plan_release(struct start_plan *plan)
{
    match_release(&plan->match);
    view_close(&plan->view);
    layout_release(&plan->layout);
    free(plan->path);
    free(plan->kept_cell);
    free(plan->before);
    free(plan->outcome);
    *plan = (struct start_plan){.view = {.file = -1}};
}

/* ---- its execution ---- */

/*
 * Syncs the new file and gives it its name. The old file, where it is kept, gets one of its own: with --fresh
 * in place of an earlier one; if steps have grown in place of no other, after the files of its runs went
 * where it goes.
 */
static int put_in_place(const struct start_plan *plan, const char *new, struct error *error)
{
    char *old = set_aside_name(plan->path, plan->grown.old_steps);
    char *name = set_aside_name(plan->name, plan->grown.old_steps), *folder = strdup(plan->path);
    int status = old && name && folder ? 0 : ENOMEM;

    if (status == 0 && plan->fate == START_GROWS && folder_move_runs(plan->name, name, error) != 0)
        status = -1;
    if (status == 0)
        status = sync_file(new);
    if (status == 0 && plan->fate == START_SETS_ASIDE)
        status = rename(plan->path, old) == 0 ? 0 : errno;
    if (status == 0 && plan->fate == START_GROWS)
        status = output_name(plan->path, old);
    if (status == 0 && plan->fate == START_REWRITES)
        status = rename(new, plan->path) == 0 ? 0 : errno;
    else if (status == 0)
        status = output_name(new, plan->path);
    if (status == 0)
        status = sync_folder(dirname(folder));
    free(old);
    free(name);
    free(folder);
    return status > 0 ? layout_error(error, plan->name, status) : status;
}

int start_plan_execute(struct start_plan *plan, struct error *error)
{
    bool copies = plan->fate == START_REWRITES;
    char *new;

    if (plan->fate == START_CONTINUES)
        return 0;
    INVARIANT(copies == (plan->view.file >= 0 && plan->fate != START_GROWS), "fate %d", (int)plan->fate);
    if (asprintf(&new, "%s.new", plan->path) < 0)
        return layout_error(error, plan->name, ENOMEM);
    if (unlink(new) != 0 && errno != ENOENT) {
        int cause = errno;
        free(new);
        return layout_error(error, plan->name, cause);
    }
    int status = layout_write(&plan->layout, new);
    int result = status == NC_NOERR ? 0 : layout_error(error, plan->name, status);
    if (result == 0 && copies)
        result = copy_runs(&plan->view, &plan->layout, plan->kept_cell, new, error);
    if (result == 0 && copies && plan->additions != 0) /* or NaN */
        result = additions_copy(&plan->view, &plan->match, &plan->layout, new, error);
    if (result == 0)
        result = put_in_place(plan, new, error);
    if (result != 0)
        unlink(new);
    else if (plan->fate == START_SETS_ASIDE)
        result = folder_set_aside(plan->name, error);
    free(new);
    return result;
}
