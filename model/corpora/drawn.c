/* The built-in corpora that are streams of lines: markov, dyck, counter. */
#include "model/corpora/inside.h"

#include <inttypes.h>

enum { VALID_PART = 10, VALID_LEAST = 32768, COUNTER_WORDS = 4 };

int drawn_check(const struct corpus_source *source, struct error *error)
{
    int64_t vocabulary = source->vocabulary, least = source->kind == CORPUS_DYCK ? 3 : 2;

    if (source->tokens < 1)
        return error_set(error, ERROR_INPUT, "corpus_tokens: %" PRId64 " is below 1", source->tokens);
    if (source->kind == CORPUS_COUNTER)
        return 0;
    if (vocabulary < least)
        return error_set(error, ERROR_INPUT, "vocabulary: %" PRId64 " is below %" PRId64 ", the least for %s",
            vocabulary, least, corpus_kind_table[source->kind].name);
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
        block_take(corpus, source->tokens, valid_tokens(source), false, file, error) != 0)
        return error_prefix(error, "corpus_tokens");
    if (source->kind == CORPUS_MARKOV && markov_init(&markov, source->vocabulary, source->seed, error) != 0)
        return -1;
    draw_text(&corpus->train, source, &markov, source->tokens, RANDOM_TRAIN_TEXT);
    draw_text(&corpus->valid, source, &markov, valid_tokens(source), RANDOM_VALID_TEXT);
    markov_release(&markov);
    return 0;
}

int drawn_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    (void)files, (void)fault;
    if (drawn_check(source, error) != 0)
        return -1;
    corpus->vocabulary = source->kind == CORPUS_COUNTER ? COUNTER_WORDS : source->vocabulary;
    corpus->end_of_line = (int32_t)corpus->vocabulary - 1;
    digest_source(corpus, source);
    return draw_corpus(corpus, source, file, error);
}
