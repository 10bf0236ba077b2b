/*
 * The memory of a corpus is one block: a header page, then the arrays, which the header gives by their
 * offsets. So a file can hold the block, and other processes can map it at any address. The size that a text
 * needs is known only after it has been read, so the block is as long as its texts can need at most; pages
 * that are never touched cost nothing.
 *
 * Files of token ids are mapped, too, and known by the state in which they were checked, so that a process
 * that maps one later can tell whether it is still the same.
 */
#include "model/corpora/inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 1 << 16 }; /* a multiple of the page size of every machine */

static const char magic[16] = "normsweep text 3"; /* the number changes with the format */
static const int64_t tokens_most = INT64_C(1) << 56;
static const size_t huge_from = (size_t)32 << 20; /* bytes from which huge pages pay */

/* Offsets from the start of the block; 0: there is no such array. */
struct room {
    int64_t tokens, line, length, source, source_length;
};

struct text_image {
    int64_t token_count, line_count, length_count, source_length_count, left_out;
    struct room at;
};

struct image {
    char magic[sizeof(magic)];
    int64_t vocabulary, end_of_line, unknown;
    struct digest digest;
    struct text_image train, valid;
    struct token_file train_file, valid_file; /* without the addresses */
};

_Static_assert(sizeof(struct image) <= PAGE, "the first page holds the image");

static int64_t lay(int64_t *end, int64_t count, size_t size)
{
    int64_t begin = *end;

    *end += (count * (int64_t)size + PAGE - 1) / PAGE * PAGE;
    return begin;
}

/* A line that is a sequence takes two tokens; of pairs, empty lines are noted, too, while they are read. */
static struct room lay_text(int64_t *end, int64_t tokens, bool pairs)
{
    int64_t lines = pairs ? tokens : tokens / 2 + 1, lengths = 1;
    struct room room = {0};

    if (tokens == 0)
        return room;
    while (lengths * lengths <= 2 * tokens) /* k different lengths need at least k (k + 1) / 2 tokens */
        lengths *= 2;
    room.tokens = lay(end, tokens, sizeof(int32_t));
    room.line = lay(end, lines, sizeof(struct line));
    room.length = lay(end, lengths, sizeof(struct line_length));
    if (pairs) {
        room.source = lay(end, lines, sizeof(struct line));
        room.source_length = lay(end, lengths, sizeof(struct line_length));
    }
    return room;
}

