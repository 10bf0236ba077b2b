/*
 * Corpora by their kinds: loads one from its files or draws it, and digests what runs depend on.
 * corpus_load finds the function of the kind in `loaders`; a fault says which file or key is to blame.
 */
#include "model/corpora/inside.h"

#include <math.h>
#include <unistd.h>

/* ---- bytes ---- */

static int read_bytes(struct corpus *corpus, struct text *text, struct content *content, struct error *error)
{
    int64_t there = 0;

    if (content->size == 0)
        return 0;
    if (corpus_check_memory(content->size, sizeof(*text->tokens), error) != 0)
        return error_prefix(error, "%s", content->path);
    corpus_digest_size(corpus, content);
    while ((there = content_next(content, there, &corpus->digest, error)) > 0)
        for (int64_t i = 0; i < there; i++)
            text->tokens[text->token_count++] = (unsigned char)content->bytes[i];
    if (there == 0)
        text_mark_lines(text, '\n');
    return there == 0 ? 0 : -1;
}

/* One token per byte, and one more for the end of a last line without a newline. */
static int bytes_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    (void)source;
    corpus->vocabulary = 256;
    corpus->end_of_line = '\n';
    if (block_take(corpus, files->train.size + 1, files->valid.size + 1, false, file, error) != 0)
        return error_prefix(error, "%s", files->train.path);
    if (read_bytes(corpus, &corpus->train, &files->train, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    return read_bytes(corpus, &corpus->valid, &files->valid, error);
}

/* ---- every kind ---- */

static load_function *const loaders[CORPUS_KIND_COUNT] = {[CORPUS_TEXT] = words_load,
    [CORPUS_BYTES] = bytes_load,
    [CORPUS_MARKOV] = drawn_load,
    [CORPUS_DYCK] = drawn_load,
    [CORPUS_COUNTER] = drawn_load,
    [CORPUS_TOKENS] = tokens_load,
    [CORPUS_PAIRS] = words_load,
    [CORPUS_MODULAR] = modular_load};

static int open_files(struct corpus_files *files, const struct corpus_source *source,
    enum corpus_fault *fault, struct error *error)
{
    const struct breath *breath = source->breath;

    *fault = CORPUS_FAULT_TRAIN;
    if (!source->train_path || (source->kind == CORPUS_PAIRS && !source->train_source_path))
        return error_set(error, ERROR_INPUT, "train_text is missing");
    if (content_open(&files->train_source, source->train_source_path, breath, error) != 0 ||
        content_open(&files->train, source->train_path, breath, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    if (content_open(&files->valid_source, source->valid_source_path, breath, error) != 0 ||
        content_open(&files->valid, source->valid_path, breath, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_TRAIN;
    return 0;
}

static int load_source(struct corpus *corpus, const struct corpus_source *source, int file,
    enum corpus_fault *fault, struct error *error)
{
    const struct corpus_kind_row *kind = &corpus_kind_table[source->kind];
    struct corpus_files files = {0};
    int status = 0;

    *corpus = (struct corpus){.file = -1, .unknown = -1};
    *fault = CORPUS_FAULT_SOURCE;
    digest_init(&corpus->digest);
    digest_add_string(&corpus->digest, kind->name);
    if (kind->uses & USES_FILES)
        status = open_files(&files, source, fault, error);
    if (status == 0)
        status = loaders[source->kind](corpus, source, &files, file, fault, error);
    content_close(&files.train_source);
    content_close(&files.train);
    content_close(&files.valid_source);
    content_close(&files.valid);
    if (status == 0)
        status = block_finish(corpus, error);
    if (status != 0)
        block_release(corpus);
    return status;
}

int corpus_load(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    return load_source(corpus, source, -1, fault, error);
}

int corpus_write(int file, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    struct corpus corpus;

    if (load_source(&corpus, source, file, fault, error) != 0)
        return -1;
    block_release(&corpus);
    return 0;
}

void corpus_release(struct corpus *corpus)
{
    if (corpus->block && corpus->file >= 0)
        close(corpus->file);
    block_release(corpus);
}

double corpus_unknown_share(const struct corpus *corpus)
{
    const struct text *valid = &corpus->valid;
    int64_t count = 0;

    if (corpus->unknown < 0 || valid->token_count == 0)
        return NAN;
    for (int64_t i = 0; i < valid->token_count; i++)
        count += valid->tokens[i] == corpus->unknown;
    return (double)count / (double)valid->token_count;
}
