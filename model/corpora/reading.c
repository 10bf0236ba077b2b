/*
 * How a network reads a text: as one stream or line by line, and for which task. A row of `tasks` says of
 * a sequence how many rows, source tokens and targets it has, and appends it to a batch. The spans of T5 and
 * the masked words of BERT hide tokens of a sequence, chosen at random, from the network. Nothing fails.
 */
#include "model/corpora/corpora.h"

#include "model/core/random.h"

/* ---- what is hidden ---- */

/* How many of the tokens of a sequence spans and masks take away: 15 %, rounded to the nearest integer and
 * ties to the even one, as in the code of T5 and BERT. */
static int64_t noise_tokens(int64_t length)
{
    int64_t whole = 3 * length / 20, rest = 3 * length % 20; /* 15 % in integers, so that ties are exact */

    return whole + (rest > 10 || (rest == 10 && whole % 2 == 1));
}

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

int64_t masked_targets(int64_t length)
{
    int64_t targets = noise_tokens(length);

    return targets > 1 ? targets : 1;
}

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

/* ---- lengths ---- */

/* The length of a sequence made of a line, cut: each side of a pair has an <eos>. */
static int64_t cut(const struct reading *reading, int64_t words)
{
    int64_t length = words + (reading->task == TASK_PAIR);

    return length < reading->context ? length : reading->context;
}

static int64_t length_of(const struct reading *reading, const struct text *text, int64_t index)
{
    if (reading->sequences == SEQUENCES_STREAM)
        return reading->context;
    return cut(reading, text->line[index].words);
}

/* ---- packing ---- */

/* A sequence that is being packed: its place in the text, and the seed of its draws. */
struct sequence {
    struct line line;
    int64_t index;
    uint64_t seed;
};

/* Ends the sequence, which has `rows` rows from the last one of the batch on. */
static void end_sequence(struct batch *batch, int64_t rows)
{
    batch->rows += rows;
    batch->start[++batch->sequences] = batch->rows;
}

static void append_next(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    struct line line = sequence->line;

    (void)reading;
    text_copy(text, line.first, line.words, batch->tokens + batch->rows);
    text_copy(text, line.first + 1, line.words, batch->target + batch->rows);
    end_sequence(batch, line.words);
}

static void append_last(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    int64_t begin = batch->rows;

    append_next(reading, text, sequence, batch);
    for (int64_t row = begin; row < batch->rows - 1; row++)
        batch->target[row] = NO_TARGET;
}

static void append_pair(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    struct line source = text->source[sequence->index], target = text->line[sequence->index];
    int64_t read = cut(reading, source.words), rows = cut(reading, target.words);
    int32_t *tokens = batch->tokens + batch->rows;

    text_copy(text, source.first, read, batch->source_tokens + batch->source_rows);
    batch->source_rows += read;
    tokens[0] = reading->end_of_line;
    text_copy(text, target.first, rows - 1, tokens + 1);
    text_copy(text, target.first, rows, batch->target + batch->rows);
    end_sequence(batch, rows);
    batch->source_start[batch->sequences] = batch->source_rows;
}

/* Tokens still to be cut into so many parts of at least one each. */
struct partition {
    int64_t tokens, parts;
    uint64_t seed, draw; /* the next one */
};

/* The length of the next part. After each token but the last, a part ends with probability (ends that are
 * needed) / (places that are left): so each set of ends is equally likely. */
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

static void append_spans(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    const struct foreign_words *foreign = reading->foreign;
    int32_t sentinel = foreign ? foreign->sentinel : (int32_t)reading->vocabulary, step = foreign ? -1 : 1;
    int32_t end = foreign ? foreign->end : reading->end_of_line;
    int64_t words = sequence->line.words, at = sequence->line.first, begin = batch->rows;
    int64_t noise = noise_of(words), spans = spans_count(words);
    struct partition gap = {words - noise, spans, sequence->seed, 0};
    struct partition span = {noise, spans, sequence->seed, DRAW_SPANS};

    if (spans == 0)
        add_source(batch, text, at, words);
    for (int32_t i = 0; i < spans; i++) {
        int64_t kept = next_part(&gap), taken = next_part(&span);
        add_source(batch, text, at, kept);
        batch->source_tokens[batch->source_rows++] = sentinel + i * step;
        batch->target[batch->rows++] = sentinel + i * step;
        text_copy(text, at + kept, taken, batch->target + batch->rows);
        batch->rows += taken;
        at += kept + taken;
    }
    if (foreign)
        batch->source_tokens[batch->source_rows++] = end;
    batch->target[batch->rows++] = end;
    batch->tokens[begin] = foreign ? foreign->start : end;
    for (int64_t row = begin + 1; row < batch->rows; row++)
        batch->tokens[row] = batch->target[row - 1];
    end_sequence(batch, 0);
    batch->source_start[batch->sequences] = batch->source_rows;
}

/* The draws of a token that may be masked. */
enum { DRAW_CHOICE, DRAW_FATE, DRAW_WORD, DRAWS };

