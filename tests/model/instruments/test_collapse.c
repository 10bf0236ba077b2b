/* The words that a model predicts, and the loss of saying the same whatever comes in. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"
#include "tests/model/kernels/each_level.h"
#include "tests/model/network/model_case.h"

enum { LOGITS = 200 };

/* Every place, row lengths around the widths of vectors; the first of equals, and never NaN. */
EACH_LEVEL(collapse_argmax)
{
    scalar x[LOGITS];

    for (int64_t count = 1; count <= 70; count++)
        for (int64_t at = 0; at < count; at++) {
            for (int64_t i = 0; i < count; i++)
                x[i] = (scalar)random_uniform(4, RANDOM_TEST, (uint64_t)i);
            x[count / 2] = x[at / 2] = (scalar)NAN;
            x[at] = x[count - 1] = 9;
            CHECK(kernels->argmax(x, count) == at);
        }
    for (int i = 0; i < LOGITS; i++)
        x[i] = (scalar)NAN;
    CHECK(kernels->argmax(x, LOGITS) == 0);
    x[LOGITS - 3] = -(scalar)INFINITY;
    CHECK(kernels->argmax(x, LOGITS) == LOGITS - 3);
    x[77] = (scalar)INFINITY;
    CHECK(kernels->argmax(x, LOGITS) == 77);
}

/* More rows than logits are computed at a time. */
enum { VOCABULARY = 11, CONTEXT = 13, SEQUENCES = 90, LENGTHS = 7, ROWS = 720 };

static int64_t length_of(int64_t sequence)
{
    static const int64_t lengths[LENGTHS] = {13, 1, 13, 4, 9, 13, 2};

    return lengths[sequence % LENGTHS];
}

struct collapse_case {
    struct model_case base;
    struct collapse collapse;
    struct batch batch, part;
    struct arena arena;
    double *row_loss;
};

static void lay_out(struct collapse_case *k, struct arena *arena)
{
    collapse_layout(&k->collapse, VOCABULARY, ROWS, arena);
    batch_layout(&k->batch, (struct batch_rows){ROWS, 0}, arena);
    batch_layout(&k->part, (struct batch_rows){ROWS, 0}, arena);
    k->row_loss = arena_take(arena, ROWS, sizeof(double));
}

/* Targets whose distribution is far from flat: low words come more often. */
static void fill_batch(struct batch *batch)
{
    batch->sequences = SEQUENCES;
    for (int64_t s = 0; s < SEQUENCES; s++)
        batch->start[s + 1] = batch->start[s] + length_of(s);
    batch->rows = batch->start[SEQUENCES];
    for (int64_t row = 0; row < batch->rows; row++) {
        uint64_t bound = 1 + random_below(3, RANDOM_TEST, (uint64_t)row, VOCABULARY);
        batch->tokens[row] = (int32_t)random_below(1, RANDOM_TEST, (uint64_t)row, VOCABULARY);
        batch->target[row] = (int32_t)random_below(2, RANDOM_TEST, (uint64_t)row, bound);
    }
}

static void collapse_case_init(struct collapse_case *k)
{
    struct architecture architecture = decoder_of(VOCABULARY, CONTEXT, 12, 2, 20, 2);
    const int64_t rows[] = {ROWS};

    architecture.biases = BIAS_ALL;
    model_case_init(&k->base, &architecture, rows, 1, 3);
    LAY_OUT(&k->arena, lay_out(k, &k->arena));
    fill_batch(&k->batch);
    collapse_begin(&k->collapse);
}

#define IN_CASE(id)                                                                                          \
    TEST_IN(id, struct collapse_case, k, collapse_case_init(k),                                              \
        (arena_release(&k->arena), model_case_release(&k->base)))

static double evaluate(struct collapse_case *k, const struct batch *batch)
{
    return transformer_evaluate(&k->base.model, k->base.weights, batch, k->row_loss, k->collapse.predicted);
}

