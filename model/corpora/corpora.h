#ifndef NORMSWEEP_MODEL_CORPORA_CORPORA_H
#define NORMSWEEP_MODEL_CORPORA_CORPORA_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"

/* ---- regular ---- */

/*
 * Opens a regular file for reading and sets *size to its length. Never blocks, not even on a pipe. Returns
 * the descriptor and sets *cause to 0; or -1, and *cause is an errno: EISDIR for a folder, REGULAR_NONE for
 * anything else that is not a regular file.
 */
int regular_open(const char *path, int64_t *size, int *cause);

#define REGULAR_NONE ESPIPE

/* strerror, extended by REGULAR_NONE. */
const char *regular_why(int cause);

/* ---- text ---- */

/* How a text is cut into sequences. */
enum sequences { SEQUENCES_STREAM, SEQUENCES_LINES };

/* A line that is a sequence: tokens[first .. first+words-1]; tokens[first+words] is the end of the line. */
struct line {
    int64_t first, words; /* words >= 1 */
};

/* The number of lines of one length. */
struct line_length {
    int64_t words, lines;
};

/*
 * One text as token ids, and the lines that are sequences. The corpus owns the arrays. Words have the
 * end-of-line token after every line, empty lines too; lines that are empty, cut off or headings are not
 * sequences. Of a file of tokens nothing is known but the tokens, which stay in the file. Pairs have the
 * tokens of the source, then those of its translation, and no sequence with an empty side.
 */
struct text {
    int64_t token_count;
    int32_t *tokens; /* [token_count]; NULL: they are in `mapped` */
    const uint16_t *mapped; /* [token_count] of a mapped file, little endian; or NULL */
    int64_t line_count;
    struct line *line; /* [line_count] ascending; of pairs those of the target */
    int64_t length_count;
    struct line_length *length; /* [length_count] the lengths of lines, descending */
    /* of pairs; NULL and 0 otherwise */
    struct line *source; /* [line_count] the line that line[i] translates */
    int64_t source_length_count;
    struct line_length *source_length; /* [source_length_count] of the source's lines, descending */
    int64_t left_out; /* pairs with an empty side */
};

/* The number of sequences of a text for a context of T tokens: windows of T+1 at stride T, or lines. */
int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context);

/* Sequence `index`, of n tokens, 1 <= n <= T: a window without its last token, or a line that is cut. The
 * token behind them is in the text, too. */
struct line text_sequence(const struct text *text, enum sequences sequences, int64_t context, int64_t index);

/* Copies tokens first .. first+count-1. */
void text_copy(const struct text *text, int64_t first, int64_t count, int32_t *to);

/* The order of an epoch's sequences: a permutation of 0 .. count-1, a function of (seed, epoch) alone. */
void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch);

/* Makes every non-empty line a sequence; a line is a run of tokens before an end_of_line. */
void text_mark_lines(struct text *text, int32_t end_of_line);

/* ---- corpus ---- */

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

/* Like corpus_load, but into an empty file, open for reading and writing, which any process can then pass to
 * corpus_attach. The file is sparse, and as long as a corpus of such a source can be at most. */
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

/* ---- block ---- */

/*
 * Maps a corpus that corpus_write has written from this source, with its files of token ids; the corpus then
 * owns the file. -1 if the file cannot be mapped or does not hold a corpus, or if a file of token ids is not
 * the one that was read; the file then stays open and the caller's.
 */
int corpus_attach(struct corpus *corpus, const struct corpus_source *source, int file);

/* ---- modular ---- */

/* The tokens of all sums of the corpus modular, for a vocabulary of p + 1 words. */
int64_t modular_tokens(int64_t vocabulary);

/* The input tokens of a sum: "a b =". */
enum { MODULAR_INPUTS = 3 };

/* ---- objective ---- */

/* What a network learns to predict: the next word; the words of spans that the source lacks (Raffel et al.
 * 2020); masked words in their places (Devlin et al. 2019). */
enum objective { OBJECTIVE_NEXT, OBJECTIVE_SPANS, OBJECTIVE_MASKED };

/* The words that an objective adds to the vocabulary of the corpus, for sequences of up to `context` tokens:
 * the sentinels of spans, or the mask. */
int64_t objective_words_added(enum objective objective, int64_t context);

/*
 * The spans of T5 (Raffel et al. 2020; random_spans_noise_mask of its code). Of the n tokens of a sequence,
 * 15 % lie in spans, of which there are a third as many, rounded, at least one; gap and span
 * alternate, and the sequence begins with a gap. Of all ways to cut the tokens in spans into so many spans,
 * and those in gaps into so many gaps, each is equally likely. In the source, sentinel V + i replaces span i
 * = 0, 1, ...; the targets are sentinel V, the tokens of span 0, sentinel V + 1, ..., <eos>; the rows are
 * <eos> and the targets without the last. A sequence of one token has no span: its source is that token, its
 * only target <eos>.
 */

/* The rows of the shortest sequence with a span. */
enum { SPANS_CONTEXT_LEAST = 3 };

/* The number of spans of a sequence of `length` >= 1 tokens; does not fall with the length. */
int64_t spans_count(int64_t length);

/* Of a sequence of `length` tokens: its rows, each with a target, and the tokens of its source; neither falls
 * with the length. Rows are at most max(length, SPANS_CONTEXT_LEAST), source tokens at most `length`. */
