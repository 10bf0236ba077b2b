/*
 * Writes on their way into the file. They are made in the order of their offsets, which is that of the
 * variables: outcomes come first in the file but are put into the buffer last, after a sync (see write.c). A
 * failed flush keeps the buffer, so that it can be tried again.
 */
#include "driver/dataset/ledger/inside.h"

#include <fcntl.h>
#include <sys/stat.h>

int write_buffer_open(struct write_buffer *buffer, const char *path)
{
    struct stat status;

    *buffer = (struct write_buffer){.descriptor = open(path, O_RDWR | O_CLOEXEC)};
    if (buffer->descriptor < 0)
        return errno;
    if (fstat(buffer->descriptor, &status) != 0) {
        int fault = errno;
        write_buffer_close(buffer);
        return fault;
    }
    buffer->end = status.st_size;
    buffer->bytes = malloc(WRITE_BUFFER_BYTES);
    buffer->joined = malloc(WRITE_BUFFER_BYTES);
    buffer->piece = malloc(WRITE_BUFFER_PIECES * sizeof(*buffer->piece));
    if (buffer->bytes && buffer->joined && buffer->piece)
        return 0;
    write_buffer_close(buffer);
    return ENOMEM;
}

void write_buffer_forget(struct write_buffer *buffer)
{
    buffer->used = buffer->pieces = 0;
}

int write_buffer_close(struct write_buffer *buffer)
{
    if (buffer->descriptor < 0)
        return 0;
    int status = write_buffer_sync(buffer);
    if (close(buffer->descriptor) != 0 && status == 0)
        status = errno;
    free(buffer->bytes);
    free(buffer->joined);
    free(buffer->piece);
    *buffer = (struct write_buffer){.descriptor = -1};
    return status;
}

int write_buffer_put(struct write_buffer *buffer, int64_t offset, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;

    INVARIANT(offset >= 0 && (int64_t)size <= buffer->end - offset, "%zu bytes at %lld of %lld", size,
        (long long)offset, (long long)buffer->end);
    while (size > 0) {
        size_t count = size < WRITE_BUFFER_BYTES ? size : WRITE_BUFFER_BYTES;
        if (buffer->used + count > WRITE_BUFFER_BYTES || buffer->pieces == WRITE_BUFFER_PIECES) {
            int status = write_buffer_flush(buffer);
            if (status != 0)
                return status;
        }
        struct piece *last = &buffer->piece[buffer->pieces > 0 ? buffer->pieces - 1 : 0];
        memcpy(buffer->bytes + buffer->used, from, count);
        if (buffer->pieces > 0 && last->offset + last->size == offset &&
            last->at + last->size == buffer->used)
            last->size += (uint32_t)count;
        else
            buffer->piece[buffer->pieces++] = (struct piece){offset, (uint32_t)buffer->used, (uint32_t)count};
        buffer->used += count;
        offset += (int64_t)count;
        from += count;
        size -= count;
    }
    return 0;
}

static int by_offset(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int by_age(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->at > b->at) - (a->at < b->at);
}

/* Writes `size` bytes at an offset of the file, or reads them; the file has its full length. 0 or an errno.
 */
static int move_all(bool writes, int descriptor, unsigned char *bytes, size_t size, int64_t offset)
{
    while (size > 0) {
        ssize_t moved = writes ? pwrite(descriptor, bytes, size, (off_t)offset)
                               : pread(descriptor, bytes, size, (off_t)offset);
        if (moved < 0 && errno != EINTR)
            return errno;
        if (moved == 0)
            return EIO; /* of a read: another process has cut the file short */
        if (moved > 0) {
            bytes += moved;
            offset += moved;
            size -= (size_t)moved;
        }
    }
    return 0;
}

int write_buffer_flush(struct write_buffer *buffer)
{
    struct piece *piece = buffer->piece;
    int status = 0;

    if (buffer->pieces > 0) /* else there may be no array, for lack of memory */
        qsort(piece, buffer->pieces, sizeof(*piece), by_offset);
    for (size_t first = 0, next; first < buffer->pieces && status == 0; first = next) {
        int64_t begin = piece[first].offset, end = begin; /* what neighbouring pieces cover */
        for (next = first; next < buffer->pieces && piece[next].offset <= end; next++) {
            int64_t behind = piece[next].offset + piece[next].size;
            end = behind > end ? behind : end;
        }
        qsort(&piece[first], next - first, sizeof(*piece), by_age); /* they may overlap */
        for (size_t i = first; i < next; i++)
            memcpy(buffer->joined + (piece[i].offset - begin), buffer->bytes + piece[i].at, piece[i].size);
        status = move_all(true, buffer->descriptor, buffer->joined, (size_t)(end - begin), begin);
    }
    if (status == 0)
        write_buffer_forget(buffer);
    return status;
}

int write_buffer_read(struct write_buffer *buffer, int64_t offset, void *bytes, size_t size)
{
    int status = write_buffer_flush(buffer);

    return status == 0 ? move_all(false, buffer->descriptor, bytes, size, offset) : status;
}

int write_buffer_sync(struct write_buffer *buffer)
{
    int status = write_buffer_flush(buffer);

    /* fdatasync is enough, since the length of the file never changes. */
    return status == 0 && fdatasync(buffer->descriptor) != 0 ? errno : status;
}

int write_buffer_copy(struct write_buffer *buffer, int copy, const struct breath *breath)
{
    int status = 0;

    write_buffer_flush(buffer); /* what it fails to write stays in the buffer, and goes to the copy later */
    for (int64_t offset = 0, some; status == 0 && offset < buffer->end; offset += some) {
        some = buffer->end - offset < WRITE_BUFFER_BYTES ? buffer->end - offset : WRITE_BUFFER_BYTES;
        status = move_all(false, buffer->descriptor, buffer->joined, (size_t)some, offset);
        if (status == 0)
            status = move_all(true, copy, buffer->joined, (size_t)some, offset);
        breathe(breath);
    }
    return status == 0 && fsync(copy) != 0 ? errno : status;
}

void write_buffer_turn_to(struct write_buffer *buffer, int copy)
{
    close(buffer->descriptor);
    buffer->descriptor = copy;
}
