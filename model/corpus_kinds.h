#ifndef NORMSWEEP_MODEL_CORPUS_KINDS_H
#define NORMSWEEP_MODEL_CORPUS_KINDS_H

/* Private to the corpora: what corpus.c puts together. */

#include <stddef.h>
#include <stdint.h>

#include "model/corpus.h"
#include "model/error.h"
#include "model/random.h"

/* realloc of count * size bytes; NULL, the old memory held still, when that is more than the machine has. */
void *corpus_resize(void *memory, int64_t count, size_t size, struct error *error);

/* A whole file in memory, a NUL behind its last byte. */
struct content {
    char *bytes; /* [size + 1] */
    int64_t size; /* > 0 */
};

/* Reads a regular file; -1 with "<path>: why". */
int content_read(struct content *content, const char *path, struct error *error);
void content_release(struct content *content);

int text_allocate(struct text *text, int64_t token_count, struct error *error);
void text_release(struct text *text);

/* Makes a sequence of every non-empty run of tokens that end_of_line ends. */
int text_mark_lines(struct text *text, int32_t end_of_line, struct error *error);

/*
 * A random order of 0 .. count-1, by Fisher and Yates in the form that fills while it shuffles, with the
 * draws first_draw .. first_draw+count-1 of a purpose.
 */
void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw);

/* The words of a training text. Borrows their bytes from its content. */
struct vocabulary {
    int64_t words; /* <eos> not among them */
    int32_t unknown; /* id of <unk>, or -1 */
    int64_t slots; /* a power of two */
    struct word *slot; /* open addressing, linear probing */
};

/* Reads a training text and its vocabulary; <eos> is id vocabulary->words. */
int words_read_training(struct text *text, struct vocabulary *vocabulary, const struct content *content,
    const char *path, struct error *error);

/* Reads another text with that vocabulary. */
int words_read(struct text *text, struct vocabulary *vocabulary, const struct content *content,
    const char *path, struct error *error);
void vocabulary_release(struct vocabulary *vocabulary);

/* The chain of markov.c; all masses are exact integers. */
struct markov {
    int64_t words; /* V, the last is the end of a line */
    uint64_t *weight; /* [V] stationary frequency, over total */
    uint64_t total;
    int64_t *row; /* [V+1] successors of w are row[w] .. row[w+1]-1 */
    int32_t *next; /* [row[V]] ascending within a row */
    uint64_t *mass; /* [row[V]] running sum within the row; its last is MARKOV_COUPLINGS * weight[w] */
};

enum { MARKOV_COUPLINGS = 4, DYCK_DEPTH = 8, COUNTER_MOST = 16 };

int markov_init(struct markov *markov, int64_t words, int64_t seed, struct error *error);
void markov_release(struct markov *markov);
double markov_entropy_rate(const struct markov *markov);

/* -log P(to | from), infinite where the chain cannot go. */
double markov_loss(const struct markov *markov, int32_t from, int32_t to);

/* Each fills text->tokens [token_count] with draws of one purpose. */
void markov_draw(const struct markov *markov, int64_t seed, enum random_purpose purpose, struct text *text);
void dyck_draw(int64_t kinds, int64_t seed, enum random_purpose purpose, struct text *text);
void counter_draw(int64_t seed, enum random_purpose purpose, struct text *text);

#endif