/* Of the words that are predicted for a batch. */
static struct collapse_measures measure(struct collapse_case *k, const struct batch *batch)
{
    struct collapse_measures measures;

    collapse_begin(&k->collapse);
    collapse_add(&k->collapse, batch);
    collapse_end(&k->collapse, &measures);
    return measures;
}

/* To the bit: sums go sequence by sequence. */
IN_CASE(collapse_does_not_depend_on_the_batches)
{
    struct collapse_measures whole, parts;

    for (int64_t i = 0; i < (int64_t)VOCABULARY * k->base.model.architecture.width; i++)
        model_case_tensor(&k->base, TENSOR_OUTPUT, 0)[i] *= 5; /* confident: words differ from row to row */
    evaluate(k, &k->batch);
    whole = measure(k, &k->batch);
    collapse_begin(&k->collapse);
    for (int64_t s = 0; s < SEQUENCES; s++) {
        int64_t begin = k->batch.start[s];
        k->part.sequences = 1;
        k->part.rows = k->part.start[1] = length_of(s);
        memcpy(k->part.tokens, k->batch.tokens + begin, (size_t)length_of(s) * sizeof(int32_t));
        memcpy(k->part.target, k->batch.target + begin, (size_t)length_of(s) * sizeof(int32_t));
        evaluate(k, &k->part);
        collapse_add(&k->collapse, &k->part);
    }
    collapse_end(&k->collapse, &parts);
    CHECK(memcmp(&whole, &parts, sizeof(whole)) == 0);
    CHECK(whole.predicted_entropy > 0.5 && whole.accuracy > 0 && whole.accuracy < 1);
}

/* An output layer that sees nothing, with the logarithms of the words' frequencies for biases: one word
 * everywhere, and the loss of looking at nothing. In training there are two lines, of 8 and of 2 targets: a
 * target counts 5/8 in one and 5/2 in the other. Words 3 and 8 are none there. */
IN_CASE(collapse_of_a_constant_prediction)
{
    static int32_t tokens[] = {1, 2, 4, 2, 5, 2, 6, 7, 0, 1, 9, 10, 0, 8};
    static struct line line[] = {{0, 8}, {10, 2}};
    static const double times[VOCABULARY] = {3.125, 1, 1.875, 1, 0.625, 0.625, 0.625, 0.625, 1, 1, 2.5};
    const struct text training = {.token_count = 14, .tokens = tokens, .line_count = 2, .line = line};
    const struct reading lines = {.sequences = SEQUENCES_LINES, .context = 64};
    struct collapse_measures got;
    int64_t right = 0;

    memset(model_case_tensor(&k->base, TENSOR_OUTPUT, 0), 0,
        (size_t)(VOCABULARY * k->base.model.architecture.width) * sizeof(scalar));
    for (int64_t i = 0; i < VOCABULARY; i++)
        model_case_tensor(&k->base, TENSOR_OUTPUT_BIAS, 0)[i] = (scalar)log(times[i]);
    double loss = evaluate(k, &k->batch);
    got = measure(k, &k->batch);
    for (int64_t row = 0; row < k->batch.rows; row++)
        right += k->batch.target[row] == 0;
    CHECK(got.predicted_entropy == 0);
    CHECK(got.accuracy == (double)right / (double)k->batch.rows && right > 0);
    CHECK_CLOSE(collapse_unigram_loss(&k->collapse, &training, &lines, &k->part), loss,
        sizeof(scalar) == sizeof(double) ? 1e-12 : 1e-6);
}

