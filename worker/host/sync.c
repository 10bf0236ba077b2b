/* Files and folders by their paths: fsync, and removal. A rename is on the disk once its folder is. */
#include "worker/host/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

static int sync_path(const char *path, int flags)
{
    int descriptor = open(path, flags | O_RDONLY | O_CLOEXEC);

    if (descriptor < 0)
        return errno;
    int status = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    return status;
}

int sync_file(const char *path)
{
    return sync_path(path, 0);
}

int sync_folder(const char *path)
{
    int status = sync_path(path, O_DIRECTORY);

    return status == EINVAL ? 0 : status;
}

void remove_matching(const char *folder, const char *pattern)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (fnmatch(pattern, entry->d_name, 0) == 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}
