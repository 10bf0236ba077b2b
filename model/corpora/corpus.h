#ifndef NORMSWEEP_MODEL_CORPORA_CORPUS_H
#define NORMSWEEP_MODEL_CORPORA_CORPUS_H

#include <stdint.h>

#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"
#include "model/corpora/text.h"

enum corpus_kind {
    CORPUS_TEXT,
    CORPUS_BYTES,
    CORPUS_MARKOV,
    CORPUS_DYCK,
    CORPUS_COUNTER,
    CORPUS_TOKENS,
    CORPUS_PAIRS,
    CORPUS_MODULAR
};

/* What a corpus is made from. Equal sources give equal corpora, in every process. */
struct corpus_source {
    enum corpus_kind kind;
    int64_t vocabulary; /* markov: words, including the end of a line; dyck: bracket kinds * 2 + 1 */
    int64_t tokens; /* built-in kinds: training tokens to draw */
    int64_t seed; /* built-in kinds: of the source and its draws, independent of the seeds of runs */
    const char *train_path; /* text and bytes; NULL otherwise. Borrowed */
    const char *valid_path; /* NULL: no validation, valid_loss is NaN. Borrowed */
    const struct breath *breath; /* called while loading; or NULL. Borrowed; does not affect the corpus */
};

struct corpus {
    int64_t vocabulary;
    int32_t end_of_line; /* <eos>, the last word; '\n' for bytes */
    struct text train;
    struct text valid; /* token_count 0: no validation text */
    struct digest digest; /* of the kind and its parameters or the content of the files; not of their paths */
    void *block; /* the memory of all arrays; NULL: the corpus is empty */
    size_t block_size;
    int file; /* the file that the block maps; -1: the memory belongs to this process alone */
};

/* What is at fault when loading fails, so that a message can give the line of the sweep file that sets it. */
enum corpus_fault { CORPUS_FAULT_SOURCE, CORPUS_FAULT_TRAIN, CORPUS_FAULT_VALID };

/*
 * Reads or draws the whole corpus. On failure returns -1, holds no memory, sets *fault, and sets error to
 * "<path>: why" or "<path>:<line>: why" (no such file; empty; a NUL byte; a word outside a vocabulary without
 * <unk>), or to "<parameter>: why" for a built-in kind.
 *
 * text: words are separated by ASCII white space. The vocabulary holds the words of the training text in
 * order of first appearance, then <eos>. A word "<eos>" in a text is that same token, wherever it stands. A
 * word outside the vocabulary becomes <unk>. Headings are lines whose first word begins with '='.
 * bytes: any file; every byte is a token, and a newline ends a line (a last line without a newline gets one).
 * Bytes have no headings: '=' is a byte like any other.
 * Built-in kinds: `tokens` training tokens and max(tokens / 10, 32768) others for validation. The last line
 * may be cut off; it is then part of the stream but not a sequence.
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

/* The entropy rate of the markov source in nats per token, in closed form; NaN for other kinds. */
double corpus_entropy_rate(const struct corpus_source *source);

/*
 * The log loss of the markov source itself on `text`: loss[i] = -log P(tokens[i] | tokens[i-1]), i = 1 ..
 * token_count-1, infinite for transitions of probability 0; loss[0] is not set. -1 for other kinds, for
 * tokens outside the vocabulary, and without memory.
 */
int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss);

#endif
