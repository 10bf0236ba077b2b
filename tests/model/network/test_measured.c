/*
 * Networks that are measured and not trained, against plain formulas in double: token types, a norm of the
 * embeddings, keys of distances in a whole block, and what lies before the output matrix.
 */
#include "tests/test.h"

#include "model/network/inside.h"
#include "tests/aborts.h"
#include "tests/model/network/model_case.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 5e-5;

enum { WIDTH = 12, FEEDFORWARD = 10, HEADS = 3, DEPTH = 5, LONGEST = 9, VOCABULARY = 23 };

static const int64_t lengths[] = {5, 1, LONGEST, 2};

static struct architecture measured(enum positions positions, enum activation activation)
{
    return (struct architecture){.network = NETWORK_ENCODER,
        .vocabulary = VOCABULARY,
        .context = LONGEST + 2,
        .width = WIDTH,
        .heads = HEADS,
        .head_width = DEPTH,
        .feedforward = FEEDFORWARD,
        .layers = 2,
        .norm_placement = NORM_POST,
        .positions = positions,
        .activation = activation,
        .biases = BIAS_ALL,
        .init_scale = 1,
        .residual_scale = 1,
        .norm_epsilon = 1e-3};
}

/* Row `row` of a tensor [rows, columns], at column `c`. */
static double of(const struct model_case *k, enum tensor_kind kind, int64_t layer, int64_t row, int64_t c)
{
    const struct tensor *tensor = &k->model.layout.tensor[tensor_index(&k->model.architecture, kind, layer)];

    return tensor->size ? (double)k->weights[tensor->offset + row * tensor->columns + c] : 0;
}

/* out [n] = in [m] W^T + b */
static void linear(const struct model_case *k, double *out, const double *in, enum tensor_kind matrix,
    enum tensor_kind bias, int64_t layer, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        out[i] = of(k, bias, layer, 0, i);
        for (int64_t j = 0; j < m; j++)
            out[i] += of(k, matrix, layer, i, j) * in[j];
    }
}

/* A layernorm of a row, in place. */
static void normalise(
    const struct model_case *k, double *x, enum tensor_kind gain, enum tensor_kind shift, int64_t layer)
{
    double mean = 0, variance = 0;

    for (int64_t c = 0; c < WIDTH; c++)
        mean += x[c] / WIDTH;
    for (int64_t c = 0; c < WIDTH; c++)
        variance += (x[c] - mean) * (x[c] - mean) / WIDTH;
    for (int64_t c = 0; c < WIDTH; c++)
        x[c] =
            (x[c] - mean) / sqrt(variance + k->model.architecture.norm_epsilon) * of(k, gain, layer, 0, c) +
            of(k, shift, layer, 0, c);
}

static double activate(enum activation activation, double x)
{
    switch (activation) {
    case ACTIVATION_GELU:
        return x * erfc(-x / sqrt(2)) / 2;
    case ACTIVATION_GELU_TANH:
        return x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
    case ACTIVATION_SILU:
        return x / (1 + exp(-x));
    case ACTIVATION_RELU:
    case ACTIVATION_COUNT:
        break;
    }
    return fmax(x, 0);
}

static void check_row(const scalar *row, const double *expected, int64_t count, const char *what)
{
    int wrong = 0;

    for (int64_t c = 0; c < count; c++)
        wrong += !(fabs((double)row[c] - expected[c]) <= rounding * (1 + fabs(expected[c])));
    if (wrong)
        test_fail(__FILE__, __LINE__, "%s: %d of %d are wrong", what, wrong, (int)count);
}

static void begin_case(struct model_case *k, const struct architecture *a)
{
    model_case_init(k, a, lengths, 4, 5);
    model_case_move(k, 0.1);
    transformer_forward(&k->model, k->weights, &k->batch, false);
}

/* ---- embeddings ---- */

