#include "model/corpora/corpora.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path, int64_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), cause;

    if (file < 0)
        return -1;
    if (fstat(file, &status) != 0)
        cause = errno;
    else if (S_ISREG(status.st_mode)) {
        *size = (int64_t)status.st_size;
        return file;
    } else
        cause = S_ISDIR(status.st_mode) ? EISDIR : REGULAR_NONE;
    close(file);
    errno = cause;
    return -1;
}

const char *regular_why(int cause)
{
    return cause == REGULAR_NONE ? "not a regular file" : strerror(cause);
}
