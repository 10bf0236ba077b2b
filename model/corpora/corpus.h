#ifndef NORMSWEEP_MODEL_CORPORA_CORPUS_H
#define NORMSWEEP_MODEL_CORPORA_CORPUS_H

#include <stdint.h>

#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"
#include "model/corpora/text.h"

/* What has an effect on a kind of corpus. */
enum corpus_use {
    USES_FILES = 1, /* the paths; the kinds without it are built in */
    USES_VOCABULARY = 2,
    USES_TOKENS = 4,
    USES_SHARE = 8,
    USES_SEED = 16,
    USES_SEQUENCES = 32, /* how a run cuts the text; other kinds consist of sequences */
    USES_MIN_COUNT = 64,
};

/* The kinds of corpora: X(KIND, name, uses). The name is that of the sweep file and enters the digest. */
#define CORPUS_KINDS(X)                                                                                      \
    X(TEXT, text, USES_FILES | USES_SEQUENCES | USES_MIN_COUNT)                                              \
    X(BYTES, bytes, USES_FILES | USES_SEQUENCES)                                                             \
    X(MARKOV, markov, USES_VOCABULARY | USES_TOKENS | USES_SEED | USES_SEQUENCES)                            \
    X(DYCK, dyck, USES_VOCABULARY | USES_TOKENS | USES_SEED | USES_SEQUENCES)                                \
    X(COUNTER, counter, USES_TOKENS | USES_SEED | USES_SEQUENCES)                                            \
    X(TOKENS, tokens, USES_FILES | USES_VOCABULARY | USES_SEQUENCES)                                         \
    X(PAIRS, pairs, USES_FILES | USES_MIN_COUNT)                                                             \
    X(MODULAR, modular, USES_VOCABULARY | USES_SHARE | USES_SEED)

enum corpus_kind {
#define X(KIND, name, uses) CORPUS_##KIND,
    CORPUS_KINDS(X)
#undef X
        CORPUS_KIND_COUNT,
};

struct corpus_kind_row {
    const char *name;
    unsigned uses; /* of enum corpus_use */
};

extern const struct corpus_kind_row corpus_kind_table[CORPUS_KIND_COUNT];

/* What a corpus is made from. Equal sources give equal corpora, in every process. */
struct corpus_source {
    enum corpus_kind kind;
    /* markov: words, including the end of a line; dyck: bracket kinds * 2 + 1; modular: p + 1; tokens: the
     * words of the tokenizer */
    int64_t vocabulary;
    int64_t min_count; /* text, pairs: words that the training text has fewer times are <unk> */
    int64_t tokens; /* training tokens to draw */
    double share; /* modular: of the sums, those that are trained; above 0, below 1 */
    int64_t seed; /* of the source and its draws, independent of the seeds of runs */
    /* Paths are borrowed; NULL for a built-in kind. */
    const char *train_path; /* of pairs, the target */
    const char *valid_path; /* NULL: no validation, valid_loss is NaN */
    const char *train_source_path, *valid_source_path; /* pairs; otherwise NULL */
    const struct breath *breath; /* called while loading; or NULL. Borrowed; does not affect the corpus */
};

/* A file of token ids that a text is mapped from; the state is compared before another process maps it. */
struct token_file {
    int64_t first; /* the byte at which the tokens begin */
    int64_t size;
    uint64_t device, inode;
    int64_t seconds, nanoseconds; /* of its last change */
    void *bytes; /* [size], mapped; NULL: none */
};

struct corpus {
    int64_t vocabulary;
    int32_t end_of_line; /* <eos>, the last word; '\n' for bytes */
    int32_t unknown; /* <unk>; negative: the vocabulary does not have it */
    struct token_file train_file, valid_file; /* of the kind tokens; zeros otherwise */
    struct text train;
    struct text valid; /* token_count 0: no validation text */
    struct digest digest; /* of the kind, its parameters and the content of the files; not of their paths */
    void *block; /* the memory of all arrays; NULL: the corpus is empty */
    size_t block_size;
    int file; /* the file that the block maps; -1: the memory belongs to this process alone */
};

/* What is at fault when loading fails, so that a message can give the line of the sweep file that sets it. */
enum corpus_fault { CORPUS_FAULT_SOURCE, CORPUS_FAULT_TRAIN, CORPUS_FAULT_VALID };

/*
 * Reads or draws the whole corpus. On failure returns -1, holds no memory, sets *fault, and sets error to
 * "<path>: why" or "<path>:<line>: why" (no such file; empty; a NUL byte; a word outside a vocabulary without
 * <unk>), or to "<parameter>: why" for a built-in kind, and if all words are rarer than min_count.
 *
 * text: words are separated by ASCII white space. The vocabulary holds the words of the training text in
 * order of first appearance, then <eos>. A word "<eos>" in a text is that same token, wherever it stands. A
 * word outside the vocabulary becomes <unk>. Headings are lines whose first word begins with '='. With
 * min_count N above 1 the corpus is what it would be if <unk> replaced every word that the training text has
 * fewer than N times; if there is none, <unk> is the last word before <eos>. So no word is refused.
 * bytes: any file; every byte is a token, and a newline ends a line (a last line without a newline gets one).
 * Bytes have no headings: '=' is a byte like any other.
 * tokens: llm.c's files (256 int32: 20240520, 1, the number of tokens, zeros; then the tokens as uint16) and
 * nanoGPT's (uint16 alone), little endian. The files are mapped, not copied, so they must not change while
 * the corpus exists. A token that is not below `vocabulary` is refused with its byte in the file.
 * pairs: line n of the target translates line n of the source. Words as in text, of one vocabulary: that of
 * both training texts, the source first; counts are of both together. Headings are lines like any others. A
 * pair with an empty side is not a sequence; different numbers of lines are refused.
 * modular: the words 0 .. p - 1 and "="; the sums "a b = c" with c = a + b mod p, in random order, of which
 * round(share * p^2), at least one, are for training, the others for validation.
 * Other built-in kinds: `tokens` training tokens and max(tokens / 10, 32768) others for validation. The last
 * line may be cut off; it is then part of the stream but not a sequence.
 */
int corpus_load(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/*
 * Like corpus_load, but into an empty file, open for reading and writing, which any process can then pass to
 * corpus_attach. The file is sparse, and as long as a corpus of such a source can be at most.
 */
int corpus_write(int file, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/* Also takes a corpus of zeros. */
void corpus_release(struct corpus *corpus);

/* The share of the validation tokens, ends of lines included, that are <unk>. NaN without validation tokens,
 * and for a vocabulary without <unk>. */
double corpus_unknown_share(const struct corpus *corpus);

/* The entropy rate of the markov source in nats per token, in closed form; NaN for other kinds. */
double corpus_entropy_rate(const struct corpus_source *source);

/*
 * The log loss of the markov source itself on `text`: loss[i] = -log P(tokens[i] | tokens[i-1]), i = 1 ..
 * token_count-1, infinite for transitions of probability 0; loss[0] is not set. -1 for other kinds, for
 * tokens outside the vocabulary, and without memory.
 */
int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss);

#endif