/* Exceeding the limit on file sizes would kill the process by a signal, so the limit is checked first. */
static void *map_block(int file, int64_t size)
{
    struct rlimit limit;

    if (file < 0)
        return mmap(
            NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < (rlim_t)size || ftruncate(file, size) != 0)
        return MAP_FAILED;
    return mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static void *array_at(const struct corpus *corpus, int64_t offset)
{
    return offset ? (char *)corpus->block + offset : NULL;
}

static int64_t offset_of(const struct corpus *corpus, const void *array)
{
    return array ? (const char *)array - (const char *)corpus->block : 0;
}

static void point(const struct corpus *corpus, struct text *text, struct room at)
{
    text->tokens = array_at(corpus, at.tokens);
    text->line = array_at(corpus, at.line);
    text->length = array_at(corpus, at.length);
    text->source = array_at(corpus, at.source);
    text->source_length = array_at(corpus, at.source_length);
}

/* Huge pages make the first touch and the TLB many times cheaper. */
static void ask_for_huge_pages(int32_t *tokens, int64_t count)
{
#ifdef MADV_HUGEPAGE
    if ((size_t)count >= huge_from / sizeof(*tokens))
        madvise(tokens, (size_t)count * sizeof(*tokens), MADV_HUGEPAGE);
#else
    (void)tokens, (void)count;
#endif
}

/* ---- files of token ids ---- */

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

/* Maps the file at `path` again, if it is still the one that `was` describes; 0 without a file, too. */
static int mapped_attach(struct token_file *file, const struct token_file *was, const char *path)
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

static void mapped_close(struct token_file *file)
{
    if (file->bytes)
        munmap(file->bytes, (size_t)file->size);
    *file = (struct token_file){0};
}

/* ---- the block ---- */

int block_take(
    struct corpus *corpus, int64_t train_most, int64_t valid_most, bool pairs, int file, struct error *error)
{
    int64_t end = PAGE;
    struct room train, valid;
    void *block = MAP_FAILED;

    if (train_most <= tokens_most && valid_most <= tokens_most) {
        train = lay_text(&end, train_most, pairs);
        valid = lay_text(&end, valid_most, pairs);
        block = map_block(file, end);
    }
    if (block == MAP_FAILED)
        return error_set(error, ERROR_ENVIRONMENT,
            "no memory for its tokens: the system grants no %.4g MB of addresses (ulimit -v?)",
            (double)end / 1e6);
    corpus->block = block;
    corpus->block_size = (size_t)end;
    point(corpus, &corpus->train, train);
    point(corpus, &corpus->valid, valid);
    ask_for_huge_pages(corpus->train.tokens, train_most);
    ask_for_huge_pages(corpus->valid.tokens, valid_most);
    return 0;
}

/* Counts by length in an array as long as the longest line: pages of calloc that no length falls into are
 * free. Returns the number of lengths, -1 without memory. */
static int64_t count_lengths(
    const struct line *line, int64_t count, struct line_length *length, struct error *error)
{
    int64_t longest = 0, lengths = 0, *lines;

    for (int64_t i = 0; i < count; i++)
        longest = line[i].words > longest ? line[i].words : longest;
    lines = calloc((size_t)longest + 1, sizeof(*lines));
    if (!lines)
        return error_set(error, ERROR_ENVIRONMENT, "no memory for the lengths of its lines");
    for (int64_t i = 0; i < count; i++)
        lines[line[i].words]++;
    for (int64_t words = longest; words > 0; words--)
        if (lines[words])
            length[lengths++] = (struct line_length){words, lines[words]};
    free(lines);
    return lengths;
}

static int count_text_lengths(struct text *text, struct error *error)
{
    text->length_count = count_lengths(text->line, text->line_count, text->length, error);
    if (text->source)
        text->source_length_count = count_lengths(text->source, text->line_count, text->source_length, error);
    return text->length_count < 0 || text->source_length_count < 0 ? -1 : 0;
}

static struct text_image image_of(const struct corpus *corpus, const struct text *text)
{
    return (struct text_image){
        .token_count = text->token_count,
        .line_count = text->line_count,
        .length_count = text->length_count,
        .source_length_count = text->source_length_count,
        .left_out = text->left_out,
        .at = {offset_of(corpus, text->tokens), offset_of(corpus, text->line),
            offset_of(corpus, text->length), offset_of(corpus, text->source),
            offset_of(corpus, text->source_length)},
    };
}

int block_finish(struct corpus *corpus, struct error *error)
{
    if (count_text_lengths(&corpus->train, error) != 0 || count_text_lengths(&corpus->valid, error) != 0)
        return -1;
    struct image image = {
        .vocabulary = corpus->vocabulary,
        .end_of_line = corpus->end_of_line,
        .unknown = corpus->unknown,
        .digest = corpus->digest,
        .train = image_of(corpus, &corpus->train),
        .valid = image_of(corpus, &corpus->valid),
        .train_file = corpus->train_file,
        .valid_file = corpus->valid_file,
    };
    memcpy(image.magic, magic, sizeof(magic));
    memcpy(corpus->block, &image, sizeof(image));
    return 0;
}

void block_release(struct corpus *corpus)
{
    if (corpus->block)
        munmap(corpus->block, corpus->block_size);
    mapped_close(&corpus->train_file);
    mapped_close(&corpus->valid_file);
    *corpus = (struct corpus){.file = -1};
}

static void take_image(struct corpus *corpus, struct text *text, const struct text_image *image)
{
    text->token_count = image->token_count;
    text->line_count = image->line_count;
    text->length_count = image->length_count;
    text->source_length_count = image->source_length_count;
    text->left_out = image->left_out;
    point(corpus, text, image->at);
    if (text->tokens)
        ask_for_huge_pages(text->tokens, text->token_count);
}

int corpus_attach(struct corpus *corpus, const struct corpus_source *source, int file)
{
    struct stat status;
    void *block = MAP_FAILED;

    *corpus = (struct corpus){.file = -1};
    if (fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof(struct image))
        block = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (block == MAP_FAILED)
        return -1;
    const struct image *image = block;
    corpus->block = block;
    corpus->block_size = (size_t)status.st_size;
    if (memcmp(image->magic, magic, sizeof(magic)) != 0 ||
        mapped_attach(&corpus->train_file, &image->train_file, source->train_path) != 0 ||
        mapped_attach(&corpus->valid_file, &image->valid_file, source->valid_path) != 0) {
        block_release(corpus);
        return -1;
    }
    corpus->vocabulary = image->vocabulary;
    corpus->end_of_line = (int32_t)image->end_of_line;
    corpus->unknown = (int32_t)image->unknown;
    corpus->digest = image->digest;
    corpus->file = file;
    take_image(corpus, &corpus->train, &image->train);
    take_image(corpus, &corpus->valid, &image->valid);
    mapped_point(&corpus->train, &corpus->train_file);
    mapped_point(&corpus->valid, &corpus->valid_file);
    return 0;
}
