#ifndef NORMSWEEP_MODEL_CORPORA_KINDS_H
#define NORMSWEEP_MODEL_CORPORA_KINDS_H

/* The parts that corpus.c puts together. Private to this room. */

#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"
#include "model/core/random.h"
#include "model/corpora/corpus.h"

/* Checks that this process may use count * size bytes: 0, or -1 with "no memory for ...". */
int corpus_check_memory(int64_t count, size_t size, struct error *error);

/* realloc of count * size bytes; NULL without memory, and the old memory stays allocated. */
void *corpus_resize(void *memory, int64_t count, size_t size, struct error *error);

/* The memory of a corpus: one block, see block.c. */

/*
 * Allocates the block for texts of at most so many tokens, in `file` unless it is -1, and points the texts at
 * their arrays in the block.
 */
int block_take(struct corpus *corpus, int64_t train_most, int64_t valid_most, int file, struct error *error);

/* Counts the lengths of lines and writes the header: the block is complete. */
int block_finish(struct corpus *corpus, struct error *error);
void block_release(struct corpus *corpus);

/* A file that is read piece by piece. */
struct content {
    const char *path; /* borrowed */
    const struct breath *breath; /* or NULL; borrowed */
    int file;
    int64_t size; /* > 0; size of the file when it was opened: bytes added later are not read */
    int64_t left; /* bytes not yet read */
    char *bytes; /* [there], then CONTENT_SLACK bytes that may be read but hold anything */
    int64_t there, room;
};

enum { CONTENT_SLACK = 8 };

/* Opens a regular file that is not empty; -1 with "<path>: why". `breath` is called while it is read. */
int content_open(struct content *content, const char *path, const struct breath *breath, struct error *error);
void content_close(struct content *content);

/*
 * Drops the first `done` bytes, keeps the rest, and reads on; adds what it reads to the digest. Returns how
 * many bytes are there, 0 at the end, or -1. A last line without a newline gets one.
 */
int64_t content_next(struct content *content, int64_t done, struct digest *digest, struct error *error);

/*
 * A random order of 0 .. count-1 by the inside-out Fisher-Yates shuffle, from the draws first_draw ..
 * first_draw+count-1 of a purpose.
 */
void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw);

/* The words of a training text. */
struct vocabulary {
    int64_t words; /* without <eos> */
    int32_t unknown; /* id of <unk>, or -1 */
    int64_t slots; /* a power of two */
    struct word_slot *slot; /* [slots] open addressing, linear probing */
    int64_t room;
    struct word *word; /* [room] <eos>, then the others by id */
    struct word_pool *pool; /* the bytes of the words */
};

/* Reads a training text and its vocabulary; the id of <eos> is vocabulary->words. The text has room. */
int words_read_training(struct text *text, struct vocabulary *vocabulary, struct content *content,
    struct digest *digest, struct error *error);

/* Reads another text with the same vocabulary. */
int words_read(struct text *text, struct vocabulary *vocabulary, struct content *content,
    struct digest *digest, struct error *error);
void vocabulary_release(struct vocabulary *vocabulary);

/* The chain of markov.c; all masses are exact integers. */
struct markov {
    int64_t words; /* V; the last word is the end of a line */
    uint64_t *weight; /* [V] stationary frequency times total */
    uint64_t total;
    int64_t *row; /* [V+1] successors of w are row[w] .. row[w+1]-1 */
    int32_t *next; /* [row[V]] ascending within a row */
    uint64_t *mass; /* [row[V]] running sum within a row; the last one is MARKOV_COUPLINGS * weight[w] */
};

enum { MARKOV_COUPLINGS = 4, DYCK_DEPTH = 8, COUNTER_MOST = 16 };

int markov_init(struct markov *markov, int64_t words, int64_t seed, struct error *error);
void markov_release(struct markov *markov);
double markov_entropy_rate(const struct markov *markov);

/* -log P(to | from), infinite where P is 0. */
double markov_loss(const struct markov *markov, int32_t from, int32_t to);

/* Fill text->tokens [token_count] with draws of one purpose. */
void markov_draw(const struct markov *markov, int64_t seed, enum random_purpose purpose,
    const struct breath *breath, struct text *text);
void dyck_draw(
    int64_t kinds, int64_t seed, enum random_purpose purpose, const struct breath *breath, struct text *text);
void counter_draw(int64_t seed, enum random_purpose purpose, const struct breath *breath, struct text *text);

/* Breathes once for every BREATH_BYTES of drawn tokens. */
static inline void breathe_at(const struct breath *breath, int64_t draw)
{
    if (draw % (BREATH_BYTES / (int64_t)sizeof(int32_t)) == 0)
        breathe(breath);
}

#endif
