#include "model/corpora/corpus.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "model/corpora/kinds.h"
#include "model/corpora/text.h"

enum { VALID_PART = 10, VALID_LEAST = 32768, COUNTER_WORDS = 4 };

static const char *const kind_name[] = {"text", "bytes", "markov", "dyck", "counter"};

/* The two texts of a corpus that is read from files; the second may be absent. */
struct text_pair {
    struct content train, valid;
};

static int open_pair(
    struct text_pair *pair, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    *fault = CORPUS_FAULT_TRAIN;
    if (!source->train_path)
        return error_set(error, ERROR_INPUT, "train_text is missing");
    if (content_open(&pair->train, source->train_path, source->breath, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    if (source->valid_path && content_open(&pair->valid, source->valid_path, source->breath, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_TRAIN;
    return 0;
}

static void digest_size(struct corpus *corpus, const struct content *content)
{
    digest_add(&corpus->digest, &content->size, sizeof(content->size));
}

static int read_words(
    struct corpus *corpus, struct text_pair *pair, enum corpus_fault *fault, struct error *error)
{
    struct vocabulary vocabulary;

    digest_size(corpus, &pair->train);
    if (words_read_training(&corpus->train, &vocabulary, &pair->train, &corpus->digest, error) != 0)
        return -1;
    corpus->vocabulary = vocabulary.words + 1;
    corpus->end_of_line = (int32_t)vocabulary.words;
    *fault = CORPUS_FAULT_VALID;
    int status = 0;
    if (pair->valid.size > 0) {
        digest_size(corpus, &pair->valid);
        status = words_read(&corpus->valid, &vocabulary, &pair->valid, &corpus->digest, error);
    }
    vocabulary_release(&vocabulary);
    return status;
}

static int read_bytes(struct corpus *corpus, struct text *text, struct content *content, struct error *error)
{
    int64_t there = 0;

    if (content->size == 0)
        return 0;
    if (corpus_check_memory(content->size, sizeof(*text->tokens), error) != 0)
        return error_prefix(error, "%s", content->path);
    digest_size(corpus, content);
    while ((there = content_next(content, there, &corpus->digest, error)) > 0)
        for (int64_t i = 0; i < there; i++)
            text->tokens[text->token_count++] = (unsigned char)content->bytes[i];
    if (there == 0)
        text_mark_lines(text, '\n');
    return there == 0 ? 0 : -1;
}

static int read_both_bytes(
    struct corpus *corpus, struct text_pair *pair, enum corpus_fault *fault, struct error *error)
{
    corpus->vocabulary = 256;
    corpus->end_of_line = '\n';
    if (read_bytes(corpus, &corpus->train, &pair->train, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    return read_bytes(corpus, &corpus->valid, &pair->valid, error);
}

/* A text has at most one token per byte, and one more for the end of a last line without a newline. */
static int read_pair(struct corpus *corpus, const struct corpus_source *source, struct text_pair *pair,
    int file, enum corpus_fault *fault, struct error *error)
{
    if (block_take(corpus, pair->train.size + 1, pair->valid.size + 1, file, error) != 0)
        return error_prefix(error, "%s", source->train_path);
    if (source->kind == CORPUS_BYTES)
        return read_both_bytes(corpus, pair, fault, error);
    return read_words(corpus, pair, fault, error);
}

static int load_files(struct corpus *corpus, const struct corpus_source *source, int file,
    enum corpus_fault *fault, struct error *error)
{
    struct text_pair pair = {{0}, {0}};
    int status = open_pair(&pair, source, fault, error);

    if (status == 0)
        status = read_pair(corpus, source, &pair, file, fault, error);
    content_close(&pair.train);
    content_close(&pair.valid);
    return status;
}

static int check_source(const struct corpus_source *source, struct error *error)
{
    int64_t vocabulary = source->vocabulary, least = source->kind == CORPUS_DYCK ? 3 : 2;

    if (source->tokens < 1)
        return error_set(error, ERROR_INPUT, "corpus_tokens: %" PRId64 " is below 1", source->tokens);
    if (source->kind == CORPUS_COUNTER)
        return 0;
    if (vocabulary < least)
        return error_set(error, ERROR_INPUT, "vocabulary: %" PRId64 " is below %" PRId64 ", the least for %s",
            vocabulary, least, kind_name[source->kind]);
    if (vocabulary > INT32_MAX)
        return error_set(
            error, ERROR_INPUT, "vocabulary: %" PRId64 " is above %" PRId32, vocabulary, INT32_MAX);
    if (source->kind == CORPUS_DYCK && vocabulary % 2 == 0)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %" PRId64
            " is even; dyck has two words for each kind of bracket and one for the end of a line",
            vocabulary);
    return 0;
}

/* `markov` is the chain of a markov source, not used for other kinds. */
static void draw_text(struct text *text, const struct corpus_source *source, const struct markov *markov,
    int64_t tokens, enum random_purpose purpose)
{
    text->token_count = tokens;
    if (source->kind == CORPUS_MARKOV)
        markov_draw(markov, source->seed, purpose, source->breath, text);
    else if (source->kind == CORPUS_DYCK)
        dyck_draw(source->vocabulary / 2, source->seed, purpose, source->breath, text);
    else
        counter_draw(source->seed, purpose, source->breath, text);
    text_mark_lines(
        text, source->kind == CORPUS_COUNTER ? COUNTER_WORDS - 1 : (int32_t)source->vocabulary - 1);
}

static void digest_source(struct corpus *corpus, const struct corpus_source *source)
{
    digest_add(&corpus->digest, &corpus->vocabulary, sizeof(corpus->vocabulary));
    digest_add(&corpus->digest, &source->tokens, sizeof(source->tokens));
    digest_add(&corpus->digest, &source->seed, sizeof(source->seed));
}

static int64_t valid_tokens(const struct corpus_source *source)
{
    int64_t part = source->tokens / VALID_PART;
    return part < VALID_LEAST ? VALID_LEAST : part;
}

static int draw_corpus(
    struct corpus *corpus, const struct corpus_source *source, int file, struct error *error)
{
    struct markov markov = {0};

    if (corpus_check_memory(source->tokens, sizeof(*corpus->train.tokens), error) != 0 ||
        block_take(corpus, source->tokens, valid_tokens(source), file, error) != 0)
        return error_prefix(error, "corpus_tokens");
    if (source->kind == CORPUS_MARKOV && markov_init(&markov, source->vocabulary, source->seed, error) != 0)
        return -1;
    draw_text(&corpus->train, source, &markov, source->tokens, RANDOM_TRAIN_TEXT);
    draw_text(&corpus->valid, source, &markov, valid_tokens(source), RANDOM_VALID_TEXT);
    markov_release(&markov);
    return 0;
}

static int load_drawn(struct corpus *corpus, const struct corpus_source *source, int file,
    enum corpus_fault *fault, struct error *error)
{
    *fault = CORPUS_FAULT_SOURCE;
    if (check_source(source, error) != 0)
        return -1;
    corpus->vocabulary = source->kind == CORPUS_COUNTER ? COUNTER_WORDS : source->vocabulary;
    corpus->end_of_line = (int32_t)corpus->vocabulary - 1;
    digest_source(corpus, source);
    return draw_corpus(corpus, source, file, error);
}

static int load_source(struct corpus *corpus, const struct corpus_source *source, int file,
    enum corpus_fault *fault, struct error *error)
{
    int status;

    *corpus = (struct corpus){.file = -1};
    digest_init(&corpus->digest);
    digest_add_string(&corpus->digest, kind_name[source->kind]);
    if (source->kind == CORPUS_TEXT || source->kind == CORPUS_BYTES)
        status = load_files(corpus, source, file, fault, error);
    else
        status = load_drawn(corpus, source, file, fault, error);
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

static int chain_init(struct markov *markov, const struct corpus_source *source)
{
    struct error error;

    if (source->kind != CORPUS_MARKOV || check_source(source, &error) != 0)
        return -1;
    return markov_init(markov, source->vocabulary, source->seed, &error);
}

double corpus_entropy_rate(const struct corpus_source *source)
{
    struct markov markov;

    if (chain_init(&markov, source) != 0)
        return NAN;
    double rate = markov_entropy_rate(&markov);
    markov_release(&markov);
    return rate;
}

static int text_loss(const struct markov *markov, const struct text *text, double *loss)
{
    for (int64_t i = 0; i < text->token_count; i++) {
        if (text->tokens[i] < 0 || text->tokens[i] >= markov->words)
            return -1;
        if (i > 0)
            loss[i] = markov_loss(markov, text->tokens[i - 1], text->tokens[i]);
    }
    return 0;
}

int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss)
{
    struct markov markov;

    if (chain_init(&markov, source) != 0)
        return -1;
    int status = text_loss(&markov, text, loss);
    markov_release(&markov);
    return status;
}
