/* fsync of a file or of a folder by its path. A rename is on the disk once its folder is. */
#include "worker/host/inside.h"

#include <errno.h>
#include <fcntl.h>
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
