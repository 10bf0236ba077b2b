/* What heads attend to and how large states are: in closed form where there is one, against definitions
 * elsewhere. */
#include "tests/model/lay_out.h"
#include "tests/model/network/model_case.h"

#include "model/instruments/instruments.h"

#include <stdlib.h>

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

enum { SEQUENCES = 4, LAYERS = 3, HEADS = 4, WIDTH = 8 };

static const int64_t lengths[SEQUENCES] = {5, 1, 3, 7};

static struct architecture small(
    enum norm_placement placement, enum network network, enum attention_mask mask)
{
    struct architecture a = decoder_of(11, 7, WIDTH, HEADS, 6, LAYERS);

    a.norm_placement = placement;
    a.network = network;
    a.attention_mask = mask;
    a.biases = BIAS_ALL;
    a.decoder_layers = 2;
    a.kv_heads = 2;
    return a;
}

struct bench {
    struct model_case base;
    struct attending attending;
    struct arena arena;
};

static void bench_begin(struct bench *b, const struct architecture *a)
{
    *b = (struct bench){0};
    model_case_begin(&b->base, a, lengths, SEQUENCES, 1, false, 5);
    LAY_OUT(&b->arena, attending_layout(&b->attending, a, b->base.batch.rows, &b->arena));
}

static void bench_end(struct bench *b)
{
    model_case_release(&b->base);
    arena_release(&b->arena);
}

static void measure(struct bench *b, int times)
{
    attending_begin(&b->attending);
    for (int i = 0; i < times; i++) {
        transformer_forward(&b->base.model, b->base.weights, &b->base.batch, false);
        attending_add(&b->attending, &b->base.model, &b->base.batch);
    }
    attending_end(&b->attending, &b->base.model.architecture);
}

/* Scores of 0: every row attends equally to all positions that have a weight. Exact, but for the last bits of
 * sums. */
static void check_zero(struct architecture a, int times)
{
    struct bench b;
    double sinks[STACKS_MOST] = {0};

    a.zero_query_key = true;
    bench_begin(&b, &a);
    measure(&b, times);
    for (int64_t head = 0; head < b.attending.blocks * HEADS; head++) {
        int64_t stack = architecture_stack_of(&a, head / HEADS);
        const struct packed side = transformer_side(&b.base.model, &b.base.batch, stack);
        bool causal = architecture_stack(&a, stack).mask == MASK_CAUSAL;
        double entropy = 0, first = 0, rows = (double)(side.rows - side.sequences);
        for (int64_t s = 0; s < side.sequences; s++)
            for (int64_t t = 1; t < side.start[s + 1] - side.start[s]; t++) {
                double seen = (double)(causal ? t + 1 : side.start[s + 1] - side.start[s]);
                entropy += log(seen) / rows;
                first += 1 / seen / rows;
            }
        CHECK(b.attending.max_logit[head] == 0);
        CHECK_CLOSE(b.attending.entropy[head], entropy, 1e-14);
        CHECK_CLOSE(b.attending.first[head], first, 1e-14);
        sinks[stack] += first > 0.3;
    }
    for (int64_t stack = 0; stack < b.attending.stacks; stack++) {
        const struct stack_form form = architecture_stack(&a, stack);
        CHECK(b.attending.sink_share[stack] == sinks[stack] / (double)((form.end - form.begin) * HEADS));
    }
    bench_end(&b);
}

TEST(attending_of_equal_scores)
{
    for (enum norm_placement placement = NORM_POST; placement <= NORM_OUT; placement++)
        for (int times = 1; times < 3; times++) {
            check_zero(small(placement, NETWORK_DECODER, MASK_CAUSAL), times);
            check_zero(small(placement, NETWORK_DECODER, MASK_MULTIPLICATIVE), times);
            check_zero(small(placement, NETWORK_ENCODER, MASK_CAUSAL), times);
            check_zero(small(placement, NETWORK_ENCODER_DECODER, MASK_CAUSAL), times);
        }
}

/* Keys are as large as their position is far from the first: heads of scores 4 t, 40 t (all weight on the
 * latest), -40 t (all on the first) and 0. */
