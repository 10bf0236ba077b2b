/* Masks and spans with the words of a network of others: the same draws as with a corpus's own. */
#include "tests/test.h"

#include "model/corpora/corpora.h"

enum { VOCABULARY = 50, WORDS = 41, ROOM = 128 };
static const struct foreign_words foreign = {.mask = 7, .sentinel = 48, .start = 3, .end = 5};

struct packed_batch {
    struct batch batch;
    int64_t start[ROOM], source_start[ROOM];
    int32_t tokens[ROOM], target[ROOM], source_tokens[ROOM];
};

static void pack(struct packed_batch *packed, enum task task, const struct foreign_words *words)
{
    static int32_t tokens[WORDS + 1];
    static struct line line = {0, WORDS};
    const struct text text = {.token_count = WORDS + 1, .tokens = tokens, .line_count = 1, .line = &line};
    const struct reading reading = {.sequences = SEQUENCES_LINES,
        .task = task,
        .context = WORDS,
        .vocabulary = VOCABULARY,
        .end_of_line = 49,
        .foreign = words};

    for (int32_t i = 0; i < WORDS; i++)
        tokens[i] = 8 + i;
    *packed = (struct packed_batch){0};
    packed->batch = (struct batch){.start = packed->start,
        .tokens = packed->tokens,
        .target = packed->target,
        .source_start = packed->source_start,
        .source_tokens = packed->source_tokens};
    validation_sequence(&text, &reading, 0, &packed->batch);
    struct batch_rows extent = reading_extent(&reading, &text, 0);
    CHECK(extent.rows == packed->batch.rows && extent.source == packed->batch.source_rows);
}

TEST(foreign_mask)
{
    struct packed_batch own, other;
    int masks = 0;

    pack(&own, TASK_MASKED, NULL);
    pack(&other, TASK_MASKED, &foreign);
    CHECK(own.batch.rows == WORDS && other.batch.rows == WORDS);
    for (int row = 0; row < WORDS; row++) {
        bool mask = own.tokens[row] == VOCABULARY;
        CHECK(other.target[row] == own.target[row]);
        CHECK(other.tokens[row] == (mask ? foreign.mask : own.tokens[row]));
        masks += mask;
    }
    CHECK(masks > 0);
}

/* The foreign word for one of a corpus. */
static int32_t changed(int32_t word)
{
    if (word >= VOCABULARY)
        return foreign.sentinel - (word - VOCABULARY);
    return word == 49 ? foreign.end : word;
}

TEST(foreign_spans)
{
    struct packed_batch own, other;

    pack(&own, TASK_SPANS, NULL);
    pack(&other, TASK_SPANS, &foreign);
    CHECK(spans_count(WORDS) > 1 && other.batch.rows == own.batch.rows);
    CHECK(other.batch.source_rows == own.batch.source_rows + 1);
    CHECK(other.source_start[1] == other.batch.source_rows);
    for (int64_t row = 0; row < own.batch.source_rows; row++)
        CHECK(other.source_tokens[row] == changed(own.source_tokens[row]));
    CHECK(other.source_tokens[own.batch.source_rows] == foreign.end);
    for (int64_t row = 0; row < own.batch.rows; row++) {
        CHECK(other.target[row] == changed(own.target[row]));
        CHECK(other.tokens[row] == (row ? other.target[row - 1] : foreign.start));
    }
}
