/* The names of checkpoints, their folder, and which runs have some there. */
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

/* Sets the error. Returns its cause. */
static int folder_error(const char *folder, int cause, struct error *error)
{
    error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(cause));
    return cause;
}

static int compare_digests(const void *a, const void *b)
{
    const struct digest *left = a, *right = b;

    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    return (left->low > right->low) - (left->low < right->low);
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

static int append_file(struct checkpoint_files *files, const struct checkpoint_file *file)
{
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

int checkpoint_files_list(
    struct checkpoint_files *files, const char *folder, const struct digest *digest, struct error *error)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct checkpoint_file file;
    int status = 0;

    *files = (struct checkpoint_files){.folder = folder};
    if (!directory)
        return errno == ENOENT ? 0 : folder_error(folder, errno, error);
    while (errno = 0, status == 0 && (entry = readdir(directory)))
        if (parse_file(entry->d_name, &file) && (!digest || compare_digests(&file.name.digest, digest) == 0))
            status = append_file(files, &file);
    status = status ? status : errno;
    closedir(directory);
    if (status != 0) {
        checkpoint_files_release(files);
        return folder_error(folder, status, error);
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

int checkpoint_clear(const char *folder, bool parts_alone, struct error *error)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct checkpoint_file file;

    if (!directory && errno != ENOENT) {
        folder_error(folder, errno, error);
        return -1;
    }
    while (directory && (entry = readdir(directory)))
        if (parse_file(entry->d_name, &file) && (file.part || !parts_alone))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    return 0;
}

/* Links, so that an existing file stays; renames on file systems without links. */
static int name_part(const char *part, const char *path)
{
    if (link(part, path) != 0 && errno != EEXIST)
        return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? rename(part, path) == 0 ? 0 : errno
                                                                        : errno;
    return unlink(part) == 0 ? 0 : errno;
}

int checkpoint_put_in_place(const char *folder, const char *part, const char *path, bool once)
{
    int status = sync_file(part);

    if (status == 0 && once)
        status = name_part(part, path);
    else if (status == 0 && rename(part, path) != 0)
        status = errno;
    return status ? status : sync_folder(folder);
}

/* ---- the runs that have checkpoints ---- */

int checkpoint_set_init(struct checkpoint_set *set, const char *folder, struct error *error)
{
    struct checkpoint_files files;
    int cause = checkpoint_files_list(&files, folder, NULL, error);

    *set = (struct checkpoint_set){.session = -1};
    if (cause != 0 || files.count == 0)
        return cause;
    set->digest = malloc((size_t)files.count * sizeof(*set->digest));
    if (!set->digest) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", folder);
        checkpoint_files_release(&files);
        return ENOMEM;
    }
    for (int64_t i = 0; i < files.count; i++) {
        const struct checkpoint_file *file = &files.file[i];
        if (file->part)
            continue;
        set->session = file->name.session > set->session ? file->name.session : set->session;
        set->digest[set->count++] = file->name.digest;
    }
    checkpoint_files_release(&files);
    qsort(set->digest, (size_t)set->count, sizeof(*set->digest), compare_digests);
    int64_t kept = 0;
    for (int64_t i = 0; i < set->count; i++)
        if (i == 0 || compare_digests(&set->digest[i], &set->digest[kept - 1]) != 0)
            set->digest[kept++] = set->digest[i];
    set->count = kept;
    return 0;
}

void checkpoint_set_release(struct checkpoint_set *set)
{
    free(set->digest);
    *set = (struct checkpoint_set){.session = -1};
}

bool checkpoint_set_has(const struct checkpoint_set *set, const struct digest *digest)
{
    return set->count > 0 &&
           bsearch(digest, set->digest, (size_t)set->count, sizeof(*set->digest), compare_digests) != NULL;
}
