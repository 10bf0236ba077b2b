/* What a network learns to predict: of its kinds, the spans of T5 and the masked words of BERT choose tokens
 * of a sequence at random and hide them from the network. */
#include "model/corpora/corpora.h"

#include "model/core/random.h"

/* How many of the tokens of a sequence spans and masks take away: 15 %, rounded to the nearest integer and
 * ties to the even one, as in the code of T5 and BERT. */
static int64_t noise_tokens(int64_t length)
{
    int64_t whole = 3 * length / 20, rest = 3 * length % 20; /* 15 % in integers, so that ties are exact */

    return whole + (rest > 10 || (rest == 10 && whole % 2 == 1));
}

/* ---- spans ---- */

enum { SPAN_LENGTH = 3 }; /* the mean */

/* The draws of gaps begin at 0, those of spans here: a sequence has fewer than 2^32 tokens. */
#define DRAW_SPANS (UINT64_C(1) << 32)

/* Tokens of a sequence that lie in spans: at least one, and at least one lies in a gap. */
static int64_t noise_of(int64_t length)
{
    int64_t noise = noise_tokens(length);

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

/* ---- masked words ---- */

/* The draws of a token. */
enum { DRAW_CHOICE, DRAW_FATE, DRAW_WORD, DRAWS };

int64_t masked_targets(int64_t length)
{
    int64_t targets = noise_tokens(length);

    return targets > 1 ? targets : 1;
}

/* What the input shows in place of a chosen word. */
static int32_t shown(int32_t word, int64_t vocabulary, int32_t mask, uint64_t seed, uint64_t draw)
{
    uint64_t tenth = random_below(seed, RANDOM_MASKED, draw + DRAW_FATE, 10);

    if (tenth < 8)
        return mask;
    if (tenth == 8)
        return (int32_t)random_below(seed, RANDOM_MASKED, draw + DRAW_WORD, (uint64_t)vocabulary);
    return word;
}

/* Chooses each token with probability (targets still needed) / (tokens still left): each set is equally
 * likely. */
void masked_append(struct batch *batch, const struct text *text, struct line sequence, int64_t vocabulary,
    int32_t mask, uint64_t seed)
{
    int64_t needed = masked_targets(sequence.words);
    int32_t *tokens = batch->tokens + batch->rows, *target = batch->target + batch->rows;

    text_copy(text, sequence.first, sequence.words, tokens);
    for (int64_t i = 0; i < sequence.words; i++) {
        uint64_t draw = DRAWS * (uint64_t)i, left = (uint64_t)(sequence.words - i);
        bool chosen = (int64_t)random_below(seed, RANDOM_MASKED, draw + DRAW_CHOICE, left) < needed;
        target[i] = chosen ? tokens[i] : NO_TARGET;
        needed -= chosen;
        if (chosen)
            tokens[i] = shown(tokens[i], vocabulary, mask, seed, draw);
    }
    batch->rows += sequence.words;
    batch->start[++batch->sequences] = batch->rows;
}

/* ---- both ---- */

int64_t objective_words_added(enum objective objective, int64_t context)
{
    switch (objective) {
    case OBJECTIVE_NEXT:
        return 0;
    case OBJECTIVE_SPANS:
        return spans_count(context);
    case OBJECTIVE_MASKED:
        return 1;
    }
    return 0;
}