static void check_embeddings(const struct architecture *a)
{
    struct model_case k;

    begin_case(&k, a);
    for (int64_t s = 0; s < k.batch.sequences; s++)
        for (int64_t row = k.batch.start[s]; row < k.batch.start[s + 1]; row++) {
            double x[WIDTH];
            for (int64_t c = 0; c < WIDTH; c++)
                x[c] = of(&k, TENSOR_TOKEN, -1, k.batch.tokens[row], c) +
                       of(&k, TENSOR_POSITION, -1, row - k.batch.start[s], c) + of(&k, TENSOR_TYPE, -1, 0, c);
            if (a->embedding_norm)
                normalise(&k, x, TENSOR_EMBEDDING_NORM, TENSOR_EMBEDDING_NORM_BIAS, -1);
            check_row(transformer_state(&k.model, 0, 0) + row * WIDTH, x, WIDTH, "embeddings");
        }
    model_case_release(&k);
}

TEST(measured_embeddings)
{
    for (int bits = 0; bits < 8; bits++) {
        struct architecture a = measured(bits & 4 ? POSITIONS_LEARNED : POSITIONS_NONE, ACTIVATION_GELU);
        a.embedding_norm = bits & 1;
        a.token_types = bits & 2 ? 3 : 0;
        check_embeddings(&a);
    }
}

/* ---- keys of distances ---- */

struct row_of_heads {
    double at[HEADS * DEPTH];
};

/* One sequence of a block: queries, keys and values, and the keys of all distances. */
struct sequence {
    struct row_of_heads q[LONGEST], k[LONGEST], v[LONGEST], distance[2 * LONGEST];
};

static void project(
    const struct model_case *k, struct sequence *s, const scalar *state, int64_t layer, int64_t length)
{
    for (int64_t i = 0; i < length; i++) {
        double x[WIDTH];
        for (int64_t c = 0; c < WIDTH; c++)
            x[c] = (double)state[i * WIDTH + c];
        linear(k, s->q[i].at, x, TENSOR_Q, TENSOR_Q_BIAS, layer, HEADS * DEPTH, WIDTH);
        linear(k, s->k[i].at, x, TENSOR_K, TENSOR_K_BIAS, layer, HEADS * DEPTH, WIDTH);
        linear(k, s->v[i].at, x, TENSOR_V, TENSOR_V_BIAS, layer, HEADS * DEPTH, WIDTH);
    }
    for (int64_t d = 1 - length; d < length; d++) {
        double sinusoid[WIDTH];
        for (int64_t c = 0; c < WIDTH / 2; c++) {
            double angle = (double)d / pow(10000, 2 * (double)c / WIDTH);
            sinusoid[c] = sin(angle);
            sinusoid[WIDTH / 2 + c] = cos(angle);
        }
        for (int64_t i = 0; i < HEADS * DEPTH; i++) {
            s->distance[d + LONGEST].at[i] = 0;
            for (int64_t c = 0; c < WIDTH; c++)
                s->distance[d + LONGEST].at[i] += of(k, TENSOR_DISTANCE, layer, i, c) * sinusoid[c];
        }
    }
}

/* The mean of the values of head h that query i takes. */
static void attend(const struct model_case *k, const struct sequence *s, double *mixed, int64_t layer,
    int64_t i, int64_t length, int64_t h, bool hard)
{
    double p[LONGEST], most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < length; j++) {
        p[j] = 0;
        for (int64_t c = h * DEPTH; c < (h + 1) * DEPTH; c++)
            p[j] += (s->q[i].at[c] + of(k, TENSOR_CONTENT_BIAS, layer, 0, c)) * s->k[j].at[c] +
                    (s->q[i].at[c] + of(k, TENSOR_DISTANCE_BIAS, layer, 0, c)) *
                        s->distance[i - j + LONGEST].at[c];
        most = fmax(most, p[j]);
    }
    for (int64_t j = 0; j < length; j++) {
        p[j] = hard ? p[j] == most : exp((p[j] - most) / sqrt(DEPTH));
        sum += p[j];
    }
    for (int64_t c = h * DEPTH; c < (h + 1) * DEPTH; c++) {
        mixed[c] = 0;
        for (int64_t j = 0; j < length; j++)
            mixed[c] += p[j] / sum * s->v[j].at[c];
    }
}

