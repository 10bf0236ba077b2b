#include "tests/test.h"

#include "model/core/random.h"
#include "model/corpora/batches.h"
#include "tests/model/kernels/each_level.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 60, CONTEXT = 4, BATCH = 3, ROOM = 16 };

/* A text whose tokens tell where they stand: token i is i, but every seventh ends a line and is 99. */
struct toy {
    struct text text;
    int32_t tokens[TOKENS];
    struct line line[TOKENS];
    struct batch batch;
    int64_t start[ROOM + 1];
    int32_t inputs[ROOM * CONTEXT], targets[ROOM * CONTEXT];
};

static void toy_init(struct toy *toy)
{
    memset(toy, 0, sizeof(*toy));
    for (int32_t i = 0; i < TOKENS; i++)
        toy->tokens[i] = i % 7 == 6 || i == 15 ? 99 : i;
    int64_t lines = 0, first = 0;
    for (int32_t i = 0; i < TOKENS; i++)
        if (toy->tokens[i] == 99) {
            toy->line[lines++] = (struct line){first, i - first};
            first = i + 1;
        }
    toy->text =
        (struct text){.token_count = TOKENS, .tokens = toy->tokens, .line_count = lines, .line = toy->line};
    toy->batch = (struct batch){.start = toy->start, .tokens = toy->inputs, .target = toy->targets};
}

/* Sequence s of the batch is sequence `index` of the text. */
static void check_sequence(
    const struct toy *toy, enum sequences sequences, int64_t context, int64_t s, int64_t index)
{
    const struct batch *batch = &toy->batch;
    struct line line = text_sequence(&toy->text, sequences, context, index);
    const int32_t *tokens = toy->tokens + line.first;
    int64_t rows = line.words, first = batch->start[s];

    CHECK(batch->start[s + 1] - first == rows);
    CHECK(memcmp(batch->tokens + first, tokens, (size_t)rows * sizeof(*tokens)) == 0);
    CHECK(memcmp(batch->target + first, tokens + 1, (size_t)rows * sizeof(*tokens)) == 0);
}

/* Which line of the text sequence s of the batch begins: tokens are places. */
static int64_t identify_line(const struct toy *toy, int64_t s)
{
    int64_t place = toy->batch.tokens[toy->batch.start[s]], line = 0;

    while (toy->line[line].first != place)
        line++;
    return line;
}

static size_t layout_size(const struct text *text, enum sequences sequences)
{
    struct arena counting = {0};
    struct batches batches;

    const struct reading reading = {.sequences = sequences, .context = CONTEXT, .seed = 1};
    batches_layout(&batches, text, &reading, BATCH, &counting);
    CHECK(batches.order == NULL);
    return counting.used;
}

/* Every epoch takes floor(N/B) * B different sequences; epochs, seeds and steps out of order. */
TEST(batches_of_lines)
{
    struct toy toy;
    struct arena arena;
    struct batches batches;
    int64_t taken[2][9] = {{0}};

    toy_init(&toy);
    CHECK(arena_init(&arena, layout_size(&toy.text, SEQUENCES_LINES)) == 0);
    const struct reading reading = {.sequences = SEQUENCES_LINES, .context = CONTEXT, .seed = 1};
    batches_layout(&batches, &toy.text, &reading, BATCH, &arena);
    CHECK(batches.sequence_count == 9 && batches_per_epoch(&batches) == 3);
    for (int64_t step = 6; step >= 1; step--) {
        batches_fill(&batches, step, &toy.batch);
        CHECK(toy.batch.sequences == BATCH && toy.batch.start[0] == 0);
        CHECK(toy.batch.rows == toy.batch.start[BATCH]);
        for (int64_t s = 0; s < BATCH; s++) {
            int64_t index = identify_line(&toy, s);
            check_sequence(&toy, SEQUENCES_LINES, CONTEXT, s, index);
            taken[(step - 1) / 3][index]++;
        }
    }
    for (int64_t i = 0; i < 9; i++)
        CHECK(taken[0][i] == 1 && taken[1][i] == 1);
    arena_release(&arena);
}

TEST(batches_of_a_stream)
{
    struct toy toy;
    struct arena arena;
    struct batches batches;
    int64_t order[14];

    toy_init(&toy);
    CHECK(arena_init(&arena, layout_size(&toy.text, SEQUENCES_STREAM)) == 0);
    const struct reading reading = {.sequences = SEQUENCES_STREAM, .context = CONTEXT, .seed = 5};
    batches_layout(&batches, &toy.text, &reading, BATCH, &arena);
    CHECK(batches.sequence_count == 14 && batches_per_epoch(&batches) == 4); /* two are left out */
    for (int64_t step = 1; step <= 8; step++) {
        batches_fill(&batches, step, &toy.batch);
        epoch_permutation(order, 14, 5, (step - 1) / 4);
        for (int64_t s = 0; s < BATCH; s++)
            check_sequence(&toy, SEQUENCES_STREAM, CONTEXT, s, order[(step - 1) % 4 * BATCH + s]);
    }
    arena_release(&arena);
}

TEST(batches_too_few_sequences)
{
    struct toy toy;
    struct arena counting = {0};
    struct batches batches;

    toy_init(&toy);
    const struct reading lines = {.sequences = SEQUENCES_LINES, .context = CONTEXT};
    const struct reading stream = {.sequences = SEQUENCES_STREAM, .context = TOKENS};
    batches_layout(&batches, &toy.text, &lines, 10, &counting);
    CHECK(batches_per_epoch(&batches) == 0);
    batches_layout(&batches, &toy.text, &stream, 1, &counting);
    CHECK(batches_per_epoch(&batches) == 0);
}

