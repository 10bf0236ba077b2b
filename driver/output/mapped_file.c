#include "driver/output/mapped_file.h"

#include "model/corpora/regular.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int mapped_file_open(struct mapped_file *file, const char *path, struct error *error)
{
    int64_t size;
    int descriptor = regular_open(path, &size), cause = 0;

    *file = (struct mapped_file){0};
    if (descriptor < 0)
        return error_set(error, ERROR_INPUT, "%s: %s", path, regular_why(errno));
    if (size > 0) {
        void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        cause = bytes == MAP_FAILED ? errno : 0;
        if (!cause)
            *file = (struct mapped_file){bytes, (size_t)size};
    }
    close(descriptor);
    return cause ? error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(cause)) : 0;
}

void mapped_file_close(struct mapped_file *file)
{
    if (file->bytes)
        munmap((void *)file->bytes, file->size);
    *file = (struct mapped_file){0};
}
