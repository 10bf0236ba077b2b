/*
 * Opens files that have to be regular ones. Reads a file of a corpus block by block, digests it on the way,
 * and adds a newline if the last line lacks one: content_open, content_next until there is no more,
 * content_close; a read may fail.
 */
#include "model/corpora/inside.h"

#include <fcntl.h>
#include <stdlib.h>
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

/* ---- block by block ---- */

enum { FIRST_ROOM = 1 << 20 };

int content_open(struct content *content, const char *path, const struct breath *breath, struct error *error)
{
    int64_t size = 0;
    int cause;

    *content = (struct content){.path = path, .breath = breath, .file = -1};
    if (!path)
        return 0;
    int file = regular_open(path, &size, &cause);
    if (file < 0)
        return error_set(error, ERROR_INPUT, "%s: %s", path, regular_why(cause));
    if (size == 0) {
        close(file);
        return error_set(error, ERROR_INPUT, "%s: empty", path);
    }
    content->file = file;
    content->size = content->left = size;
    return 0;
}

void content_close(struct content *content)
{
    if (content->path && content->file >= 0)
        close(content->file);
    free(content->bytes);
    *content = (struct content){.file = -1};
}

int64_t content_next(struct content *content, int64_t done, struct digest *digest, struct error *error)
{
    ssize_t got;

    content->there -= done;
    if (content->left == 0) {
        content->there = 0;
        return 0;
    }
    if (content->there > 0)
        memmove(content->bytes, content->bytes + done, (size_t)content->there);
    /* Makes room for at least one more byte, the added newline, and the slack after it. */
    if (!content->bytes || content->there >= content->room) {
        int64_t room = content->bytes ? 2 * content->room : FIRST_ROOM;
        char *bytes = corpus_resize(content->bytes, room + 1 + CONTENT_SLACK, 1, error);
        if (!bytes)
            return error_prefix(error, "%s", content->path);
        content->bytes = bytes;
        content->room = room;
    }

    int64_t room = content->room - content->there, most = content->left < room ? content->left : room;
    most = most < BREATH_BYTES ? most : BREATH_BYTES;
    breathe(content->breath);
    do
        got = read(content->file, content->bytes + content->there, (size_t)most);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", content->path, strerror(errno));
    if (got == 0)
        return error_set(error, ERROR_INPUT, "%s: became shorter while it was read", content->path);
    digest_add(digest, content->bytes + content->there, (size_t)got);
    content->there += got;
    content->left -= got;
    if (content->left == 0 && !content->binary && content->bytes[content->there - 1] != '\n')
        content->bytes[content->there++] = '\n';
    return content->there;
}

void corpus_digest_size(struct corpus *corpus, const struct content *content)
{
    digest_add(&corpus->digest, &content->size, sizeof(content->size));
}
