#include "model/corpus_kinds.h"
#include "model/regular.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An overcommitting kernel grants anything and kills later: what exceeds the machine is refused here. */
static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : SIZE_MAX / 2;
}

void *corpus_resize(void *memory, int64_t count, size_t size, struct error *error)
{
    void *resized = NULL;

    if ((uint64_t)count <= machine_memory() / size)
        resized = realloc(memory, count > 0 ? (size_t)count * size : size);
    if (!resized)
        error_set(error, ERROR_ENVIRONMENT, "no memory for %" PRId64 " times %zu bytes", count, size);
    return resized;
}

/* Reads up to `size` bytes: a file that grows meanwhile is cut, one that shrinks is taken as it is. */
static int read_whole(struct content *content, int file, int64_t size, const char *path, struct error *error)
{
    content->bytes = corpus_resize(NULL, size + 1, 1, error);
    if (!content->bytes)
        return error_prefix(error, "%s", path);
    while (content->size < size) {
        ssize_t got = read(file, content->bytes + content->size, (size_t)(size - content->size));
        if (got == 0)
            break;
        if (got > 0)
            content->size += got;
        else if (errno != EINTR)
            return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    }
    if (content->size == 0)
        return error_set(error, ERROR_INPUT, "%s: empty", path);
    content->bytes[content->size] = '\0';
    return 0;
}

int content_read(struct content *content, const char *path, struct error *error)
{
    int64_t size = 0;
    int file = regular_open(path, &size);

    *content = (struct content){0};
    if (file < 0)
        return error_set(error, ERROR_INPUT, "%s: %s", path, regular_why(errno));
    int status = read_whole(content, file, size, path, error);
    close(file);
    if (status != 0)
        content_release(content);
    return status;
}

void content_release(struct content *content)
{
    free(content->bytes);
    *content = (struct content){0};
}

int text_allocate(struct text *text, int64_t token_count, struct error *error)
{
    *text = (struct text){0};
    text->tokens = corpus_resize(NULL, token_count, sizeof(*text->tokens), error);
    if (!text->tokens)
        return -1;
    text->token_count = token_count;
    return 0;
}

void text_release(struct text *text)
{
    free(text->tokens);
    free(text->line);
    *text = (struct text){0};
}

/* Counts the lines, and lists them where `line` is not NULL. */
static int64_t list_lines(const struct text *text, int32_t end_of_line, struct line *line)
{
    int64_t count = 0, first = 0;

    for (int64_t i = 0; i < text->token_count; i++) {
        if (text->tokens[i] != end_of_line)
            continue;
        if (i > first) {
            if (line)
                line[count] = (struct line){first, i - first};
            count++;
        }
        first = i + 1;
    }
    return count;
}

int text_mark_lines(struct text *text, int32_t end_of_line, struct error *error)
{
    int64_t count = list_lines(text, end_of_line, NULL);

    text->line = corpus_resize(text->line, count, sizeof(*text->line), error);
    if (!text->line)
        return -1;
    text->line_count = list_lines(text, end_of_line, text->line);
    return 0;
}

int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context)
{
    if (sequences == SEQUENCES_LINES)
        return text->line_count;
    return text->token_count > 0 ? (text->token_count - 1) / context : 0;
}

int64_t text_sequence(
    const struct text *text, enum sequences sequences, int64_t context, int64_t index, const int32_t **tokens)
{
    if (sequences == SEQUENCES_STREAM) {
        *tokens = text->tokens + index * context;
        return context;
    }
    struct line line = text->line[index];
    *tokens = text->tokens + line.first;
    return line.words < context ? line.words : context;
}

void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = (int64_t)random_below((uint64_t)seed, purpose, first_draw + (uint64_t)i, (uint64_t)i + 1);
        if (j != i)
            order[i] = order[j];
        order[j] = i;
    }
}

void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch)
{
    shuffled(order, count, seed, RANDOM_PERMUTATION, (uint64_t)epoch << 40);
}
