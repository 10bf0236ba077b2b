/*
 * Files of token ids as a corpus holds them: mapped, and known by the state in which they were checked, so
 * that a process that maps one later can tell whether it is still the same.
 */
#include "model/corpora/inside.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct token_file mapped_state(int file)
{
    struct stat status = {0};

    if (fstat(file, &status) != 0)
        return (struct token_file){.size = -1};
    return (struct token_file){.size = (int64_t)status.st_size,
        .device = (uint64_t)status.st_dev,
        .inode = (uint64_t)status.st_ino,
        .seconds = (int64_t)status.st_mtim.tv_sec,
        .nanoseconds = (int64_t)status.st_mtim.tv_nsec};
}

bool mapped_is_same(const struct token_file *a, const struct token_file *b)
{
    return a->size == b->size && a->device == b->device && a->inode == b->inode && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

int mapped_open(struct token_file *token_file, int file)
{
    void *bytes = mmap(NULL, (size_t)token_file->size, PROT_READ, MAP_SHARED, file, 0);

    if (bytes == MAP_FAILED)
        return -1;
    token_file->bytes = bytes;
    return 0;
}

void mapped_close(struct token_file *file)
{
    if (file->bytes)
        munmap(file->bytes, (size_t)file->size);
    *file = (struct token_file){0};
}

int mapped_attach(struct token_file *file, const struct token_file *was, const char *path)
{
    int64_t size;
    int opened, cause, status = -1;

    *file = (struct token_file){0};
    if (was->size == 0)
        return 0;
    if (!path || (opened = regular_open(path, &size, &cause)) < 0)
        return -1;
    struct token_file now = mapped_state(opened);
    now.first = was->first;
    if (mapped_is_same(&now, was) && (status = mapped_open(&now, opened)) == 0)
        *file = now;
    close(opened);
    return status;
}

void mapped_point(struct text *text, const struct token_file *file)
{
    if (!file->bytes)
        return;
    text->mapped = (const uint16_t *)(const void *)((const char *)file->bytes + file->first);
    text->token_count = (file->size - file->first) / (int64_t)sizeof(uint16_t);
}