/* Rows without a target change nothing: the same sequences without these rows give the same numbers. */
IN_CASE(collapse_of_rows_without_a_target)
{
    struct collapse_measures sparse, dense;

    k->part.sequences = k->part.rows = k->part.start[0] = 0;
    for (int64_t s = 0; s < k->batch.sequences; s++) {
        for (int64_t row = k->batch.start[s]; row < k->batch.start[s + 1]; row++) {
            k->collapse.predicted[row] = (int32_t)(row % 5);
            if (row > k->batch.start[s] && row % 3 == 0)
                k->batch.target[row] = NO_TARGET;
            else
                k->part.target[k->part.rows++] = k->batch.target[row];
        }
        k->part.start[++k->part.sequences] = k->part.rows;
    }
    CHECK(k->part.rows < k->batch.rows && k->part.rows > k->batch.rows / 2);
    sparse = measure(k, &k->batch);
    double share[VOCABULARY];
    memcpy(share, k->collapse.share, sizeof(share));
    for (int64_t row = 0, at = 0; row < k->batch.rows; row++)
        if (k->batch.target[row] != NO_TARGET)
            k->collapse.predicted[at++] = (int32_t)(row % 5);
    dense = measure(k, &k->part);
    CHECK(memcmp(&sparse, &dense, sizeof(dense)) == 0);
    CHECK(memcmp(share, k->collapse.share, sizeof(share)) == 0);
}

/* Of sums, only the results count: words 5 and 6, three to one. */
IN_CASE(collapse_unigram_level_of_sums)
{
    static int32_t tokens[] = {1, 2, 9, 5, 3, 4, 9, 5, 1, 1, 9, 6, 2, 2, 9, 5};
    static struct line line[] = {{0, 3}, {4, 3}, {8, 3}, {12, 3}};
    const struct text training = {.token_count = 16, .tokens = tokens, .line_count = 4, .line = line};
    const struct reading sums = {.sequences = SEQUENCES_LINES, .task = TASK_LAST, .context = 3};

    k->batch.sequences = 1;
    k->batch.rows = k->batch.start[1] = 3;
    k->batch.target[0] = k->batch.target[1] = NO_TARGET;
    k->batch.target[2] = 5;
    k->collapse.predicted[2] = 6;
    collapse_begin(&k->collapse);
    collapse_add(&k->collapse, &k->batch);
    CHECK_CLOSE(collapse_unigram_loss(&k->collapse, &training, &sums, &k->part),
        -log(3.0 / (3 + 1 + VOCABULARY - 2)), 1e-14);
}

IN_CASE(collapse_of_few_words)
{
    static int32_t sevens[] = {7, 7, 7};
    const struct text even = {0}, training = {.token_count = 3, .tokens = sevens};
    const struct reading pairs = {.sequences = SEQUENCES_STREAM, .context = 2};
    struct collapse_measures got;

    collapse_end(&k->collapse, &got);
    CHECK(isnan(collapse_unigram_loss(&k->collapse, &even, &pairs, &k->part)));
    collapse_begin(&k->collapse);
    CHECK(isnan(got.predicted_entropy) && isnan(got.accuracy));
    k->batch.sequences = 2; /* lengths 13 and 1 */
    k->batch.rows = 14;
    for (int64_t row = 0; row < 14; row++) {
        k->batch.target[row] = row == 13 ? 4 : 7;
        k->collapse.predicted[row] = row % 2 ? 4 : 7;
    }
    got = measure(k, &k->batch);
    CHECK_CLOSE(got.predicted_entropy, log(2), 1e-15);
    CHECK_CLOSE(got.accuracy, 8.0 / 14, 1e-15);
    CHECK_CLOSE(collapse_unigram_loss(&k->collapse, &even, &pairs, &k->part), log(VOCABULARY), 1e-14);
    CHECK_CLOSE(collapse_unigram_loss(&k->collapse, &training, &pairs, &k->part), log(12) - log(2) / 2,
        1e-14); /* sequences alike */
    for (int64_t row = 0; row < 14; row++)
        k->batch.target[row] = k->collapse.predicted[row] = 7;
    got = measure(k, &k->batch);
    CHECK(got.predicted_entropy == 0 && got.accuracy == 1);
}
