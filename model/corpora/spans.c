#include "model/corpora/spans.h"

#include "model/core/random.h"
#include "model/corpora/objective.h"

enum { SPAN_LENGTH = 3 }; /* the mean */

/* The draws of gaps begin at 0, those of spans here: a sequence has fewer than 2^32 tokens. */
#define DRAW_SPANS (UINT64_C(1) << 32)

/* Tokens of a sequence that lie in spans: at least one, and at least one lies in a gap. */
static int64_t noise_of(int64_t length)
{
    int64_t noise = objective_noise(length);

    if (length < 2)
        return 0;
    return noise > 1 ? noise : 1;
}

int64_t spans_count(int64_t length)
{
    int64_t noise = noise_of(length), spans = (2 * noise + SPAN_LENGTH) / (2 * SPAN_LENGTH);

    return noise > 0 && spans < 1 ? 1 : spans;
}

int64_t spans_rows(int64_t length)
{
    return noise_of(length) + spans_count(length) + 1;
}

int64_t spans_source_rows(int64_t length)
{
    return length - noise_of(length) + spans_count(length);
}

/* Tokens still to be cut into so many parts of at least one each. */
struct partition {
    int64_t tokens, parts;
    uint64_t seed, draw; /* the next one */
};

/*
 * The length of the next part. After each token but the last, a part ends with probability (ends that are
 * needed) / (places that are left): so each set of ends is equally likely.
 */
static int64_t next_part(struct partition *partition)
{
    int64_t needed = --partition->parts, length = 0, place;

    if (needed == 0)
        return partition->tokens;
    do {
        length++;
        place = (int64_t)random_below(
            partition->seed, RANDOM_SPANS, partition->draw++, (uint64_t)--partition->tokens);
    } while (place >= needed);
    return length;
}

static void add_source(struct batch *batch, const struct text *text, int64_t first, int64_t count)
{
    text_copy(text, first, count, batch->source_tokens + batch->source_rows);
    batch->source_rows += count;
}

static void add_targets(struct batch *batch, const struct text *text, int64_t first, int64_t count)
{
    text_copy(text, first, count, batch->target + batch->rows);
    batch->rows += count;
}

void spans_append(struct batch *batch, const struct text *text, struct line sequence,
    const struct spans_words *words, uint64_t seed)
{
    int64_t noise = noise_of(sequence.words), spans = spans_count(sequence.words), at = sequence.first;
    struct partition gap = {sequence.words - noise, spans, seed, 0};
    struct partition span = {noise, spans, seed, DRAW_SPANS};
    int64_t begin = batch->rows;

    if (spans == 0)
        add_source(batch, text, at, sequence.words);
    for (int32_t i = 0; i < spans; i++) {
        int64_t kept = next_part(&gap), taken = next_part(&span);
        add_source(batch, text, at, kept);
        batch->source_tokens[batch->source_rows++] = words->sentinel + i * words->step;
        batch->target[batch->rows++] = words->sentinel + i * words->step;
        add_targets(batch, text, at + kept, taken);
        at += kept + taken;
    }
    if (words->source_ends)
        batch->source_tokens[batch->source_rows++] = words->end;
    batch->target[batch->rows++] = words->end;
    batch->tokens[begin] = words->start;
    for (int64_t row = begin + 1; row < batch->rows; row++)
        batch->tokens[row] = batch->target[row - 1];
    batch->start[++batch->sequences] = batch->rows;
    batch->source_start[batch->sequences] = batch->source_rows;
}
