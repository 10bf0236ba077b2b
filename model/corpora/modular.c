/*
 * The sums of all pairs of numbers below p, modulo p, some of them held out: on these, networks that have
 * learned the others by heart generalise suddenly, and late (Power, Burda, Edwards, Babuschkin, Misra 2022,
 * "Grokking").
 */
#include "model/corpora/inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SUM_TOKENS = MODULAR_INPUTS + 1, VOCABULARY_LEAST = 3, VOCABULARY_MOST = 4097 };

int64_t modular_tokens(int64_t vocabulary)
{
    return SUM_TOKENS * (vocabulary - 1) * (vocabulary - 1);
}

static int check(const struct corpus_source *source, struct error *error)
{
    int64_t vocabulary = source->vocabulary;

    if (vocabulary < VOCABULARY_LEAST)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %" PRId64 " is below %d: modular has p numbers and '=', and p is at least 2",
            vocabulary, VOCABULARY_LEAST);
    if (vocabulary > VOCABULARY_MOST)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %" PRId64 " is above %d: modular has p numbers and '=', and holds all p^2 sums",
            vocabulary, VOCABULARY_MOST);
    if (!(source->share > 0 && source->share < 1))
        return error_set(error, ERROR_INPUT, "train_share: %g is not between 0 and 1", source->share);
    return 0;
}

/* Writes the sums order[0 .. count-1], of which number a * p + b is "a b = a+b". */
static void write_sums(
    struct text *text, const int64_t *order, int64_t count, int64_t p, const struct breath *breath)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t a = order[i] / p, b = order[i] % p;
        int32_t *tokens = text->tokens + SUM_TOKENS * i;
        breathe_at(breath, i);
        tokens[0] = (int32_t)a;
        tokens[1] = (int32_t)b;
        tokens[2] = (int32_t)p;
        tokens[3] = (int32_t)((a + b) % p);
        text->line[i] = (struct line){SUM_TOKENS * i, MODULAR_INPUTS};
    }
    text->token_count = SUM_TOKENS * count;
    text->line_count = count;
}

int modular_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    int64_t p = source->vocabulary - 1, sums = p * p, trained;

    (void)files, (void)fault;
    if (check(source, error) != 0)
        return -1;
    trained = llrint(source->share * (double)sums);
    trained = trained < sums ? trained : sums - 1; /* at least one sum for each text */
    trained = trained > 1 ? trained : 1;
    corpus->vocabulary = source->vocabulary;
    corpus->end_of_line = (int32_t)p;
    digest_add(&corpus->digest, &source->vocabulary, sizeof(source->vocabulary));
    digest_add(&corpus->digest, &source->share, sizeof(source->share));
    digest_add(&corpus->digest, &source->seed, sizeof(source->seed));
    int64_t *order = corpus_resize(NULL, sums, sizeof(*order), error);
    if (!order ||
        block_take(corpus, SUM_TOKENS * trained, SUM_TOKENS * (sums - trained), false, file, error) != 0) {
        free(order);
        return error_prefix(error, "vocabulary");
    }
    shuffled(order, sums, source->seed, RANDOM_SOURCE, 0);
    write_sums(&corpus->train, order, trained, p, source->breath);
    write_sums(&corpus->valid, order + trained, sums - trained, p, source->breath);
    free(order);
    return 0;
}
