#include "driver/tables/magic.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_SIZE = 4 };

/* A pipe is not read: what is taken from it would be lost to its reader. */
bool magic_is_netcdf(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char magic[MAGIC_SIZE] = "";
    struct stat status;
    ssize_t count = 0;

    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        count = pread(file, magic, MAGIC_SIZE, 0);
    close(file);
    return count == MAGIC_SIZE && (memcmp(magic, "CDF", 3) == 0 || memcmp(magic, "\x89HDF", MAGIC_SIZE) == 0);
}
