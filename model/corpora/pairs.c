/* Two parallel texts: line n of the target translates line n of the source. */
#include "model/corpora/inside.h"

#include <inttypes.h>

/*
 * Drops the pairs with an empty side, as published texts have a few. Their words stay in the vocabulary, and
 * their tokens in the text.
 */
static void leave_out_empty(struct text *text)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < text->line_count; i++) {
        if (text->line[i].words == 0 || text->source[i].words == 0)
            continue;
        text->line[kept] = text->line[i];
        text->source[kept++] = text->source[i];
    }
    text->left_out = text->line_count - kept;
    text->line_count = kept;
}

/* Reads the source, whose lines go to text->source, and behind its tokens the target. */
static int read_both(struct corpus *corpus, struct text *text, struct content *source, struct content *target,
    struct vocabulary *vocabulary, struct error *error)
{
    struct line *lines = text->line;

    corpus_digest_size(corpus, source);
    corpus_digest_size(corpus, target);
    text->line = text->source;
    if (words_read(text, vocabulary, source, true, &corpus->digest, error) != 0)
        return -1;
    int64_t sources = text->line_count;
    text->line = lines;
    text->line_count = 0;
    if (words_read(text, vocabulary, target, true, &corpus->digest, error) != 0)
        return -1;
    if (sources != text->line_count)
        return error_set(error, ERROR_INPUT,
            "%s: %" PRId64 " line%s, but %s has %" PRId64 "; line n of one translates line n of the other",
            target->path, text->line_count, text->line_count == 1 ? "" : "s", source->path, sources);
    leave_out_empty(text);
    return 0;
}

static int read_texts(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    struct vocabulary *vocabulary, enum corpus_fault *fault, struct error *error)
{
    if (read_both(corpus, &corpus->train, &files->train_source, &files->train, vocabulary, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_SOURCE;
    if (vocabulary_close(vocabulary, corpus, source, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    if (files->valid.size == 0)
        return 0;
    return read_both(corpus, &corpus->valid, &files->valid_source, &files->valid, vocabulary, error);
}

/* As many tokens as the bytes of both sides, and the ends of their last lines. */
static int64_t most_tokens(const struct content *source, const struct content *target)
{
    return target->size > 0 ? source->size + target->size + 2 : 0;
}

int pairs_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    struct vocabulary vocabulary;

    if (block_take(corpus, most_tokens(&files->train_source, &files->train),
            most_tokens(&files->valid_source, &files->valid), true, file, error) != 0)
        return error_prefix(error, "%s", files->train_source.path);
    if (vocabulary_init(&vocabulary, error) != 0)
        return -1;
    int status = read_texts(corpus, source, files, &vocabulary, fault, error);
    vocabulary_release(&vocabulary);
    return status;
}
