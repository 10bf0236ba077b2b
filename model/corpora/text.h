#ifndef NORMSWEEP_MODEL_CORPORA_TEXT_H
#define NORMSWEEP_MODEL_CORPORA_TEXT_H

#include <stdint.h>

/* How a text is cut into sequences. */
enum sequences { SEQUENCES_STREAM, SEQUENCES_LINES };

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

/* Makes a sequence of every non-empty run of tokens that end_of_line ends. */
void text_mark_lines(struct text *text, int32_t end_of_line);

#endif
