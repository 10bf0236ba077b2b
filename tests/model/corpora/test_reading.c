/* Every task: how many rows its sequences have, and that batches and validations hold exactly those. */
#include "model/core/random.h"
#include "model/corpora/corpora.h"
#include "tests/model/kernels/each_level.h"
#include "tests/scratch.h"

enum { BATCH = 7, ROOM = 1 << 14, CONTEXT_MOST = 200 };

static const enum task tasks[] = {TASK_NEXT, TASK_SPANS, TASK_MASKED, TASK_PAIR, TASK_LAST};

static void write_lines(char path[SCRATCH_PATH], int step, int most)
{
    scratch_file(path);
    FILE *stream = fopen(path, "w");

    for (int line = 0; line < 60; line++) {
        for (int word = 0; word < line * step % most; word++)
            fprintf(stream, "w%d ", (line * 31 + word) % 23);
        fputc('\n', stream);
    }
    fclose(stream);
}

/* Pairs whose sides differ in length, some with an empty side; their targets serve the other tasks as lines.
 */
static void load_pairs(struct corpus *corpus)
{
    char source_path[SCRATCH_PATH], target_path[SCRATCH_PATH];
    struct corpus_source source = {.kind = CORPUS_PAIRS,
        .train_source_path = source_path,
        .train_path = target_path,
        .valid_source_path = source_path,
        .valid_path = target_path};
    enum corpus_fault fault;
    struct error error = {0};

    write_lines(source_path, 7, 19);
    write_lines(target_path, 5, 37);
    CHECK(corpus_load(corpus, &source, &fault, &error) == 0);
    CHECK_TEXT(error.text, "");
    CHECK(corpus->train.line_count == 55 && corpus->train.left_out == 5);
    unlink(source_path);
    unlink(target_path);
}

static struct reading reading_of(
    const struct corpus *corpus, enum task task, enum sequences sequences, int64_t context)
{
    return (struct reading){.sequences = task == TASK_PAIR ? SEQUENCES_LINES : sequences,
        .task = task,
        .context = context,
        .vocabulary = corpus->vocabulary,
        .end_of_line = corpus->end_of_line,
        .seed = 3};
}