int64_t spans_rows(int64_t length);
int64_t spans_source_rows(int64_t length);

/*
 * The masked words of BERT (Devlin et al. 2019). Of the n tokens of a sequence, some are chosen, each set of
 * masked_targets(n) of them equally likely: these are the targets, in their own rows. Of the chosen, 80 %
 * become the mask word in the input, 10 % a random word of the corpus, 10 % stay.
 */

/* How many of `length` >= 1 tokens are chosen: at least one. */
int64_t masked_targets(int64_t length);

/* ---- reading ---- */

/*
 * What becomes of a sequence of n tokens of a text, cut to T = context:
 * - next: each token predicts the one after it; n rows.
 * - spans, masked: see the spans of T5 and the masked words of BERT above.
 * - pair: the source is a line and its <eos>; the rows are <eos> and the words of the line that translates
 *   it, which predict these words and <eos>. Each side is cut to T tokens.
 * - last: n rows, of which only the last has a target, the token after it.
 */
enum task { TASK_NEXT, TASK_SPANS, TASK_MASKED, TASK_PAIR, TASK_LAST };

/* The words of a network of others that are not of its text, where corpora have words behind their own. */
struct foreign_words {
    int32_t mask;
    int32_t sentinel; /* the first; each next one is one lower */
    int32_t start, end; /* of spans: what the decoder begins with, what ends source and targets */
};

/* How sequences are made of a text, and how they are drawn. */
struct reading {
    enum sequences sequences;
    enum task task;
    int64_t context; /* T, the most rows of a sequence, and the most tokens of its source */
    int64_t vocabulary; /* of the corpus; the words from here on are the sentinels, or the mask */
    int32_t end_of_line; /* <eos> */
    int64_t seed; /* of the order of the sequences and of all draws */
    const struct foreign_words *foreign; /* borrowed; NULL: a corpus's own words */
};

/* The number of sequences of a text. */
int64_t reading_sequences(const struct reading *reading, const struct text *text);

/* Rows on either side of a batch; source: 0 for tasks without one. */
struct batch_rows {
    int64_t rows, source;
};

/* Those of sequence `index`. */
struct batch_rows reading_extent(const struct reading *reading, const struct text *text, int64_t index);

/* The most that a batch of `count` sequences can have on either side, without foreign words. Costs a pass
 * over the lengths of lines.
 */
struct batch_rows reading_rows(const struct reading *reading, const struct text *text, int64_t count);

/* The number of predictions of sequence `index`. */
int64_t reading_targets(const struct reading *reading, const struct text *text, int64_t index);

/* What sequence `index` counts of validate.tokens: its tokens, of a pair the target's; 1 for `last`. */
int64_t reading_counted(const struct reading *reading, const struct text *text, int64_t index);

/* Packs sequence `index`, as it is drawn in `epoch` < 2^24, behind those of the batch, which must have room:
 * a function of (text, reading, index, epoch) alone. */
void reading_append(const struct reading *reading, const struct text *text, int64_t index, int64_t epoch,
    struct batch *batch);

/* ---- batches ---- */

/*
 * The training batches of a run. The batch of step t = 1, 2, ... is a function of (text, reading, batch size,
 * t) alone, so a resumed run needs no state. Epoch e = 0, 1, ... takes the first floor(N/B) * B sequences of
 * its permutation of all N, in order, B per step; each epoch has its own draws, too.
 */
struct batches {
    const struct text *text; /* borrowed */
    struct reading reading;
    int64_t batch_size;
    int64_t sequence_count; /* N */
    int64_t *order; /* [N] */
    int64_t order_epoch; /* the epoch whose permutation `order` holds; -1: none yet */
};

/* Takes room for so many rows, in up to as many sequences, and for sources, unless room.source is 0. */
void batch_layout(struct batch *batch, struct batch_rows room, struct arena *arena);

void batches_layout(struct batches *batches, const struct text *text, const struct reading *reading,
    int64_t batch_size, struct arena *arena);

/* floor(N/B), the steps of an epoch; 0 if the text has fewer than B sequences. */
int64_t batches_per_epoch(const struct batches *batches);

/* Packs the batch of a step; steps may come in any order. An epoch must have at least one step, and `batch`
 * room for reading_rows of batch_size sequences. */
void batches_fill(struct batches *batches, int64_t step, struct batch *batch);

/*
 * The sequences of a validation, in file order, on the first `tokens` tokens of a text (INT64_MAX: the whole
 * text). stream: the windows that lie within these tokens. lines: as many as reading_counted needs to count
 * `tokens`. At least one sequence if the text has any. The draws do not depend on the seed of the reading:
 * they are the same in every validation of every run.
 */
struct validation {
    const struct text *text; /* borrowed */
    struct reading reading;
    int64_t sequence_count; /* in the whole validation */
    int64_t next; /* index of the next sequence */
};

void validation_init(
    struct validation *validation, const struct text *text, const struct reading *reading, int64_t tokens);

/* Packs the next sequences, as many as fit on both sides, at least one. Returns their number; 0: the end. */
int64_t validation_next(struct validation *validation, struct batch_rows room, struct batch *batch);

/* Packs sequence `index` of a text alone, with the draws of validations. */
void validation_sequence(
    const struct text *text, const struct reading *reading, int64_t index, struct batch *batch);

#endif
