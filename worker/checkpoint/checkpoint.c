/*
 * A checkpoint is written under its name and ".part", sealed with a checksum, synced, and then renamed, so a
 * file without ".part" was complete once. A disk may still lose or alter a file: the seal is checked before
 * anything is read, and the previous checkpoint is kept.
 */
#include "worker/checkpoint/inside.h"

#include <netcdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 2, REASON_MOST = 256 };

/* ---- saving ---- */

static struct checkpoint_name name_of(const struct checkpoint_owner *owner, int64_t step)
{
    return (struct checkpoint_name){
        .digest = owner->digest, .session = owner->session, .ticket = owner->ticket, .step = step};
}

/*
 * Writes the file `final` of the folder, first under a name that no other process writes. Looks for the mark
 * before it writes and before it puts the file in place. A process may be stopped in between, so it looks
 * once more after that, and removes its checkpoint if the mark is gone. Weights stay: another worker, which
 * has computed the same bits, may have found them and kept no others.
 */
static int save_file(const struct checkpoint_owner *owner, const char *final, const struct snapshot *snapshot,
    bool weights_alone, struct error *error)
{
    struct checkpoint_name name = name_of(owner, snapshot->step);
    char text[CHECKPOINT_NAME_SIZE], *path = NULL, *part = NULL;
    int status = ENOMEM;

    if (asprintf(&path, "%s/%s", owner->folder, final) < 0)
        path = NULL;
    else if (asprintf(&part, "%s/%s" PART_SUFFIX, owner->folder, checkpoint_format(&name, text)) < 0)
        part = NULL;
    if (part)
        status = mark_admits(owner->folder, owner->mark);
    if (status == 0)
        status = form_write(part, &owner->digest, snapshot, weights_alone, owner->breath);
    if (status == 0 && (status = seal_put(part, owner->breath)) == SEAL_BROKEN)
        status = EIO; /* the file is not what was just written */
    if (status == 0)
        status = mark_admits(owner->folder, owner->mark);
    if (status == 0)
        status = checkpoint_put_in_place(owner->folder, part, path, weights_alone);
    if (status == 0 && !weights_alone && (status = mark_admits(owner->folder, owner->mark)) == ENOENT)
        unlink(path);
    if (status != 0 && part)
        unlink(part);
    if (status != 0)
        error_set(error, ERROR_ENVIRONMENT, "%s/%s: %s", owner->folder, final, nc_strerror(status));
    free(part);
    free(path);
    return status == 0 ? 0 : -1;
}

/* Removes what a newer checkpoint has replaced, and the remains of saves that have ended: another worker may
 * still write those of a newer ticket, and of another run. */
static void tidy_run(const struct checkpoint_owner *owner, const struct checkpoint_name *saved)
{
    struct checkpoint_files files;
    struct error ignored; /* the next save tries again */
    int kept = 0;

    if (checkpoint_files_list(&files, owner->folder, &saved->digest, &ignored) != 0)
        return;
    for (int64_t i = 0; i < files.count; i++) {
        const struct checkpoint_file *file = &files.file[i];
        bool own = !owner->shared || file->name.session == saved->session;
        bool remove = file->part ? own && checkpoint_compare(saved, &file->name) < 0 : kept >= KEPT;
        kept += !file->part;
        if (remove)
            checkpoint_files_remove(&files, i);
    }
    checkpoint_files_release(&files);
}

int checkpoint_save(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error)
{
    const struct checkpoint_name name = name_of(owner, snapshot->step);
    char text[CHECKPOINT_NAME_SIZE];

    if (save_file(owner, checkpoint_format(&name, text), snapshot, false, error) != 0)
        return -1;
    tidy_run(owner, &name);
    return 0;
}

int checkpoint_save_weights(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error)
{
    char digits[DIGEST_TEXT], name[CHECKPOINT_NAME_SIZE];

    digest_format(&owner->digest, digits);
    snprintf(name, sizeof(name), "%s" WEIGHTS_SUFFIX, digits);
    return save_file(owner, name, snapshot, true, error);
}

