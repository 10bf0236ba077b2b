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
 * One text as token ids, with the end-of-line token after every line, empty lines too; and the lines that are
 * sequences: those that are not empty, not cut off, and not headings. The corpus owns the arrays.
 */
struct text {
    int64_t token_count;
    int32_t *tokens; /* [token_count] */
    int64_t line_count;
    struct line *line; /* [line_count] ascending */
    int64_t length_count;
    struct line_length *length; /* [length_count] the lengths of lines, descending */
};

/* The number of sequences of a text for a context of T tokens: windows of T+1 at stride T, or lines. */
int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context);

/*
 * Points *tokens at sequence `index` in the text and returns its length n, 1 <= n <= T. The inputs are
 * tokens[0 .. n-1], the targets tokens[1 .. n].
 */
int64_t text_sequence(const struct text *text, enum sequences sequences, int64_t context, int64_t index,
    const int32_t **tokens);

/* The rows of the `count` longest sequences together: the most that a batch of `count` sequences can have. */
int64_t text_rows(const struct text *text, enum sequences sequences, int64_t context, int64_t count);

/* The order of an epoch's sequences: a permutation of 0 .. count-1, a function of (seed, epoch) alone. */
void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch);

/* Makes every non-empty line a sequence; a line is a run of tokens before an end_of_line. */
void text_mark_lines(struct text *text, int32_t end_of_line);

#endif
