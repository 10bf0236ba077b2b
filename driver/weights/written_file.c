#include "driver/weights/written_file.h"

#include "driver/output/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int written_file_error(const char *path, int cause, struct error *error)
{
    return error_set(
        error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", path, strerror(cause));
}

int written_file_open(struct written_file *file, const char *path, struct error *error)
{
    *file = (struct written_file){.stream = fopen(path, "we"), .path = path};
    return file->stream ? 0 : written_file_error(path, errno, error);
}

int written_file_close(struct written_file *file, int status, struct error *error)
{
    int cause = 0;

    if (status == 0 && (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0))
        cause = errno;
    if (fclose(file->stream) != 0 && cause == 0)
        cause = errno;
    return status == 0 && cause ? written_file_error(file->path, cause, error) : status;
}