TEST(attending_of_made_scores)
{
    struct architecture a = small(NORM_OUT, NETWORK_DECODER, MASK_CAUSAL);
    static const double slope[HEADS] = {4, 40, -40, 0};
    struct bench b;

    a.kv_heads = 0;
    a.layers = 1;
    a.biases = 0;
    a.score_scale = SCORE_NONE;
    bench_begin(&b, &a);
    memset(b.base.weights, 0, (size_t)b.base.model.layout.size * sizeof(scalar));
    for (int64_t t = 0; t < a.context; t++) {
        model_case_tensor(&b.base, TENSOR_POSITION, 0)[t * WIDTH] = 1;
        model_case_tensor(&b.base, TENSOR_POSITION, 0)[t * WIDTH + 1] = (scalar)t;
    }
    for (int head = 0; head < HEADS; head++) {
        model_case_tensor(&b.base, TENSOR_Q, 0)[2 * head * WIDTH] = 1;
        model_case_tensor(&b.base, TENSOR_K, 0)[2 * head * WIDTH + 1] = (scalar)slope[head];
    }
    measure(&b, 1);
    double entropy = 0, first = 0;
    for (int s = 0; s < SEQUENCES; s++)
        for (int64_t t = 1; t < lengths[s]; t++) {
            double sum = 0;
            for (int64_t j = 0; j <= t; j++)
                sum += exp(4 * (double)(j - t));
            for (int64_t j = 0; j <= t; j++)
                entropy += exp(4 * (double)(j - t)) / sum * (log(sum) - 4 * (double)(j - t)) / 12;
            first += exp(-4 * (double)t) / sum / 12;
        }
    CHECK_CLOSE(b.attending.max_logit[0], 24, rounding);
    CHECK_CLOSE(b.attending.entropy[0], entropy, rounding);
    CHECK_CLOSE(b.attending.first[0], first, rounding);
    CHECK_CLOSE(b.attending.max_logit[1], 240, 10 * rounding);
    CHECK_CLOSE(b.attending.entropy[1], 0, 1e-15);
    CHECK_CLOSE(b.attending.first[1], 0, 1e-15);
    CHECK(b.attending.max_logit[2] == 0 && b.attending.first[2] == 1);
    CHECK_CLOSE(b.attending.entropy[2], 0, 1e-15);
    CHECK(b.attending.max_logit[3] == 0);
    CHECK_CLOSE(b.attending.sink_share[0], (1 + (b.attending.first[3] > 0.3)) / 4.0, 1e-15);
    bench_end(&b);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* By sorting. */
static double ratio_of(const scalar *x, int64_t count)
{
    double *sorted = malloc((size_t)count * sizeof(*sorted));

    for (int64_t i = 0; i < count; i++)
        sorted[i] = fabs((double)x[i]);
    qsort(sorted, (size_t)count, sizeof(*sorted), by_size);
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2, ratio = sorted[count - 1] / median;
    free(sorted);
    return ratio;
}

static void check_activations(const struct bench *b)
{
    const struct architecture *a = &b->base.model.architecture;
    int64_t at = 0;

    for (int64_t stack = 0; stack < b->attending.stacks; stack++) {
        const struct stack_form form = architecture_stack(a, stack);
        const struct packed side = transformer_side(&b->base.model, &b->base.batch, stack);
        for (int64_t depth = 0; depth <= form.end - form.begin; depth++, at++) {
            const scalar *state = transformer_state(&b->base.model, stack, depth);
            double square = 0, ratio = 0;
            for (int64_t i = 0; i < side.rows * a->width; i++)
                square += (double)state[i] * (double)state[i];
            for (int64_t s = 0; s < side.sequences; s++)
                ratio += ratio_of(state + side.start[s] * a->width,
                             (side.start[s + 1] - side.start[s]) * a->width) /
                         (double)side.sequences;
            CHECK_CLOSE(b->attending.rms[at], sqrt(square / (double)(side.rows * a->width)), 1e-12);
            CHECK_CLOSE(b->attending.largest[at] / ratio, 1, 1e-12);
        }
    }
}

/* Widths, odd and even, at which the median is one element or the mean of two; ties. */
TEST(attending_of_activations)
{
    for (enum norm_placement placement = NORM_POST; placement <= NORM_OUT; placement++)
        for (int64_t width = 1; width < 6; width++) {
            struct architecture a = small(placement, NETWORK_ENCODER_DECODER, MASK_CAUSAL);
            struct bench b;
            a.width = width;
            a.heads = a.kv_heads = 1;
            bench_begin(&b, &a);
            for (int64_t i = 0; width == 4 && i < b.base.model.layout.size; i++)
                b.base.weights[i] = (scalar)round(4 * (double)b.base.weights[i]);
            measure(&b, 1);
            if (width > 1 || placement != NORM_POST) /* else layernorm makes all states 0 */
                check_activations(&b);
            bench_end(&b);
        }
}

/* Embeddings of which more than half of the elements are 0: there is no ratio to their median. */
TEST(attending_of_sparse_activations)
{
    struct architecture a = small(NORM_PRE, NETWORK_DECODER, MASK_CAUSAL);
    struct bench b;

    bench_begin(&b, &a);
    for (int64_t i = 0; i < 7 * WIDTH; i++)
        model_case_tensor(&b.base, TENSOR_POSITION, -1)[i] = 0;
    for (int64_t i = 0; i < 11 * WIDTH; i++)
        if (i % WIDTH)
            model_case_tensor(&b.base, TENSOR_TOKEN, -1)[i] = 0;
    measure(&b, 1);
    CHECK(isnan(b.attending.largest[0]) && isfinite(b.attending.rms[0]) && isfinite(b.attending.largest[1]));
    bench_end(&b);
}

/* NaN of a head of the second block: it alone, and the states behind. Nothing was added: nothing is known. */
TEST(attending_of_nothing)
{
    struct architecture a = small(NORM_PRE, NETWORK_DECODER, MASK_CAUSAL);
    struct bench b;

    a.kv_heads = 0;
    bench_begin(&b, &a);
    measure(&b, 0);
    CHECK(isnan(b.attending.max_logit[0]) && isnan(b.attending.entropy[0]) && isnan(b.attending.first[0]));
    CHECK(isnan(b.attending.sink_share[0]) && isnan(b.attending.rms[0]) && isnan(b.attending.largest[0]));
    model_case_tensor(&b.base, TENSOR_Q, 1)[0] = (scalar)NAN;
    measure(&b, 1);
    for (int64_t head = 0; head < LAYERS * HEADS; head++) {
        bool is = head == HEADS || head >= 2 * HEADS;
        CHECK(isnan(b.attending.max_logit[head]) == is && isnan(b.attending.entropy[head]) == is &&
              isnan(b.attending.first[head]) == is);
    }
    CHECK(isnan(b.attending.sink_share[0]) && isnan(b.attending.rms[2]) && isnan(b.attending.largest[2]));
    CHECK(isfinite(b.attending.rms[1]) && isfinite(b.attending.largest[1]));
    bench_end(&b);
}
