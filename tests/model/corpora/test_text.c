/* Texts: how they are read in pieces, and what is known of their lines. */
#include "tests/test.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/corpora/kinds.h"
#include "model/corpora/reading.h"

/* Loads a text of words from a temporary file. */
static void load_text(struct corpus *corpus, const char *text)
{
    char path[] = P_tmpdir "/normsweep-test-XXXXXX";
    struct corpus_source source = {.kind = CORPUS_TEXT, .train_path = path};
    size_t length = strlen(text);
    int file = mkstemp(path);
    enum corpus_fault fault;
    struct error error;

    CHECK(file >= 0 && write(file, text, length) == (ssize_t)length);
    close(file);
    CHECK(corpus_load(corpus, &source, &fault, &error) == 0);
    unlink(path);
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* The longest sequences by sorting them all. */
static int64_t rows_plainly(const struct text *text, enum sequences sequences, int64_t context, int64_t count)
{
    int64_t all = text_sequences(text, sequences, context), rows = 0;
    int64_t *length = malloc((size_t)(all + 1) * sizeof(*length));

    for (int64_t i = 0; i < all; i++)
        length[i] = text_sequence(text, sequences, context, i).words;
    qsort(length, (size_t)all, sizeof(*length), descending);
    for (int64_t i = 0; i < all && i < count; i++)
        rows += length[i];
    free(length);
    return rows;
}

static int64_t most_rows(const struct text *text, enum sequences sequences, int64_t context, int64_t count)
{
    const struct reading reading = {.sequences = sequences, .context = context};
    struct batch_rows most = reading_rows(&reading, text, count);

    CHECK(most.source == 0);
    return most.rows;
}

TEST(reading_rows_of_the_longest)
{
    struct corpus_source source = {.kind = CORPUS_DYCK, .vocabulary = 5, .tokens = 3000};
    struct corpus corpus;
    enum corpus_fault fault;
    struct error error;

    CHECK(corpus_load(&corpus, &source, &fault, &error) == 0);
    for (int64_t context = 1; context < 200; context += 1 + context / 3)
        for (int64_t count = 1; count < 2 * corpus.train.line_count; count += 1 + count / 3) {
            CHECK(most_rows(&corpus.train, SEQUENCES_LINES, context, count) ==
                  rows_plainly(&corpus.train, SEQUENCES_LINES, context, count));
            CHECK(most_rows(&corpus.valid, SEQUENCES_STREAM, context, count) ==
                  rows_plainly(&corpus.valid, SEQUENCES_STREAM, context, count));
        }
    corpus_release(&corpus);
    load_text(&corpus, " the longest line of all\na\n\nb c\n= no line\n");
    CHECK(most_rows(&corpus.train, SEQUENCES_LINES, 100, 2) == 7);
    CHECK(most_rows(&corpus.train, SEQUENCES_LINES, 4, 9) == 7);
    CHECK(most_rows(&corpus.valid, SEQUENCES_LINES, 100, 2) == 0);
    CHECK(most_rows(&corpus.valid, SEQUENCES_STREAM, 100, 2) == 0);
    corpus_release(&corpus);
}

/* Words and lines that lie across the pieces in which a file is read, one word longer than several of them.
 */
TEST(text_of_many_pieces)
{
    enum { WORD = 3 << 20, SHORT = 400000 };
    char *text = malloc(2 * WORD + 12 * SHORT), *end = text;
    struct corpus corpus;

    for (int i = 0; i < SHORT; i++)
        end += sprintf(end, "%d%c", i % 1000, i % 7 ? ' ' : '\n');
    memset(end, 'x', WORD);
    end += WORD;
    end += sprintf(end, " y\n= ");
    memset(end, 'x', WORD);
    strcpy(end + WORD, "\nlast");
    load_text(&corpus, text);
    int64_t at = 0;
    for (int i = 0; i < SHORT; i++) {
        CHECK(corpus.train.tokens[at++] == i % 1000);
        CHECK(i % 7 || corpus.train.tokens[at++] == corpus.end_of_line);
    }
    CHECK(corpus.vocabulary == 1000 + 5); /* xxx y = last <eos> */
    CHECK(corpus.train.token_count == at + 8);
    CHECK(corpus.train.tokens[at] == 1000 && corpus.train.tokens[at + 4] == 1000);
    CHECK(corpus.train.line_count == SHORT / 7 + 3);
    corpus_release(&corpus);
    free(text);
}

/* More than any processor addresses. */
TEST(text_without_addresses)
{
    struct corpus corpus = {.file = -1};
    struct error error = {0};

    CHECK(block_take(&corpus, INT64_C(1) << 50, 1, false, -1, &error) == -1 &&
          error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(error.text, "grants no 1.351e+10 MB of addresses (ulimit -v?)") != NULL);
    CHECK(corpus.block == NULL);
}
