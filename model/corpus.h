#ifndef NORMSWEEP_MODEL_CORPUS_H
#define NORMSWEEP_MODEL_CORPUS_H

#include <stdint.h>

#include "model/breath.h"
#include "model/digest.h"
#include "model/error.h"

enum corpus_kind { CORPUS_TEXT, CORPUS_BYTES, CORPUS_MARKOV, CORPUS_DYCK, CORPUS_COUNTER };

/* How a text is cut into sequences. */
enum sequences { SEQUENCES_STREAM, SEQUENCES_LINES };

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

/* A line that is a sequence: tokens[first .. first+words-1], and the end-of-line token at first+words. */
struct line {
    int64_t first, words; /* words >= 1 */
};

/* How many lines have a length. */
struct line_length {
    int64_t words, lines;
};

/*
 * One text as token ids, the end-of-line token after each line, empty ones too, and the lines that are
 * sequences: not empty, ended, and no headings. The arrays are the corpus's.
 */
struct text {
    int64_t token_count;
    int32_t *tokens; /* [token_count] */
    int64_t line_count;
    struct line *line; /* [line_count] ascending */
    int64_t length_count;
    struct line_length *length; /* [length_count] the lengths of lines, descending */
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

/*
 * A corpus that corpus_write has written, read where it lies: the file is the corpus's from now on. -1: the
 * file, which stays open, holds none, or cannot be mapped.
 */
int corpus_attach(struct corpus *corpus, int file);

/* A corpus of zeros may be released, too. */
void corpus_release(struct corpus *corpus);

/* The number of sequences that `text` gives for a context of T tokens: windows of T+1 at stride T, or lines.
 */
int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context);

/*
 * Sequence `index`: inputs are tokens[0 .. n-1], targets tokens[1 .. n], borrowed from the text; returns n, 1
 * <= n <= T.
 */
int64_t text_sequence(const struct text *text, enum sequences sequences, int64_t context, int64_t index,
    const int32_t **tokens);

/* The rows of the `count` longest sequences together: no batch of as many has more. */
int64_t text_rows(const struct text *text, enum sequences sequences, int64_t context, int64_t count);

/*
 * The order of an epoch's sequences: a permutation of 0 .. count-1, a function of (seed, epoch) alone. Fisher
 * and Yates.
 */
void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch);

/* The entropy rate of the markov source in nats per token, in closed form; NaN for other kinds. */
double corpus_entropy_rate(const struct corpus_source *source);

/*
 * The markov source's own log loss on `text`: loss[i] = -log P(tokens[i] | tokens[i-1]), i = 1 ..
 * token_count-1, infinite where the source cannot go; loss[0] is left alone. -1 for other kinds, tokens
 * outside the vocabulary, and without memory.
 */
int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss);

#endif
