#include "driver/tables/tables.h"
#include "model/corpora/regular.h"

#include <string.h>
#include <unistd.h>

enum { MAGIC_SIZE = 4 };

/* Does not read a pipe: its reader would miss the bytes that were read here. */
bool magic_is_netcdf(const char *path)
{
    int64_t size;
    int file = regular_open(path, &size);
    char magic[MAGIC_SIZE] = "";

    if (file < 0)
        return false;
    ssize_t count = pread(file, magic, MAGIC_SIZE, 0);
    close(file);
    return count == MAGIC_SIZE && (memcmp(magic, "CDF", 3) == 0 || memcmp(magic, "\x89HDF", MAGIC_SIZE) == 0);
}