/* Calls `check` for every task, both ways of cutting, and contexts from the smallest on. */
static void for_each_reading(void (*check)(const struct corpus *corpus, const struct reading *reading))
{
    static const int64_t contexts[] = {3, 4, 11, 30, CONTEXT_MOST};
    struct corpus corpus;

    load_pairs(&corpus);
    for (size_t t = 0; t < sizeof(tasks) / sizeof(*tasks); t++)
        for (size_t c = 0; c < sizeof(contexts) / sizeof(*contexts); c++)
            for (int lines = 0; lines < 2; lines++) {
                struct reading reading =
                    reading_of(&corpus, tasks[t], lines ? SEQUENCES_LINES : SEQUENCES_STREAM, contexts[c]);
                check(&corpus, &reading);
            }
    corpus_release(&corpus);
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* The longest sequences by sorting them all, on each side alone. */
static void check_most(const struct corpus *corpus, const struct reading *reading)
{
    int64_t count = reading_sequences(reading, &corpus->train), sum = 0, source_sum = 0;
    int64_t *rows = calloc((size_t)count, sizeof(*rows)), *source = calloc((size_t)count, sizeof(*source));

    CHECK(count > 0);
    for (int64_t i = 0; i < count; i++) {
        struct batch_rows extent = reading_extent(reading, &corpus->train, i);
        rows[i] = extent.rows;
        source[i] = extent.source;
        CHECK(extent.rows >= 1 && extent.rows <= reading->context && extent.source <= reading->context);
    }
    qsort(rows, (size_t)count, sizeof(*rows), descending);
    qsort(source, (size_t)count, sizeof(*source), descending);
    for (int64_t n = 0; n <= count + 1; n++) { /* there are no more */
        struct batch_rows most = reading_rows(reading, &corpus->train, n);
        CHECK(most.rows == sum && most.source == source_sum);
        sum += n < count ? rows[n] : 0;
        source_sum += n < count ? source[n] : 0;
    }
    free(rows);
    free(source);
}

TEST(reading_most_rows_of_every_task)
{
    static const struct text none = {0};
    const struct reading stream = {.sequences = SEQUENCES_STREAM, .context = 4};

    for_each_reading(check_most);
    CHECK(reading_rows(&stream, &none, 2).rows == 0 && reading_rows(&stream, &none, 2).source == 0);
}

/* A batch on static memory, with a mark behind its room. */
static struct batch *batch_of(struct batch_rows room)
{
    static int64_t start[ROOM + 1], source_start[ROOM + 1];
    static int32_t tokens[ROOM + 1], target[ROOM + 1], source_tokens[ROOM + 1];
    static struct batch batch = {.start = start,
        .tokens = tokens,
        .target = target,
        .source_start = source_start,
        .source_tokens = source_tokens};

    CHECK(room.rows < ROOM && room.source < ROOM);
    tokens[room.rows] = target[room.rows] = source_tokens[room.source] = -77;
    return &batch;
}

static void check_mark(const struct batch *batch, struct batch_rows room)
{
    CHECK(batch->tokens[room.rows] == -77 && batch->target[room.rows] == -77);
    CHECK(batch->source_tokens[room.source] == -77);
}

/* The extent and the targets of sequence s of a batch are those of sequence `index` of the text; of next
 * words, so are the tokens. */
static void check_sequence(const struct batch *batch, int64_t s, const struct reading *reading,
    const struct text *text, int64_t index)
{
    struct batch_rows extent = reading_extent(reading, text, index);
    int64_t targets = 0, begin = batch->start[s], end = batch->start[s + 1];

    CHECK(end - begin == extent.rows);
    if (reading->task == TASK_NEXT) {
        int32_t words[CONTEXT_MOST + 1];
        struct line line = text_sequence(text, reading->sequences, reading->context, index);
        size_t size = (size_t)line.words * sizeof(*words);
        text_copy(text, line.first, line.words + 1, words);
        CHECK(memcmp(batch->tokens + begin, words, size) == 0);
        CHECK(memcmp(batch->target + begin, words + 1, size) == 0);
    }
    CHECK(!extent.source || batch->source_start[s + 1] - batch->source_start[s] == extent.source);
    for (int64_t row = begin; row < end; row++) {
        targets += batch->target[row] != NO_TARGET;
        CHECK(batch->target[row] >= NO_TARGET && batch->tokens[row] >= 0);
    }
    CHECK(targets == reading_targets(reading, text, index) && targets > 0);
}

/* A digest of all that a batch holds. */
static struct digest digest_of(const struct batch *batch)
{
    struct digest digest;

    digest_init(&digest);
    digest_add(&digest, batch->start, (size_t)(batch->sequences + 1) * sizeof(*batch->start));
    digest_add(&digest, batch->tokens, (size_t)batch->rows * sizeof(*batch->tokens));
    digest_add(&digest, batch->target, (size_t)batch->rows * sizeof(*batch->target));
    digest_add(&digest, batch->source_tokens, (size_t)batch->source_rows * sizeof(*batch->source_tokens));
    return digest;
}

/* Three epochs forward, then backward: the same batches, in their room, all different. */
static void check_batches(const struct corpus *corpus, const struct reading *reading)
{
    enum { STEPS_MOST = 4096 };
    static struct digest forward[STEPS_MOST];
    struct arena arena, counted = {0};
    struct batches batches;

    batches_layout(&batches, &corpus->train, reading, BATCH, &counted);
    int64_t steps = 3 * batches_per_epoch(&batches);
    CHECK(batches.order == NULL && steps == reading_sequences(reading, &corpus->train) / BATCH * 3);
    if (steps == 0)
        return;
    CHECK(steps <= STEPS_MOST && arena_init(&arena, counted.used) == 0);
    batches_layout(&batches, &corpus->train, reading, BATCH, &arena);
    struct batch_rows room = reading_rows(reading, &corpus->train, BATCH);
    struct batch *batch = batch_of(room);
    for (int64_t step = 1; step <= steps; step++) {
        batches_fill(&batches, step, batch);
        check_mark(batch, room);
        CHECK(batch->sequences == BATCH && batch->start[0] == 0 && batch->rows == batch->start[BATCH]);
        for (int64_t s = 0; s < BATCH; s++) {
            int64_t place = (step - 1) % (steps / 3) * BATCH + s;
            check_sequence(batch, s, reading, &corpus->train, batches.order[place]);
        }
        forward[step - 1] = digest_of(batch);
        for (int64_t other = 0; other < step - 1; other++)
            CHECK(memcmp(&forward[other], &forward[step - 1], sizeof(*forward)) != 0);
    }
    for (int64_t step = steps; step > 0; step--) {
        batches_fill(&batches, step, batch);
        struct digest digest = digest_of(batch);
        CHECK(memcmp(&digest, &forward[step - 1], sizeof(digest)) == 0);
    }
    arena_release(&arena);
}

TEST(batches_of_every_task)
{
    for_each_reading(check_batches);
}

/* Whatever the room and the seed of the run: the same sequences in order, packed as tightly as they come. */
static void check_validation(const struct corpus *corpus, const struct reading *reading)
{
    struct digest digest[3];

    for (int i = 0; i < 3; i++) {
        struct reading seeded = *reading;
        struct validation validation;
        int64_t at = 0, got;
        struct batch_rows least = reading_rows(reading, &corpus->valid, 1);
        struct batch_rows room = {(1 + 4 * i) * least.rows, (1 + i) * least.source}; /* either may bind */
        struct batch *batch = batch_of(room);
        seeded.seed = i;
        digest_init(&digest[i]);
        validation_init(&validation, &corpus->valid, &seeded, INT64_MAX);
        CHECK(validation.sequence_count == reading_sequences(reading, &corpus->valid));
        while ((got = validation_next(&validation, room, batch)) > 0) {
            check_mark(batch, room);
            for (int64_t s = 0; s < got; s++)
                check_sequence(batch, s, reading, &corpus->valid, at + s);
            at += got;
            if (at < validation.sequence_count) {
                struct batch_rows next = reading_extent(reading, &corpus->valid, at);
                CHECK(batch->rows + next.rows > room.rows || batch->source_rows + next.source > room.source);
            }
            digest_add(&digest[i], batch->tokens, (size_t)batch->rows * sizeof(*batch->tokens));
        }
        CHECK(at == validation.sequence_count && batch->rows == 0);
    }
    CHECK(memcmp(&digest[0], &digest[1], sizeof(*digest)) == 0);
    CHECK(memcmp(&digest[0], &digest[2], sizeof(*digest)) == 0);
}

TEST(validation_of_every_task)
{
    for_each_reading(check_validation);
}

/* What validate.tokens counts: target tokens of pairs, sums, else tokens of the text, those behind the last
 * window with them. */
TEST(validation_counts_what_is_predicted)
{
    static struct line line[] = {{0, 3}, {4, 1}, {6, 9}, {16, 5}};
    static struct line source[] = {{30, 1}, {30, 2}, {30, 3}, {30, 4}};
    static int32_t tokens[64];
    const struct text text = {
        .token_count = 64, .tokens = tokens, .line_count = 4, .line = line, .source = source};
    static const struct {
        enum task task;
        int64_t tokens, sequences;
    } cases[] = {{TASK_NEXT, 1, 1}, {TASK_NEXT, INT64_MAX, 4}, {TASK_NEXT, 3, 1}, {TASK_NEXT, 4, 2},
        {TASK_NEXT, 5, 3}, {TASK_PAIR, 4, 1}, {TASK_PAIR, 5, 2}, {TASK_PAIR, 7, 3}, {TASK_PAIR, INT64_MAX, 4},
        {TASK_LAST, 1, 1}, {TASK_LAST, 3, 3}, {TASK_LAST, 9, 4}, {TASK_MASKED, 3, 1}, {TASK_MASKED, 4, 2},
        {TASK_SPANS, 3, 1}, {TASK_SPANS, 4, 2}};
    static const int64_t windows[][2] = {{INT64_MAX, 7}, {64, 7}, {17, 2}, {16, 1}, {1, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct reading reading = {
            .sequences = SEQUENCES_LINES, .task = cases[i].task, .context = 8, .vocabulary = 9};
        struct validation validation;
        validation_init(&validation, &text, &reading, cases[i].tokens);
        CHECK(validation.sequence_count == cases[i].sequences);
    }
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
        const struct reading reading = {.sequences = SEQUENCES_STREAM, .context = 8};
        struct validation validation;
        validation_init(&validation, &text, &reading, windows[i][0]);
        CHECK(validation.sequence_count == windows[i][1]);
    }
}

/* ---- the order of an epoch ---- */

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
EACH_LEVEL(epoch_permutation_at_every_level)
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

/* ---- spans ---- */

/* From random_spans_noise_mask of T5's code: length, noise, spans. Ties at 10, 30, 50 go to the even number.
 */
TEST(spans_counts_are_t5s)
{
    static const int64_t counts[][3] = {{2, 1, 1}, {3, 1, 1}, {9, 1, 1}, {10, 2, 1}, {11, 2, 1}, {16, 2, 1},
        {17, 3, 1}, {30, 4, 1}, {31, 5, 2}, {50, 8, 3}, {64, 10, 3}, {70, 10, 3}, {128, 19, 6}, {256, 38, 13},
        {512, 77, 26}, {1024, 154, 51}};

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        int64_t length = counts[i][0], noise = counts[i][1], spans = counts[i][2];
        CHECK(spans_count(length) == spans && objective_words_added(OBJECTIVE_SPANS, length) == spans);
        CHECK(spans_rows(length) == noise + spans + 1);
        CHECK(spans_source_rows(length) == length - noise + spans);
    }
    CHECK(spans_count(1) == 0 && spans_rows(1) == 1 && spans_source_rows(1) == 1);
    CHECK(masked_targets(1) == 1 && masked_targets(10) == 2 && masked_targets(30) == 4);
    for (int64_t length = 2; length < 5000; length++) {
        CHECK(spans_count(length) >= spans_count(length - 1) && spans_rows(length) >= spans_rows(length - 1));
        CHECK(spans_source_rows(length) >= spans_source_rows(length - 1));
        CHECK(spans_rows(length) <= (length > 3 ? length : 3) && spans_source_rows(length) <= length);
    }
}
