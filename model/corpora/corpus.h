#ifndef NORMSWEEP_MODEL_CORPORA_CORPUS_H
#define NORMSWEEP_MODEL_CORPORA_CORPUS_H

#include <stdint.h>

#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"
#include "model/corpora/text.h"

enum corpus_kind { CORPUS_TEXT, CORPUS_BYTES, CORPUS_MARKOV, CORPUS_DYCK, CORPUS_COUNTER };

/* What a corpus is made from. Two equal sources give equal corpora, in every process. */
struct corpus_source {
    enum corpus_kind kind;
    int64_t vocabulary; /* markov: words, the end of a line among them; dyck: bracket kinds * 2 + 1 */
    int64_t tokens; /* built-in kinds: training tokens to draw */
    int64_t seed; /* built-in kinds: of the source and its draws, apart from the seeds of the runs */
    const char *train_path; /* text and bytes; NULL otherwise. Borrowed */
    const char *valid_path; /* NULL: no validation, valid_loss is NaN. Borrowed */
    const struct breath
        *breath; /* while it is loaded; or NULL. Borrowed, and no part of what the corpus is */
};

struct corpus {
    int64_t vocabulary;
    int32_t end_of_line; /* <eos>, the last word; '\n' for bytes */
    struct text train;
    struct text valid; /* token_count 0: none */
    struct digest digest; /* of the kind and its parameters or the content of the files; not of their paths */
    void *block; /* the memory of all arrays; NULL: the corpus is empty */
    size_t block_size;
    int file; /* that the block is a view of; -1: none, the memory is this process's own */
};

/* A failure's `file` names which of the two texts is at fault, for the line of the sweep file that names it.
 */
enum corpus_fault { CORPUS_FAULT_SOURCE, CORPUS_FAULT_TRAIN, CORPUS_FAULT_VALID };

/*
 * Reads or draws the whole corpus. On failure -1, nothing held, *fault says what is at fault and error says
 * "<path>: why" or "<path>:<line>: why" (no such file; empty; a NUL byte; a word outside a vocabulary without
 * <unk>), or "<parameter>: why" for a built-in kind.
 *
 * text: words are separated by ASCII white space; the vocabulary is the training text's, in order of first
 * appearance, and <eos>. A word "<eos>" in a text is that same token, wherever it stands. A word outside the
 * vocabulary becomes <unk>. Headings are lines whose first word begins with '='.
 * bytes: any file; every byte is a token and the newline ends a line (one is added to a last line without).
 * Bytes have no headings: '=' is a byte like any other.
 * Built-in kinds: `tokens` training tokens and max(tokens / 10, 32768) others for validation. The last line
 * may be cut off: then it is in the stream but no sequence of its own.
 */
int corpus_load(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/*
 * The same into an empty file, open for reading and writing, for corpus_attach of this process or another.
 * The file is sparse and as long as a corpus of such a source can be at most.
 */
int corpus_write(int file, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/* A corpus of zeros may be released, too. */
void corpus_release(struct corpus *corpus);

/* The entropy rate of the markov source in nats per token, in closed form; NaN for other kinds. */
double corpus_entropy_rate(const struct corpus_source *source);

/*
 * The markov source's own log loss on `text`: loss[i] = -log P(tokens[i] | tokens[i-1]), i = 1 ..
 * token_count-1, infinite where the source cannot go; loss[0] is left alone. -1 for other kinds, tokens
 * outside the vocabulary, and without memory.
 */
int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss);

#endif
