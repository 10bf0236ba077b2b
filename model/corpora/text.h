#ifndef NORMSWEEP_MODEL_CORPORA_TEXT_H
#define NORMSWEEP_MODEL_CORPORA_TEXT_H

#include <stdint.h>

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

#endif
