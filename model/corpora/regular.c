/* Opens files that have to be regular ones. */
#include "model/corpora/corpora.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path, int64_t *size, int *cause)
{
    struct stat status = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *cause = 0;
    if (file < 0 || fstat(file, &status) != 0)
        *cause = errno;
    else if (!S_ISREG(status.st_mode))
        *cause = S_ISDIR(status.st_mode) ? EISDIR : REGULAR_NONE;
    if (*cause == 0) {
        *size = (int64_t)status.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

const char *regular_why(int cause)
{
    return cause == REGULAR_NONE ? "not a regular file" : strerror(cause);
}