TEST(epoch_permutation_is_one)
{
    enum { COUNT = 1000 };
    int64_t order[COUNT], again[COUNT], other[COUNT];
    char seen[COUNT] = {0};

    epoch_permutation(order, COUNT, 3, 7);
    epoch_permutation(again, COUNT, 3, 7);
    CHECK(memcmp(order, again, sizeof(order)) == 0);
    epoch_permutation(other, COUNT, 3, 8);
    CHECK(memcmp(order, other, sizeof(order)) != 0);
    epoch_permutation(other, COUNT, 4, 7);
    CHECK(memcmp(order, other, sizeof(order)) != 0);
    for (int64_t i = 0; i < COUNT; i++) {
        bool new = order[i] >= 0 && order[i] < COUNT && !seen[order[i]];
        CHECK(new);
        if (new)
            seen[order[i]] = 1;
    }
    order[0] = 5;
    epoch_permutation(order, 0, 1, 1);
    CHECK(order[0] == 5);
    epoch_permutation(order, 1, 1, 1);
    CHECK(order[0] == 0);
}

/* The inside-out shuffle, draw by draw; counts around those that are drawn together. */
static void check_shuffle(const struct kernels *kernels)
{
    static const int64_t counts[] = {2, 3, 63, 64, 65, 255, 256, 257, 1250};
    int64_t order[1250], expected[1250] = {0};

    (void)kernels;
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        for (int64_t i = 0; i < counts[c]; i++) {
            uint64_t draw = UINT64_C(9) << 40 | (uint64_t)i;
            int64_t j = (int64_t)random_below(6, RANDOM_PERMUTATION, draw, (uint64_t)i + 1);
            expected[i] = j < i ? expected[j] : i;
            expected[j] = i;
        }
        epoch_permutation(order, counts[c], 6, 9);
        CHECK(memcmp(order, expected, (size_t)counts[c] * sizeof(*order)) == 0);
    }
}

TEST(epoch_permutation_at_every_level)
{
    each_level(check_shuffle);
}

/* The 24 orders of four are equally frequent: each count within 5 standard deviations. */
TEST(epoch_permutation_is_uniform)
{
    const int64_t epochs = 48000;
    double count[256] = {0}, expected = (double)epochs / 24, deviation = sqrt(expected * 23 / 24);
    int64_t order[4], seen = 0;

    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        epoch_permutation(order, 4, 11, epoch);
        count[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (int64_t i = 0; i < 256; i++)
        if (count[i] > 0) {
            CHECK_CLOSE(count[i], expected, 5 * deviation);
            seen++;
        }
    CHECK(seen == 24);
}

/* The rows of sequence `index`; more than any batch has where there is none. */
static int64_t length_of(const struct validation *validation, int64_t index)
{
    if (index == validation->sequence_count)
        return INT64_MAX;
    return reading_extent(&validation->reading, validation->text, index).rows;
}

/* Goes through a validation by batches of `rows` and checks that it is sequences 0 .. expected-1, packed as
 * tightly as they come. */
static void check_validation(
    enum sequences sequences, int64_t context, int64_t tokens, int64_t rows, int64_t expected)
{
    struct toy toy;
    struct validation validation;
    int64_t done = 0, got;

    toy_init(&toy);
    const struct reading reading = {.sequences = sequences, .context = context};
    validation_init(&validation, &toy.text, &reading, tokens);
    CHECK(validation.sequence_count == expected);
    while ((got = validation_next(&validation, (struct batch_rows){.rows = rows}, &toy.batch)) > 0) {
        CHECK(toy.batch.sequences == got && toy.batch.rows == toy.batch.start[got]);
        for (int64_t s = 0; s < got; s++)
            check_sequence(&toy, sequences, context, s, done + s);
        done += got;
        CHECK(got == 1 || toy.batch.rows <= rows);
        CHECK(length_of(&validation, done) > rows - toy.batch.rows);
    }
    CHECK(done == expected && toy.batch.rows == 0);
}

TEST(validation_of_a_stream)
{
    check_validation(SEQUENCES_STREAM, 4, INT64_MAX, 12, 14);
    check_validation(SEQUENCES_STREAM, 4, TOKENS, 23, 14);
    check_validation(SEQUENCES_STREAM, 4, 21, 12, 5); /* five windows of 4 + 1 tokens end at token 21 */
    check_validation(SEQUENCES_STREAM, 4, 20, 1, 4);
    check_validation(SEQUENCES_STREAM, 4, 1, 12, 1);
    check_validation(SEQUENCES_STREAM, TOKENS, INT64_MAX, 12, 0);
}

/* Lines of 6, 6, 1, 4, 6, ... words; of 4, 4, 1, 4, 4 predictions with a context of 4. */
TEST(validation_of_lines)
{
    check_validation(SEQUENCES_LINES, 4, INT64_MAX, 8, 9);
    check_validation(SEQUENCES_LINES, 4, 1, 8, 1);
    check_validation(SEQUENCES_LINES, 4, 4, 8, 1);
    check_validation(SEQUENCES_LINES, 4, 5, 9, 2);
    check_validation(SEQUENCES_LINES, 4, 9, 40, 3);
    check_validation(SEQUENCES_LINES, 4, 10, 5, 4);
}
