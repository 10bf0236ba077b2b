#include "driver/sweep/file.h"

#include "driver/text/memory.h"
#include "model/corpora/regular.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_is_same(const struct file_identity *a, const struct file_identity *b)
{
    return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

/* 0 or an errno. */
static int read_all(int file, char *text, size_t *size)
{
    ssize_t got;

    *size = 0;
    do {
        got = read(file, text + *size, FILE_MOST + 1 - *size);
        *size += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return got < 0 ? errno : 0;
}

int file_read(const char *path, char **text, size_t *size, struct file_identity *identity)
{
    struct stat status;
    int64_t length;
    int file = regular_open(path, &length);

    if (file < 0)
        return errno;
    *text = memory_new(FILE_MOST + 1, 1);
    int cause = fstat(file, &status) != 0 ? errno : read_all(file, *text, size);
    close(file);
    if (cause == 0)
        *identity = (struct file_identity){status.st_dev, status.st_ino};
    else
        free(*text);
    return cause;
}
