/*
 * Paths of outputs: which file a path means, whether it may be written, and how a new file gets its name. A
 * new dataset is written under the name of output_fresh(), synced by its writer, and then renamed by
 * output_name(), so that a file with the output's name is always whole. All of it may fail, as the folder may
 * be on a server; an output that cannot be seen for a moment counts as unknown, never as absent.
 */
#include "driver/output/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

/* Follows the links in the folder of a path, but not a link that is its last component. */
static char *resolve_folder(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *folder = copy ? realpath(copy, NULL) : NULL, *whole = NULL;

    if (folder && asprintf(&whole, "%s/%s", folder, name) < 0)
        whole = NULL;
    free(copy);
    free(folder);
    return whole;
}

/* The absolute target of a link, given by an absolute path; NULL with errno EINVAL or ENOENT: it is not a
 * link. */
static char *link_target(const char *path)
{
    char target[PATH_MAX], *whole = NULL;
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length < 0)
        return NULL;
    target[length] = '\0';
    int folder = target[0] == '/' ? 0 : (int)(strrchr(path, '/') - path) + 1;
    if (asprintf(&whole, "%.*s%s", folder, path, target) >= 0)
        return whole;
    errno = ENOMEM;
    return NULL;
}

char *output_resolve(const char *path)
{
    char *whole = realpath(path, NULL);

    if (whole || errno != ENOENT)
        return whole;
    whole = resolve_folder(path);
    for (int links = 0; whole; links++) {
        char *target = link_target(whole);
        if (!target && (errno == EINVAL || errno == ENOENT))
            return whole;
        int cause = errno;
        free(whole);
        errno = cause;
        if (!target)
            return NULL;
        errno = ELOOP;
        whole = links < LINKS_MOST ? resolve_folder(target) : NULL;
        free(target);
    }
    return NULL;
}

char *output_folder(const char *path)
{
    struct stat status;
    char *named = lstat(path, &status) == 0 ? output_resolve(path) : strdup(path);
    char *folder = named ? strdup(dirname(named)) : NULL;

    free(named);
    return folder;
}

bool output_is_at_fault(int cause)
{
    static const int faults[] = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EPERM, EROFS};

    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        if (cause == faults[i])
            return true;
    return false;
}

int output_folder_fault(const char *folder)
{
    struct stat status;

    if (stat(folder, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    return access(folder, W_OK | X_OK) == 0 ? 0 : errno;
}

int output_exists(const char *path, mode_t *kind)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    *kind = status.st_mode & S_IFMT;
    return 1;
}

char *output_fresh(const char *path)
{
    mode_t kind;

    for (int i = 0;; i++) {
        char *new, number[16] = "";
        if (i > 0)
            snprintf(number, sizeof(number), ".%d", i);
        if (asprintf(&new, "%s.%ld%s.new", path, (long)getpid(), number) < 0) {
            errno = ENOMEM;
            return NULL;
        }
        int there = output_exists(new, &kind);
        if (there == 0)
            return new;
        int cause = errno;
        free(new);
        errno = cause;
        if (there < 0)
            return NULL;
    }
}

/* Falls back to link and unlink on file systems without RENAME_NOREPLACE, and to a check on those without
 * links. */
int output_name(const char *new, const char *path)
{
    struct stat status;

    if (renameat2(AT_FDCWD, new, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(new, path) == 0) {
        unlink(new); /* if this fails, the file has its name all the same */
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    if (lstat(path, &status) == 0)
        return EEXIST;
    if (errno != ENOENT)
        return errno;
    return rename(new, path) == 0 ? 0 : errno;
}
