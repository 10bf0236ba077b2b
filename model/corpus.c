#include "model/corpus.h"

#include <inttypes.h>
#include <math.h>

#include "model/corpus_kinds.h"

enum { VALID_PART = 10, VALID_LEAST = 32768, COUNTER_WORDS = 4 };

static const char *const kind_name[] = {"text", "bytes", "markov", "dyck", "counter"};

static int read_content(struct corpus *corpus, struct content *content, const char *path, struct error *error)
{
    if (content_read(content, path, error) != 0)
        return -1;
    digest_add(&corpus->digest, &content->size, sizeof(content->size));
    digest_add(&corpus->digest, content->bytes, (size_t)content->size);
    return 0;
}

static int read_valid_words(
    struct corpus *corpus, struct vocabulary *vocabulary, const char *path, struct error *error)
{
    struct content content;

    if (read_content(corpus, &content, path, error) != 0)
        return -1;
    int status = words_read(&corpus->valid, vocabulary, &content, path, error);
    content_release(&content);
    return status;
}

static int load_words(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    struct content content;
    struct vocabulary vocabulary;
    int status = read_content(corpus, &content, source->train_path, error);

    if (status != 0)
        return -1;
    status = words_read_training(&corpus->train, &vocabulary, &content, source->train_path, error);
    if (status == 0) {
        corpus->vocabulary = vocabulary.words + 1;
        corpus->end_of_line = (int32_t)vocabulary.words;
        *fault = CORPUS_FAULT_VALID;
        if (source->valid_path)
            status = read_valid_words(corpus, &vocabulary, source->valid_path, error);
        vocabulary_release(&vocabulary);
    }
    content_release(&content);
    return status;
}

static int copy_bytes(struct text *text, const struct content *content, struct error *error)
{
    int64_t size = content->size;

    if (text_allocate(text, size + (content->bytes[size - 1] != '\n'), error) != 0)
        return -1;
    text->tokens[text->token_count - 1] = '\n';
    for (int64_t i = 0; i < size; i++)
        text->tokens[i] = (unsigned char)content->bytes[i];
    return text_mark_lines(text, '\n', error);
}

static int read_bytes(struct corpus *corpus, struct text *text, const char *path, struct error *error)
{
    struct content content;

    if (read_content(corpus, &content, path, error) != 0)
        return -1;
    int status = copy_bytes(text, &content, error);
    content_release(&content);
    return status == 0 ? 0 : error_prefix(error, "%s", path);
}

static int load_bytes(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    corpus->vocabulary = 256;
    corpus->end_of_line = '\n';
    if (read_bytes(corpus, &corpus->train, source->train_path, error) != 0)
        return -1;
    *fault = CORPUS_FAULT_VALID;
    return source->valid_path ? read_bytes(corpus, &corpus->valid, source->valid_path, error) : 0;
}

static int load_files(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    *fault = CORPUS_FAULT_TRAIN;
    if (!source->train_path)
        return error_set(error, ERROR_INPUT, "train_text is missing");
    if (source->kind == CORPUS_BYTES)
        return load_bytes(corpus, source, fault, error);
    return load_words(corpus, source, fault, error);
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
            " is even; dyck has two words for each kind of bracket and one for the end "
            "of a line",
            vocabulary);
    return 0;
}

/* `markov` is the source's chain, for that kind. */
static int draw_text(struct text *text, const struct corpus_source *source, const struct markov *markov,
    int64_t tokens, enum random_purpose purpose, struct error *error)
{
    if (text_allocate(text, tokens, error) != 0)
        return error_prefix(error, "corpus_tokens");
    if (source->kind == CORPUS_MARKOV)
        markov_draw(markov, source->seed, purpose, text);
    else if (source->kind == CORPUS_DYCK)
        dyck_draw(source->vocabulary / 2, source->seed, purpose, text);
    else
        counter_draw(source->seed, purpose, text);
    int32_t end_of_line =
        source->kind == CORPUS_COUNTER ? COUNTER_WORDS - 1 : (int32_t)source->vocabulary - 1;
    return text_mark_lines(text, end_of_line, error);
}

static void digest_source(struct corpus *corpus, const struct corpus_source *source)
{
    digest_add(&corpus->digest, &corpus->vocabulary, sizeof(corpus->vocabulary));
    digest_add(&corpus->digest, &source->tokens, sizeof(source->tokens));
    digest_add(&corpus->digest, &source->seed, sizeof(source->seed));
}

static int load_drawn(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    struct markov markov = {0};
    int64_t valid = source->tokens / VALID_PART;

    *fault = CORPUS_FAULT_SOURCE;
    if (check_source(source, error) != 0)
        return -1;
    if (source->kind == CORPUS_MARKOV && markov_init(&markov, source->vocabulary, source->seed, error) != 0)
        return -1;
    corpus->vocabulary = source->kind == CORPUS_COUNTER ? COUNTER_WORDS : source->vocabulary;
    corpus->end_of_line = (int32_t)corpus->vocabulary - 1;
    digest_source(corpus, source);
    int status = draw_text(&corpus->train, source, &markov, source->tokens, RANDOM_TRAIN_TEXT, error);
    if (status == 0)
        status = draw_text(&corpus->valid, source, &markov, valid < VALID_LEAST ? VALID_LEAST : valid,
            RANDOM_VALID_TEXT, error);
    markov_release(&markov);
    return status;
}

int corpus_load(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    int status;

    *corpus = (struct corpus){0};
    digest_init(&corpus->digest);
    digest_add_string(&corpus->digest, kind_name[source->kind]);
    if (source->kind == CORPUS_TEXT || source->kind == CORPUS_BYTES)
        status = load_files(corpus, source, fault, error);
    else
        status = load_drawn(corpus, source, fault, error);
    if (status != 0)
        corpus_release(corpus);
    return status;
}

void corpus_release(struct corpus *corpus)
{
    text_release(&corpus->train);
    text_release(&corpus->valid);
    *corpus = (struct corpus){0};
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