/* x [WIDTH] from what attention has mixed for its row, through the rest of a block with the norms behind. */
static void finish_block(const struct model_case *k, double *x, const double *mixed, int64_t layer)
{
    double added[WIDTH], hidden[FEEDFORWARD];

    linear(k, added, mixed, TENSOR_O, TENSOR_O_BIAS, layer, WIDTH, HEADS * DEPTH);
    for (int64_t c = 0; c < WIDTH; c++)
        x[c] += added[c];
    normalise(k, x, TENSOR_LN1, TENSOR_LN1_BIAS, layer);
    linear(k, hidden, x, TENSOR_W1, TENSOR_W1_BIAS, layer, FEEDFORWARD, WIDTH);
    for (int64_t c = 0; c < FEEDFORWARD; c++)
        hidden[c] = activate(k->model.architecture.activation, hidden[c]);
    linear(k, added, hidden, TENSOR_W2, TENSOR_W2_BIAS, layer, WIDTH, FEEDFORWARD);
    for (int64_t c = 0; c < WIDTH; c++)
        x[c] += added[c];
    normalise(k, x, TENSOR_LN2, TENSOR_LN2_BIAS, layer);
}

/* A block's output from its input, of one sequence. */
static void check_block(const struct model_case *k, int64_t layer, int64_t sequence, bool hard)
{
    static struct sequence s;
    int64_t first = k->batch.start[sequence], length = k->batch.start[sequence + 1] - first;
    const scalar *in = transformer_state(&k->model, 0, layer) + first * WIDTH;
    const scalar *out = transformer_state(&k->model, 0, layer + 1) + first * WIDTH;

    project(k, &s, in, layer, length);
    for (int64_t i = 0; i < length; i++) {
        double mixed[HEADS * DEPTH], x[WIDTH];
        for (int64_t h = 0; h < HEADS; h++)
            attend(k, &s, mixed, layer, i, length, h, hard);
        for (int64_t c = 0; c < WIDTH; c++)
            x[c] = (double)in[i * WIDTH + c];
        finish_block(k, x, mixed, layer);
        check_row(out + i * WIDTH, x, WIDTH, "block");
    }
}

TEST(measured_distances)
{
    for (int hard = 0; hard < 2; hard++)
        for (enum activation activation = 0; activation < ACTIVATION_COUNT; activation++) {
            const struct architecture a = measured(POSITIONS_DISTANCE, activation);
            struct model_case k;
            begin_case(&k, &a);
            transformer_forward(&k.model, k.weights, &k.batch, hard);
            for (int64_t layer = 0; layer < a.layers; layer++)
                for (int64_t s = 0; s < k.batch.sequences; s++)
                    check_block(&k, layer, s, hard);
            model_case_release(&k);
        }
}

/* ---- before the output matrix ---- */

/* The logits of a row from the last state, through the final norm where there is one. */
static void expect_logits(const struct model_case *k, double *logits, int64_t row)
{
    const struct architecture *a = &k->model.architecture;
    double x[WIDTH], transformed[WIDTH];

    for (int64_t c = 0; c < WIDTH; c++)
        x[c] = (double)transformer_state(&k->model, 0, a->layers)[row * WIDTH + c];
    if (a->norm_placement == NORM_PRE || a->final_norm)
        normalise(k, x, TENSOR_FINAL, TENSOR_FINAL_BIAS, -1);
    check_row(transformer_final(&k->model) + row * WIDTH, x, WIDTH, "final");
    if (a->transform) {
        linear(k, transformed, x, TENSOR_TRANSFORM, TENSOR_TRANSFORM_BIAS, -1, WIDTH, WIDTH);
        for (int64_t c = 0; c < WIDTH; c++)
            x[c] = activate(a->activation, transformed[c]);
        normalise(k, x, TENSOR_TRANSFORM_NORM, TENSOR_TRANSFORM_NORM_BIAS, -1);
    }
    for (int64_t c = 0; c < WIDTH; c++)
        x[c] *= a->output_scale != 0 ? a->output_scale : 1;
    linear(k, logits, x, a->tied ? TENSOR_TOKEN : TENSOR_OUTPUT, TENSOR_OUTPUT_BIAS, -1, VOCABULARY, WIDTH);
}

