/* The names of checkpoints and their folder. */
#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *checkpoint_format(const struct checkpoint_name *name, char text[CHECKPOINT_NAME_SIZE])
{
    char digits[DIGEST_TEXT];

    digest_format(&name->digest, digits);
    snprintf(text, CHECKPOINT_NAME_SIZE, "%s-%06" PRId64 "-%012" PRIu64 "-%012" PRId64 ".nc", digits,
        name->session, name->ticket, name->step);
    return text;
}

/* A text is a name if formatting what was read from it gives the same text. */
bool checkpoint_parse(const char *text, struct checkpoint_name *name)
{
    char again[CHECKPOINT_NAME_SIZE];
    struct checkpoint_name read;

    if (strlen(text) >= sizeof(again) ||
        sscanf(text, "%16" SCNx64 "%16" SCNx64 "-%" SCNd64 "-%" SCNu64 "-%" SCNd64, &read.digest.high,
            &read.digest.low, &read.session, &read.ticket, &read.step) != 5 ||
        read.session < 0 || read.session == INT64_MAX || read.step < 0 || /* a next session must exist */
        strcmp(checkpoint_format(&read, again), text) != 0)
        return false;
    *name = read;
    return true;
}

/* The same for a file that may be a part. */
static bool parse_file(const char *text, struct checkpoint_file *file)
{
    char whole[CHECKPOINT_NAME_SIZE];
    size_t length = strlen(text), suffix = strlen(PART_SUFFIX);

    file->part = length > suffix && strcmp(text + length - suffix, PART_SUFFIX) == 0;
    if (!file->part)
        return checkpoint_parse(text, &file->name);
    if (length - suffix >= sizeof(whole))
        return false;
    memcpy(whole, text, length - suffix);
    whole[length - suffix] = '\0';
    return checkpoint_parse(whole, &file->name);
}

/* Calls `visit` for every checkpoint or part until it returns an errno. Returns that errno, or the folder's.
 */
static int walk_folder(
    const char *folder, int (*visit)(void *context, const struct checkpoint_file *file), void *context)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct checkpoint_file file;
    int status = 0;

    if (!directory)
        return errno == ENOENT ? 0 : errno;
    while (errno = 0, status == 0 && (entry = readdir(directory)))
        if (parse_file(entry->d_name, &file))
            status = visit(context, &file);
    status = status ? status : errno;
    closedir(directory);
    return status;
}

/* Sets the error, if `cause` is not 0. Returns -1 or 0. */
static int folder_error(const char *folder, int cause, struct error *error)
{
    return cause ? error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(cause)) : 0;
}

struct walker {
    void (*visit)(void *context, const struct checkpoint_name *name);
    void *context;
};

static int visit_whole(void *context, const struct checkpoint_file *file)
{
    const struct walker *walker = context;

    if (!file->part)
        walker->visit(walker->context, &file->name);
    return 0;
}

int checkpoint_walk(const char *folder, void (*visit)(void *context, const struct checkpoint_name *name),
    void *context, struct error *error)
{
    struct walker walker = {visit, context};
    int cause = walk_folder(folder, visit_whole, &walker);

    folder_error(folder, cause, error);
    return cause;
}

struct lister {
    struct checkpoint_files *files;
    struct digest digest;
};

static int visit_listed(void *context, const struct checkpoint_file *file)
{
    const struct lister *lister = context;
    struct checkpoint_files *files = lister->files;

    if (file->name.digest.high != lister->digest.high || file->name.digest.low != lister->digest.low)
        return 0;
    if (files->count == files->size) {
        int64_t size = files->size ? 2 * files->size : 8;
        struct checkpoint_file *more = realloc(files->file, (size_t)size * sizeof(*more));
        if (!more)
            return ENOMEM;
        files->file = more;
        files->size = size;
    }
    files->file[files->count++] = *file;
    return 0;
}

int checkpoint_compare(const struct checkpoint_name *a, const struct checkpoint_name *b)
{
    if (a->session != b->session)
        return a->session > b->session ? -1 : 1;
    if (a->ticket != b->ticket)
        return a->ticket > b->ticket ? -1 : 1;
    return (a->step < b->step) - (a->step > b->step);
}

static int newest_first(const void *a, const void *b)
{
    return checkpoint_compare(
        &((const struct checkpoint_file *)a)->name, &((const struct checkpoint_file *)b)->name);
}

int checkpoint_files_list(
    struct checkpoint_files *files, const char *folder, const struct digest *digest, struct error *error)
{
    *files = (struct checkpoint_files){.folder = folder};
    struct lister lister = {files, *digest};
    if (folder_error(folder, walk_folder(folder, visit_listed, &lister), error) != 0) {
        checkpoint_files_release(files);
        return -1;
    }
    if (files->count > 0)
        qsort(files->file, (size_t)files->count, sizeof(*files->file), newest_first);
    return 0;
}

void checkpoint_files_release(struct checkpoint_files *files)
{
    free(files->file);
    *files = (struct checkpoint_files){0};
}

char *checkpoint_files_path(const struct checkpoint_files *files, int64_t index)
{
    const struct checkpoint_file *file = &files->file[index];
    char name[CHECKPOINT_NAME_SIZE], *path;

    if (asprintf(&path, "%s/%s%s", files->folder, checkpoint_format(&file->name, name),
            file->part ? PART_SUFFIX : "") < 0)
        return NULL;
    return path;
}

void checkpoint_files_remove(const struct checkpoint_files *files, int64_t index)
{
    char *path = checkpoint_files_path(files, index);

    if (path)
        unlink(path);
    free(path);
}

int checkpoint_remove(const char *folder, const struct digest *digest, struct error *error)
{
    struct checkpoint_files files;

    if (checkpoint_files_list(&files, folder, digest, error) != 0)
        return -1;
    for (int64_t i = 0; i < files.count; i++)
        checkpoint_files_remove(&files, i);
    checkpoint_files_release(&files);
    return 0;
}

/* Removes all parts from a folder, and with `whole` all checkpoints. */
static int clear_files(const char *folder, bool whole, struct error *error)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct checkpoint_file file;

    if (!directory)
        return folder_error(folder, errno == ENOENT ? 0 : errno, error);
    while ((entry = readdir(directory)))
        if (parse_file(entry->d_name, &file) && (whole || file.part))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return 0;
}

int checkpoint_clear(const char *folder, struct error *error)
{
    return clear_files(folder, true, error);
}

int checkpoint_clear_parts(const char *folder, struct error *error)
{
    return clear_files(folder, false, error);
}

/* Links, so that an existing file stays; renames on file systems without links. */
static int name_part(const char *part, const char *path, bool *there)
{
    if (link(part, path) != 0 && errno != EEXIST)
        return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? rename(part, path) == 0 ? 0 : errno
                                                                        : errno;
    *there = errno == EEXIST;
    return unlink(part) == 0 ? 0 : errno;
}

int checkpoint_put_in_place(const char *folder, const char *part, const char *path, bool *there)
{
    int status = sync_file(part);

    errno = 0;
    if (status == 0 && there)
        status = name_part(part, path, there);
    else if (status == 0 && rename(part, path) != 0)
        status = errno;
    return status ? status : sync_folder(folder);
}