/* ---- loading ---- */

/* The result of trying a file. */
struct attempt {
    bool damaged;
    char why[REASON_MOST]; /* why the file is not used; "": it is used, or there is nothing to say of it */
};

/* Fills the snapshot from a file; false if the file cannot be used. */
static bool try_file(const struct checkpoint_owner *owner, const char *path, struct snapshot *snapshot,
    struct attempt *attempt)
{
    int status = path ? seal_check(path, owner->breath) : ENOMEM;

    attempt->damaged = status == SEAL_BROKEN;
    if (attempt->damaged) {
        snprintf(attempt->why, REASON_MOST, "damaged (checksum)");
        unlink(path);
        return false;
    }
    if (status == 0)
        status = form_read(path, &owner->digest, snapshot, owner->breath, attempt->why, REASON_MOST);
    if (status == ENOENT && owner->shared) /* another run has saved newer ones since the folder was read */
        return false;
    if (status != 0)
        snprintf(attempt->why, REASON_MOST, "%s", nc_strerror(status));
    return attempt->why[0] == '\0';
}

/* Is this file passed over? */
static bool is_left_out(const struct checkpoint_owner *owner, const struct checkpoint_file *file)
{
    return file->part || (owner->last && file->name.step > owner->last);
}

/*
 * Says why the files that are newer than file `used` are not used: a line for every damaged file, and one for
 * several sound files in a row.
 */
static void explain_files(const struct checkpoint_files *files, const struct attempt *attempt, int64_t used,
    void (*say)(void *context, const char *line), void *context)
{
    char name[CHECKPOINT_NAME_SIZE], *line;
    bool said = false;

    for (int64_t i = 0; say && i < used; i++) {
        if (!attempt[i].why[0] || (said && !attempt[i].damaged))
            continue;
        said = !attempt[i].damaged;
        if (asprintf(&line, "%s/%s: %s; %s", files->folder, checkpoint_format(&files->file[i].name, name),
                attempt[i].why,
                used < files->count ? "an earlier checkpoint is used" : "the run starts anew") < 0)
            continue;
        say(context, line);
        free(line);
    }
}

int checkpoint_load(const struct checkpoint_owner *owner, struct snapshot *snapshot,
    void (*say)(void *context, const char *line), void *context, struct error *error)
{
    struct checkpoint_files files;

    if (checkpoint_files_list(&files, owner->folder, &owner->digest, error) != 0)
        return -1;
    int64_t count = files.count;
    struct attempt *attempt = calloc((size_t)count + 1, sizeof(*attempt));
    int64_t used = 0;
    for (; attempt && used < count; used++) {
        if (is_left_out(owner, &files.file[used]))
            continue;
        char *path = checkpoint_files_path(&files, used);
        bool usable = try_file(owner, path, snapshot, &attempt[used]);
        free(path);
        if (usable)
            break;
    }
    if (attempt)
        explain_files(&files, attempt, used, say, context);
    free(attempt);
    checkpoint_files_release(&files);
    if (!attempt)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", owner->folder);
    return used < count;
}

int checkpoint_look(const struct checkpoint_owner *owner, int64_t *step, struct error *error)
{
    struct checkpoint_files files;
    bool found = false;

    if (checkpoint_files_list(&files, owner->folder, &owner->digest, error) != 0)
        return -1;
    for (int64_t i = 0; !found && i < files.count; i++) {
        if (is_left_out(owner, &files.file[i]))
            continue;
        char *path = checkpoint_files_path(&files, i);
        char why[REASON_MOST] = "";
        found = path && seal_check(path, owner->breath) == 0 &&
                form_look(path, &owner->digest, step, why, sizeof(why)) == 0 && !why[0];
        free(path);
    }
    checkpoint_files_release(&files);
    return found;
}