/* The logits of all rows, and the losses of those with a target. */
static void check_output(struct model_case *k)
{
    size_t rows = (size_t)k->batch.rows;
    scalar *logits = calloc(rows * VOCABULARY, sizeof(*logits));
    double *loss = calloc(rows, sizeof(*loss));
    int wrong = 0;

    transformer_logits(&k->model, k->weights, &k->batch, logits);
    transformer_loss(&k->model, k->weights, &k->batch, loss);
    for (int64_t row = 0; row < k->batch.rows; row++) {
        double expected[VOCABULARY], sum = 0;
        int32_t target = k->batch.target[row];
        expect_logits(k, expected, row);
        check_row(logits + row * VOCABULARY, expected, VOCABULARY, "logits");
        for (int64_t word = 0; word < VOCABULARY; word++)
            sum += exp(expected[word]);
        if (target == NO_TARGET)
            wrong += !isnan(loss[row]);
        else
            wrong += !(fabs(loss[row] - (log(sum) - expected[target])) <= 10 * rounding);
    }
    if (wrong)
        test_fail(__FILE__, __LINE__, "%d losses of %d rows are wrong", wrong, (int)rows);
    free(logits);
    free(loss);
}

/* In one block of the output layer's rows and in several, with all targets and with some. */
TEST(measured_outputs)
{
    static const int64_t many[] = {LONGEST + 2, 400, 1, 300};

    for (int bits = 0; bits < 32; bits++)
        for (enum activation activation = 0; activation < ACTIVATION_COUNT; activation++) {
            struct architecture a = measured(POSITIONS_NONE, activation);
            struct model_case k;
            a.transform = bits & 1;
            a.norm_placement = bits % 3 ? NORM_POST : NORM_PRE;
            a.final_norm = bits % 5 == 1;
            a.output_scale = bits & 2 ? 0.3 : 0;
            a.tied = bits & 4;
            a.network = bits & 8 ? NETWORK_DECODER : NETWORK_ENCODER; /* every row has a target */
            a.context = bits & 16 ? 400 : a.context;
            model_case_init(&k, &a, bits & 16 ? many : lengths, 4, 5);
            model_case_move(&k, 0.1);
            check_output(&k);
            model_case_release(&k);
        }
}

/* ---- no gradients ---- */

/* The fields that only the forward pass has; FORWARD_ONLY: none of them. */
enum { TYPES, NORMED, TRANSFORM, DISTANCES, FORWARD_ONLY };

static struct architecture with_field(int field)
{
    enum positions positions = field == DISTANCES ? POSITIONS_DISTANCE : POSITIONS_LEARNED;
    struct architecture a = measured(positions, ACTIVATION_GELU);

    a.token_types = field == TYPES ? 2 : 0;
    a.embedding_norm = field == NORMED;
    a.transform = field == TRANSFORM;
    return a;
}

static struct model_case refused;

static void want_gradient(void)
{
    transformer_gradient(&refused.model, refused.weights, &refused.batch, refused.weights);
}

static void want_stream_gradient(void)
{
    transformer_output_gradient(&refused.model, refused.weights, &refused.batch, 0, refused.weights);
}

static void want_block_gradient(void)
{
    transformer_block_gradient(&refused.model, refused.weights, &refused.batch, 0, refused.weights);
}

static void want_tangents(void)
{
    struct arena counted = {0};

    transformer_layout(&refused.model, &refused.model.architecture, 8, 1, true, &counted);
}

TEST(measured_networks_have_no_gradients)
{
    const struct architecture all = with_field(FORWARD_ONLY);

    CHECK(architecture_has_gradients(&all));
    for (int field = 0; field < FORWARD_ONLY; field++) {
        const struct architecture a = with_field(field);
        CHECK(!architecture_has_gradients(&a));
        begin_case(&refused, &a);
        CHECK(says_and_aborts(want_gradient, "architecture_has_gradients"));
        CHECK(says_and_aborts(want_stream_gradient, "architecture_has_gradients"));
        CHECK(says_and_aborts(want_block_gradient, "architecture_has_gradients"));
        CHECK(says_and_aborts(want_tangents, "architecture_has_gradients"));
        model_case_release(&refused);
    }
}

/* Every kind of sub-layer without gradients is of architectures without. */
TEST(measured_sublayers_have_no_gradients)
{
    for (enum sublayer_kind kind = 0; kind < SUBLAYER_KINDS; kind++) {
        const struct sublayer_row *row = &sublayer_table[kind];
        bool has = kind != SUBLAYER_DISTANCE;
        CHECK(row->layout && row->forward);
        CHECK(!row->gradient == !has);
    }
}
