/*
 * Files of token ids: llm.c's, with a header, and nanoGPT's, without. They are mapped, so that the ranks of a
 * machine share the pages that the system caches, and a file larger than the memory can be read. One pass
 * checks every token before the first step.
 */
#include "model/corpora/inside.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

enum { HEADER_BYTES = 1024, MAGIC = 20240520, VERSION = 1, TOKEN_BYTES = sizeof(uint16_t) };

/* llm.c's magic numbers are dates. A file without a header that begins like a date, then a small version, is
 * not to be expected. */
enum { FIRST_DATE = 20240101, LAST_DATE = 20991231, LAST_VERSION = 255 };

static const char numpy[] = "\x93NUMPY";

static int64_t header_word(const struct content *content, int word)
{
    uint32_t bytes;

    memcpy(&bytes, content->bytes + 4 * word, sizeof(bytes));
    return (int32_t)le32toh(bytes);
}

static int check_header(const struct content *content, struct error *error)
{
    int64_t version = header_word(content, 1), count = header_word(content, 2);
    int64_t tokens = (content->size - HEADER_BYTES) / TOKEN_BYTES;

    if (content->size < HEADER_BYTES)
        return error_set(error, ERROR_INPUT,
            "%s: ends inside the header of 1024 bytes that llm.c's files begin with; write it again",
            content->path);
    if (version != VERSION)
        return error_set(error, ERROR_INPUT,
            "%s: version %" PRId64 " of llm.c's files of tokens; write version %d, of 16-bit tokens",
            content->path, version, VERSION);
    if (count != tokens)
        return error_set(error, ERROR_INPUT,
            "%s: %" PRId64 " tokens follow a header that says %" PRId64 "; write the file again",
            content->path, tokens, count);
    return count > 0 ? 0 : error_set(error, ERROR_INPUT, "%s: no tokens behind its header", content->path);
}

/* Sets *first to the byte at which the tokens begin. The file has at least one token. */
static int find_first(const struct content *content, int64_t *first, struct error *error)
{
    int64_t magic = content->there >= 12 ? header_word(content, 0) : 0;

    *first = magic == MAGIC ? HEADER_BYTES : 0;
    if (magic == MAGIC)
        return check_header(content, error);
    if (magic >= FIRST_DATE && magic <= LAST_DATE && header_word(content, 1) >= 0 &&
        header_word(content, 1) <= LAST_VERSION)
        return error_set(error, ERROR_INPUT,
            "%s: magic number %" PRId64 " of llm.c; its files of 16-bit tokens have %d", content->path, magic,
            MAGIC);
    if (content->there >= (int64_t)sizeof(numpy) && memcmp(content->bytes, numpy, sizeof(numpy) - 1) == 0)
        return error_set(error, ERROR_INPUT,
            "%s: a NumPy file with a header; write the array by tofile(), which writes the tokens alone",
            content->path);
    return 0;
}

static int32_t token_at(const char *bytes, int64_t index)
{
    uint16_t token;

    memcpy(&token, bytes + TOKEN_BYTES * index, sizeof(token));
    return le16toh(token);
}

/* Finds out fast that no token is too large; the first one that is, if any, slowly. */
static int check_tokens(const struct content *content, int64_t begin, int64_t at, int64_t count,
    int64_t vocabulary, struct error *error)
{
    const char *bytes = content->bytes + begin;
    int32_t largest = 0;
    int64_t i = 0;

    for (i = 0; i < count; i++) {
        int32_t token = token_at(bytes, i);
        largest = token > largest ? token : largest;
    }
    if (largest < vocabulary)
        return 0;
    for (i = 0; token_at(bytes, i) < vocabulary;)
        i++;
    return error_set(error, ERROR_INPUT,
        "%s: token %" PRId32 " at byte %" PRId64 " is not below vocabulary %" PRId64, content->path,
        token_at(bytes, i), at + TOKEN_BYTES * i, vocabulary);
}

/* Checks the whole file; sets *first to the byte at which the tokens begin. */
static int check_file(
    struct content *content, int64_t *first, int64_t vocabulary, struct digest *digest, struct error *error)
{
    int64_t there = 0, at = 0;

    if (content->size % TOKEN_BYTES != 0)
        return error_set(error, ERROR_INPUT,
            "%s: an odd number of bytes, %" PRId64 "; write the tokens as uint16", content->path,
            content->size);
    do
        there = content_next(content, 0, digest, error);
    while (there > 0 && there < HEADER_BYTES && content->left > 0);
    if (there < 0 || find_first(content, first, error) != 0)
        return -1;
    int64_t begin = *first;
    while (there > 0) { /* the first byte that is there is number `at` of the file */
        int64_t count = (there - begin) / TOKEN_BYTES, done = begin + count * TOKEN_BYTES;
        if (check_tokens(content, begin, at + begin, count, vocabulary, error) != 0)
            return -1;
        at += done;
        begin = 0;
        there = content_next(content, done, digest, error);
    }
    return there == 0 ? 0 : -1;
}

/* Checks and maps one file. */
static int load_file(struct corpus *corpus, struct content *content, struct token_file *token_file,
    struct text *text, struct error *error)
{
    int64_t first = 0;

    content->binary = true;
    corpus_digest_size(corpus, content);
    struct token_file before = mapped_state(content->file);
    if (check_file(content, &first, corpus->vocabulary, &corpus->digest, error) != 0)
        return -1;
    struct token_file after = mapped_state(content->file);
    after.first = first;
    if (!mapped_is_same(&before, &after))
        return error_set(error, ERROR_INPUT, "%s: changed while it was read", content->path);
    if (mapped_open(&after, content->file) != 0)
        return error_set(
            error, ERROR_ENVIRONMENT, "%s: cannot be mapped: %s", content->path, strerror(errno));
    *token_file = after;
    mapped_point(text, token_file);
    return 0;
}

int tokens_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    corpus->vocabulary = source->vocabulary;
    corpus->end_of_line = (int32_t)source->vocabulary - 1;
    digest_add(&corpus->digest, &corpus->vocabulary, sizeof(corpus->vocabulary));
    if (block_take(corpus, 0, 0, false, file, error) != 0 ||
        load_file(corpus, &files->train, &corpus->train_file, &corpus->train, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    if (files->valid.size == 0)
        return 0;
    return load_file(corpus, &files->valid, &corpus->valid_file, &corpus->valid, error);
}
