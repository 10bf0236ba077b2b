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

/* Follows the links in the folder of a path, but not a link that is its last component. NULL: *cause says
 * why. */
static char *resolve_folder(const char *path, int *cause)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *folder = copy ? realpath(copy, NULL) : NULL, *whole = NULL;

    *cause = copy && !folder ? errno : ENOMEM;
    if (folder && asprintf(&whole, "%s/%s", folder, name) < 0)
        whole = NULL;
    free(copy);
    free(folder);
    return whole;
}

/* The absolute target of a link, given by an absolute path. NULL: *cause says why; EINVAL or ENOENT: it is
 * not a link. */
static char *link_target(const char *path, int *cause)
{
    char target[PATH_MAX], *whole = NULL;
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    *cause = length < 0 ? errno : ENOMEM;
    if (length < 0)
        return NULL;
    target[length] = '\0';
    int folder = target[0] == '/' ? 0 : (int)(strrchr(path, '/') - path) + 1;
    return asprintf(&whole, "%.*s%s", folder, path, target) < 0 ? NULL : whole;
}

int output_resolve(const char *path, char **whole)
{
    int cause = 0;

    *whole = realpath(path, NULL);
    if (*whole || errno != ENOENT)
        return *whole ? 0 : errno;
    char *found = resolve_folder(path, &cause);
    for (int links = 0; found; links++) {
        char *target = link_target(found, &cause);
        if (!target && (cause == EINVAL || cause == ENOENT)) {
            *whole = found;
            return 0;
        }
        free(found);
        found = target && links < LINKS_MOST ? resolve_folder(target, &cause) : NULL;
        if (target && links == LINKS_MOST)
            cause = ELOOP;
        free(target);
    }
    return cause;
}

char *output_folder(const char *path)
{
    struct stat status;
    char *named = NULL;

    if (lstat(path, &status) == 0)
        output_resolve(path, &named);
    else
        named = strdup(path);
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

int output_kind(const char *path, mode_t *kind)
{
    struct stat status;

    *kind = 0;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    *kind = status.st_mode & S_IFMT;
    return 0;
}

int output_fresh(const char *path, char **new)
{
    for (int i = 0;; i++) {
        char number[16] = "";
        mode_t kind;
        if (i > 0)
            snprintf(number, sizeof(number), ".%d", i);
        if (asprintf(new, "%s.%ld%s.new", path, (long)getpid(), number) < 0) {
            *new = NULL;
            return ENOMEM;
        }
        int status = output_kind(*new, &kind);
        if (status == 0 && !kind)
            return 0;
        free(*new);
        *new = NULL;
        if (status != 0)
            return status;
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
