#ifndef NORMSWEEP_MODEL_CORPORA_INSIDE_H
#define NORMSWEEP_MODEL_CORPORA_INSIDE_H

/* The parts that corpus.c puts together. Private to this room. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"
#include "model/core/random.h"
#include "model/corpora/corpora.h"

/* Checks that this process may use count * size bytes: 0, or -1 with "no memory for ...". */
int corpus_check_memory(int64_t count, size_t size, struct error *error);

/* realloc of count * size bytes; NULL without memory, and the old memory stays allocated. */
void *corpus_resize(void *memory, int64_t count, size_t size, struct error *error);

/* The memory of a corpus: one block, see block.c. */

/*
 * Allocates the block for texts of at most so many tokens, in `file` unless it is -1, and points the texts at
 * their arrays in the block; 0 tokens: no arrays. With `pairs`, also those of the source, and room for as
 * many lines as tokens.
 */
int block_take(
    struct corpus *corpus, int64_t train_most, int64_t valid_most, bool pairs, int file, struct error *error);

/* Counts the lengths of lines and writes the header: the block is complete. */
int block_finish(struct corpus *corpus, struct error *error);
void block_release(struct corpus *corpus);

/* A file that is read piece by piece. */
struct content {
    const char *path; /* borrowed */
    const struct breath *breath; /* or NULL; borrowed */
    int file;
    int64_t size; /* of the file when it was opened: bytes added later are not read; 0: no file */
    int64_t left; /* bytes not yet read */
    bool binary; /* no newline is added at the end */
    char *bytes; /* [there], then CONTENT_SLACK bytes that may be read but hold anything */
    int64_t there, room;
};

enum { CONTENT_SLACK = 8 };

/* Opens a regular file that is not empty; -1 with "<path>: why". `breath` is called while it is read. Without
 * a path there is no file, and the size is 0. */
int content_open(struct content *content, const char *path, const struct breath *breath, struct error *error);
void content_close(struct content *content);

/* Drops the first `done` bytes, keeps the rest, and reads on; adds what it reads to the digest. Returns how
 * many bytes are there, 0 at the end, or -1. A last line without a newline gets one. */
int64_t content_next(struct content *content, int64_t done, struct digest *digest, struct error *error);

/* A random order of 0 .. count-1 by the inside-out Fisher-Yates shuffle, from the draws first_draw ..
 * first_draw+count-1 of a purpose. */
void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw);

/* A corpus whose files are open, by kind; the digest takes their sizes and bytes. */
struct corpus_files {
    struct content train, valid, train_source, valid_source; /* size 0: there is no such file */
};

/*
 * Fills a corpus, in `file`, or in memory of this process alone if that is -1. files: the open files of a
 * kind that reads them, else zeros. *fault is CORPUS_FAULT_TRAIN on entry, or CORPUS_FAULT_SOURCE without
 * files. The caller releases what is held after a failure.
 */
typedef int load_function(struct corpus *corpus, const struct corpus_source *source,
    struct corpus_files *files, int file, enum corpus_fault *fault, struct error *error);

load_function words_load, tokens_load, drawn_load, modular_load;

/* Adds the size of a file to the corpus's digest; its bytes follow while it is read. */
void corpus_digest_size(struct corpus *corpus, const struct content *content);

/* The state of an open file of token ids, without its bytes; size -1: not known. */
struct token_file mapped_state(int file);
bool mapped_is_same(const struct token_file *a, const struct token_file *b);

/* Maps the file whose state is in *token_file. -1 with errno. */
int mapped_open(struct token_file *token_file, int file);

/* Points a text at the tokens of its file, if it has one. */
void mapped_point(struct text *text, const struct token_file *file);

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

/* Fills text->tokens [token_count] with draws of one purpose. */
void markov_draw(const struct markov *markov, int64_t seed, enum random_purpose purpose,
    const struct breath *breath, struct text *text);

/* Breathes once for every BREATH_BYTES of drawn tokens. */
static inline void breathe_at(const struct breath *breath, int64_t draw)
{
    if (draw % (BREATH_BYTES / (int64_t)sizeof(int32_t)) == 0)
        breathe(breath);
}

#endif
