#ifndef NORMSWEEP_MODEL_CORPUS_H
#define NORMSWEEP_MODEL_CORPUS_H

#include <stdint.h>

#include "model/digest.h"
#include "model/error.h"

enum corpus_kind { CORPUS_TEXT, CORPUS_BYTES, CORPUS_MARKOV, CORPUS_DYCK, CORPUS_COUNTER };

/* How a text is cut into sequences (PROTOCOL 2). */
enum sequences { SEQUENCES_STREAM, SEQUENCES_LINES };

/* What a corpus is made from. Two equal sources give equal corpora, in every process. */
struct corpus_source {
    enum corpus_kind kind;
    int64_t vocabulary; /* markov: words, the end of a line among them; dyck: bracket kinds * 2 + 1 */
    int64_t tokens; /* built-in kinds: training tokens to draw */
    int64_t seed; /* built-in kinds: of the source and its draws, apart from the seeds of the runs */
    const char *train_path; /* text and bytes; NULL otherwise. Borrowed */
    const char *valid_path; /* NULL: no validation, valid_loss is NaN. Borrowed */
};

/* One text as token ids, the end-of-line token after each line, and the lines that are sequences. */
struct text {
    int64_t token_count;
    int32_t *tokens;
    int64_t line_count; /* non-empty lines that are no headings */
    int64_t *line; /* [line_count] index of a line's first token; the line ends with end_of_line */
};

struct corpus {
    int64_t vocabulary;
    int32_t end_of_line; /* <eos>, the last word; '\n' for bytes */
    struct text train;
    struct text valid; /* token_count 0: none */
    struct digest
        digest; /* of the source's kind and parameters, or of the content of the files; not of their paths */
};

/* A failure's `file` names which of the two texts is at fault, for the line of the sweep file that names it.
 */
enum corpus_fault { CORPUS_FAULT_SOURCE, CORPUS_FAULT_TRAIN, CORPUS_FAULT_VALID };

/*
 * Reads or draws the whole corpus. On failure -1, nothing held, *fault says what is at fault and error says
 * "<path>: why" or "<path>:<line>: why" (no such file; empty; a NUL byte; a word outside a vocabulary without
 * <unk>).
 */
int corpus_load(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);
void corpus_release(struct corpus *corpus);

/* The number of sequences that `text` gives for a context of T tokens: windows of T+1 at stride T, or lines.
 */
int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context);

/*
 * Sequence `index`: inputs are tokens[0 .. n-1], targets tokens[1 .. n], borrowed from the text; returns n, 1
 * <= n <= T.
 */
int64_t text_sequence(const struct text *text, enum sequences sequences, int64_t context, int32_t end_of_line,
    int64_t index, const int32_t **tokens);

/*
 * The order of an epoch's sequences: a permutation of 0 .. count-1, a function of (seed, epoch) alone. Fisher
 * and Yates.
 */
void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch);

/* The entropy rate of the markov source in nats per token, in closed form; NaN for other kinds. */
double corpus_entropy_rate(const struct corpus_source *source);

/*
 * The source's own mean log loss, -log P(token | the tokens before it in its sequence's text), on each token
 * that `text` predicts after its first: loss[i] belongs to tokens[i], i = 1 .. token_count-1. markov alone;
 * -1 for others.
 */
int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss);

#endif
