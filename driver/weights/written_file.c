#include "driver/weights/written_file.h"

#include "driver/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int written_file_error(const char *path, int cause, struct error *error)
{
    return error_set(
        error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", path, strerror(cause));
}

int written_file_open(struct written_file *file, const char *path, struct error *error)
{
    *file =
        (struct written_file){path, open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
    return file->descriptor >= 0 ? 0 : written_file_error(path, errno, error);
}

int written_file_put(const struct written_file *file, const void *bytes, size_t size, struct error *error)
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t some = write(file->descriptor, from, size);
        if (some < 0 && errno != EINTR)
            return written_file_error(file->path, errno, error);
        if (some > 0) {
            from += some;
            size -= (size_t)some;
        }
    }
    return 0;
}

int written_file_close(const struct written_file *file, int status, struct error *error)
{
    int cause = status == 0 && fsync(file->descriptor) != 0 ? errno : 0;

    if (close(file->descriptor) != 0 && cause == 0)
        cause = errno;
    if (status < 0 || cause)
        unlink(file->path);
    return status == 0 && cause ? written_file_error(file->path, cause, error) : status;
}
