/*
 * How a network reads a text: as one stream or line by line, and for which task. A row of `tasks` says of
 * a sequence how many rows, source tokens and targets it has, and appends it to a batch. Nothing fails.
 */
#include "model/corpora/corpora.h"

#include "model/core/random.h"

/* A sequence that is being packed: its place in the text, and the seed of its draws. */
struct sequence {
    struct line line;
    int64_t index;
    uint64_t seed;
};

typedef void append_function(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch);

static append_function append_next, append_spans, append_masked, append_pair, append_last;

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
    append_function *append;
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

/* ---- packing ---- */

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

static void append_spans(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    const struct foreign_words *foreign = reading->foreign;
    const struct spans_words words =
        foreign ? (struct spans_words){foreign->sentinel, -1, foreign->start, foreign->end, true}
                : (struct spans_words){
                      (int32_t)reading->vocabulary, 1, reading->end_of_line, reading->end_of_line, false};

    spans_append(batch, text, sequence->line, &words, sequence->seed);
}

static void append_masked(const struct reading *reading, const struct text *text,
    const struct sequence *sequence, struct batch *batch)
{
    masked_append(batch, text, sequence->line, reading->vocabulary,
        reading->foreign ? reading->foreign->mask : (int32_t)reading->vocabulary, sequence->seed);
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