/* Chooses each token with probability (targets needed) / (tokens left): each set is equally likely. */
static void append_masked(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    int64_t words = sequence->line.words, needed = masked_targets(words);
    int32_t mask = reading->foreign ? reading->foreign->mask : (int32_t)reading->vocabulary;
    int32_t *tokens = batch->tokens + batch->rows, *target = batch->target + batch->rows;
    uint64_t seed = sequence->seed;

    text_copy(text, sequence->line.first, words, tokens);
    for (int64_t i = 0; i < words; i++) {
        uint64_t draw = DRAWS * (uint64_t)i, left = (uint64_t)(words - i);
        bool chosen = (int64_t)random_below(seed, RANDOM_MASKED, draw + DRAW_CHOICE, left) < needed;
        target[i] = chosen ? tokens[i] : NO_TARGET;
        if (!chosen)
            continue;
        needed--;
        uint64_t tenth = random_below(seed, RANDOM_MASKED, draw + DRAW_FATE, 10);
        if (tenth < 8)
            tokens[i] = mask;
        else if (tenth == 8)
            tokens[i] =
                (int32_t)random_below(seed, RANDOM_MASKED, draw + DRAW_WORD, (uint64_t)reading->vocabulary);
    }
    end_sequence(batch, words);
}

/* ---- tasks ---- */

static int64_t none(int64_t length)
{
    (void)length;
    return 0;
}

static int64_t one(int64_t length)
{
    (void)length;
    return 1;
}

static int64_t all(int64_t length)
{
    return length;
}

/* Of a sequence of some length: its rows, the tokens of its source, its targets, what validate.tokens counts.
 * Rows and source do not fall with the length. */
static const struct {
    int64_t (*rows)(int64_t length), (*source)(int64_t length), (*targets)(int64_t length),
        (*counted)(int64_t length);
    void (*append)(const struct reading *reading, const struct text *text, const struct sequence *sequence,
        struct batch *batch);
    bool drawn; /* depends on the seed of the sequence */
} tasks[] = {
    [TASK_NEXT] = {all, none, all, all, append_next, false},
    [TASK_SPANS] = {spans_rows, spans_source_rows, spans_rows, all, append_spans, true},
    [TASK_MASKED] = {all, none, masked_targets, all, append_masked, true},
    [TASK_PAIR] = {all, all, all, all, append_pair, false},
    [TASK_LAST] = {all, none, one, one, append_last, false},
};

int64_t reading_sequences(const struct reading *reading, const struct text *text)
{
    return text_sequences(text, reading->sequences, reading->context);
}

struct batch_rows reading_extent(const struct reading *reading, const struct text *text, int64_t index)
{
    int64_t length = length_of(reading, text, index);
    bool pair = reading->task == TASK_PAIR, end = reading->task == TASK_SPANS && reading->foreign;

    return (struct batch_rows){
        .rows = tasks[reading->task].rows(length),
        .source = tasks[reading->task].source(pair ? cut(reading, text->source[index].words) : length) + end,
    };
}

/* Sums `rows` over the `count` longest lines. */
static int64_t sum_longest(const struct reading *reading, const struct line_length *length, int64_t lengths,
    int64_t count, int64_t (*rows)(int64_t length))
{
    int64_t sum = 0;

    for (int64_t i = 0; i < lengths && count > 0; i++) {
        int64_t lines = length[i].lines < count ? length[i].lines : count;
        sum += lines * rows(cut(reading, length[i].words));
        count -= lines;
    }
    return sum;
}

struct batch_rows reading_rows(const struct reading *reading, const struct text *text, int64_t count)
{
    int64_t (*rows)(int64_t) = tasks[reading->task].rows, (*source)(int64_t) = tasks[reading->task].source;
    bool pair = reading->task == TASK_PAIR;

    if (reading->sequences == SEQUENCES_STREAM) {
        int64_t windows = reading_sequences(reading, text);
        count = windows < count ? windows : count;
        return (struct batch_rows){count * rows(reading->context), count * source(reading->context)};
    }
    return (struct batch_rows){
        .rows = sum_longest(reading, text->length, text->length_count, count, rows),
        .source = sum_longest(reading, pair ? text->source_length : text->length,
            pair ? text->source_length_count : text->length_count, count, source),
    };
}

int64_t reading_targets(const struct reading *reading, const struct text *text, int64_t index)
{
    return tasks[reading->task].targets(length_of(reading, text, index));
}

int64_t reading_counted(const struct reading *reading, const struct text *text, int64_t index)
{
    return tasks[reading->task].counted(length_of(reading, text, index));
}

void reading_append(
    const struct reading *reading, const struct text *text, int64_t index, int64_t epoch, struct batch *batch)
{
    struct sequence sequence = {
        .line = text_sequence(text, reading->sequences, reading->context, index),
        .index = index,
    };

    if (tasks[reading->task].drawn)
        sequence.seed =
            random_bits((uint64_t)reading->seed, RANDOM_SEQUENCE, (uint64_t)epoch << 40 | (uint64_t)index);
    tasks[reading->task].append(reading, text, &sequence, batch);
}
