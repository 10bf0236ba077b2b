/* Every layer, and whole models in every arrangement, against central differences in double. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/random.h"
#include "model/corpora/batches.h"
#include "model/kernels/levels.h"
#include "model/layers/activation.h"
#include "model/layers/attention.h"
#include "model/layers/linear.h"
#include "model/layers/norm.h"
#include "model/network/transformer.h"
#include "tests/model/network/arrangements.h"
#include "tests/model/network/model_case.h"

#ifdef SCALAR_DOUBLE

static const double tolerance = 1e-7;

typedef double function(void *context);

static void draw(scalar *x, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = random_normal(seed, RANDOM_TEST, (uint64_t)i);
}

/* The derivative of f by *x, from differences of fourth order: norms of few elements have large third
 * derivatives. A larger step would meet more kinks of relu. */
static double difference_of(function *f, void *context, scalar *x)
{
    const double step = 3e-6, kept = *x;
    double value[4];

    for (int i = 0; i < 4; i++) {
        *x = kept + (i < 2 ? i - 2 : i - 1) * step;
        value[i] = f(context);
    }
    *x = kept;
    return (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * step);
}

/* |differences - gradient| / |gradient| over x. */
static double gradient_error(function *f, void *context, scalar *x, const scalar *gradient, int64_t count)
{
    double error = 0, norm = 0;

    for (int64_t i = 0; i < count; i++) {
        double difference = difference_of(f, context, &x[i]) - gradient[i];
        error += difference * difference;
        norm += gradient[i] * gradient[i];
    }
    return sqrt(error / norm);
}

/* sum of c * y */
static double weighted(const scalar *c, const scalar *y, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += c[i] * y[i];
    return sum;
}

enum { ROWS = 7, IN = 5, OUT = 6 };

/* A team of one. */
static struct team alone(int64_t scratch_size, struct arena *arena)
{
    struct arena counted = {0};
    struct team team;

    team_layout(&team, PRECISION_FLOAT, 1, scratch_size, &counted);
    CHECK(arena_init(arena, counted.used) == 0);
    team_layout(&team, PRECISION_FLOAT, 1, scratch_size, arena);
    return team;
}

struct linear_case {
    struct linear linear;
    scalar x[ROWS * IN], y[ROWS * OUT], residual[ROWS * OUT], c[ROWS * OUT];
};

static double linear_value(void *context)
{
    struct linear_case *k = context;

    linear_forward(&k->linear, k->y, k->x, k->residual, ROWS, false);
    return weighted(k->c, k->y, ROWS * OUT);
}

TEST(gradient_linear)
{
    static struct linear_case k;
    static scalar weight[OUT * IN], bias[OUT], dweight[OUT * IN], dbias[OUT], dx[ROWS * IN];

    struct arena arena;
    struct team team = alone(PRODUCT_SCRATCH, &arena);

    k.linear = (struct linear){.team = &team,
        .weight = weight,
        .bias = bias,
        .dweight = dweight,
        .dbias = dbias,
        .in = IN,
        .out = OUT};
    draw(weight, OUT * IN, 1);
    draw(bias, OUT, 2);
    draw(k.x, ROWS * IN, 3);
    draw(k.residual, ROWS * OUT, 4);
    draw(k.c, ROWS * OUT, 5);
    linear_weight_gradient(&k.linear, k.c, k.x, ROWS, false);
    linear_input_gradient(&k.linear, dx, k.c, NULL, ROWS, false);
    CHECK(gradient_error(linear_value, &k, k.x, dx, ROWS * IN) < tolerance);
    CHECK(gradient_error(linear_value, &k, weight, dweight, OUT * IN) < tolerance);
    CHECK(gradient_error(linear_value, &k, bias, dbias, OUT) < tolerance);
    CHECK(gradient_error(linear_value, &k, k.residual, k.c, ROWS * OUT) < tolerance);
    arena_release(&arena);
}

TEST(gradient_linear_in_parts)
{
    static struct linear_case k;
    static scalar weight[OUT * IN], whole[OUT * IN], parts[OUT * IN], dbias[2][OUT];

    struct arena arena;
    struct team team = alone(PRODUCT_SCRATCH, &arena);

    k.linear = (struct linear){
        .team = &team, .weight = weight, .dweight = whole, .dbias = dbias[0], .in = IN, .out = OUT};
    draw(weight, OUT * IN, 1);
    draw(k.x, ROWS * IN, 3);
    draw(k.c, ROWS * OUT, 5);
    linear_weight_gradient(&k.linear, k.c, k.x, ROWS, false);
    k.linear.dweight = parts;
    k.linear.dbias = dbias[1];
    linear_weight_gradient(&k.linear, k.c, k.x, 3, false);
    linear_weight_gradient(&k.linear, k.c + 3 * OUT, k.x + 3 * IN, ROWS - 3, true);
    for (int i = 0; i < OUT * IN; i++)
        CHECK_CLOSE(parts[i], whole[i], 1e-14);
    for (int i = 0; i < OUT; i++)
        CHECK_CLOSE(dbias[1][i], dbias[0][i], 1e-14);
    arena_release(&arena);
}

struct norm_case {
    void (*forward)(scalar *, const scalar *, const scalar *, const scalar *, const scalar *, scalar,
        scalar *, scalar *, int64_t, int64_t);
    scalar in[ROWS * IN], out[ROWS * IN], residual[ROWS * IN], c[ROWS * IN];
    scalar gain[IN], bias[IN], mean[ROWS], scale[ROWS];
};

static double norm_value(void *context)
{
    struct norm_case *k = context;

    k->forward(k->out, k->in, k->residual, k->gain, k->bias, (scalar)1e-5, k->mean, k->scale, ROWS, IN);
    return weighted(k->c, k->out, ROWS * IN);
}

static void check_norm(enum norm_kind kind)
{
    static struct norm_case k;
    static scalar din[ROWS * IN], dgain[IN], dbias[IN];
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);

    draw(k.in, ROWS * IN, 1);
    draw(k.residual, ROWS * IN, 2);
    draw(k.c, ROWS * IN, 3);
    draw(k.gain, IN, 4);
    draw(k.bias, IN, 5);
    k.forward = kind == LAYERNORM ? kernels->layernorm : kernels->rmsnorm;
    norm_value(&k);
    (kind == LAYERNORM ? kernels->layernorm_gradient : kernels->rmsnorm_gradient)(
        din, dgain, dbias, k.c, k.in, k.gain, k.mean, k.scale, ROWS, IN, false);
    CHECK(gradient_error(norm_value, &k, k.in, din, ROWS * IN) < tolerance);
    CHECK(gradient_error(norm_value, &k, k.gain, dgain, IN) < tolerance);
    CHECK(gradient_error(norm_value, &k, k.bias, dbias, IN) < tolerance);
    CHECK(gradient_error(norm_value, &k, k.residual, k.c, ROWS * IN) < tolerance);
}

TEST(gradient_norms)
{
    for (enum norm_kind kind = 0; kind < NORM_KIND_COUNT; kind++)
        check_norm(kind);
}

struct activation_case {
    scalar x[ROWS * IN], y[ROWS * IN], slope[ROWS * IN], c[ROWS * IN];
    enum activation activation;
};

static double activation_value(void *context)
{
    struct activation_case *k = context;

    const struct team team = {.kernels = kernels_best(PRECISION_FLOAT), .threads = 1};

    memcpy(k->slope, k->x, sizeof(k->slope));
    activation_forward(&team, k->activation, k->y, k->slope, NULL, ROWS * IN);
    return weighted(k->c, k->y, ROWS * IN);
}

TEST(gradient_activations)
{
    static struct activation_case k;
    static scalar dx[ROWS * IN];

    draw(k.x, ROWS * IN, 1);
    draw(k.c, ROWS * IN, 2);
    for (k.activation = 0; k.activation < ACTIVATION_COUNT; k.activation++) {
        activation_value(&k);
        kernels_best(PRECISION_FLOAT)->multiply(dx, k.c, k.slope, ROWS * IN);
        CHECK(gradient_error(activation_value, &k, k.x, dx, ROWS * IN) < tolerance);
    }
}

/* Sequences on both sides of a block of queries (at most 64), and one of a single token; keys of others. */
enum { HEAD_COUNT = 2, WIDTH = 6, TOKENS = 1 + 9 + 64 + 5, KEYS = 3 + 70 + 2 };

struct heads_case {
    struct heads heads;
    struct projected in;
    scalar q[TOKENS * WIDTH], k[KEYS * 2 * WIDTH]; /* keys and values side by side */
    scalar qkv[TOKENS * 3 * WIDTH], mixed[TOKENS * WIDTH], c[TOKENS * WIDTH];
};

static double heads_value(void *context)
{
    struct heads_case *k = context;

    heads_forward(&k->heads, k->mixed, &k->in);
    return weighted(k->c, k->mixed, TOKENS * WIDTH);
}

static struct heads_case *heads_case(const struct team *team)
{
    static const int64_t start[] = {0, 1, 10, TOKENS};
    static scalar most[HEAD_COUNT * TOKENS], inverse[HEAD_COUNT * TOKENS];
    static struct heads_case k;

    k.heads = (struct heads){.team = team,
        .heads = HEAD_COUNT,
        .kv_heads = HEAD_COUNT,
        .depth = WIDTH / HEAD_COUNT,
        .scale = heads_scale(WIDTH / HEAD_COUNT),
        .sequences = 3,
        .start = start,
        .key_start = start,
        .most = most,
        .inverse = inverse};
    draw(k.qkv, TOKENS * 3 * WIDTH, 1);
    draw(k.c, TOKENS * WIDTH, 2);
    draw(k.q, TOKENS * WIDTH, 3);
    draw(k.k, KEYS * 2 * WIDTH, 4);
    return &k;
}

TEST(gradient_attention)
{
    static scalar dqkv[TOKENS * 3 * WIDTH];
    struct arena arena;
    struct team team = alone(attention_scratch(TOKENS, WIDTH / HEAD_COUNT), &arena);
    struct heads_case *k = heads_case(&team);
    const struct projected din = projected_together(dqkv, WIDTH, WIDTH);

    k->in = projected_together(k->qkv, WIDTH, WIDTH);
    for (k->heads.mask = MASK_CAUSAL; k->heads.mask <= MASK_NONE; k->heads.mask++) {
        heads_forward(&k->heads, k->mixed, &k->in);
        heads_gradient(&k->heads, &din, k->c, &k->in);
        CHECK(gradient_error(heads_value, k, k->qkv, dqkv, TOKENS * 3 * WIDTH) < tolerance);
    }
    arena_release(&arena);
}

/* Cross-attention: keys and values of other sequences, longer and shorter than those of the queries. */
TEST(gradient_cross_attention)
{
    static const int64_t key_start[] = {0, 3, 73, KEYS};
    static scalar dq[TOKENS * WIDTH], dk[KEYS * 2 * WIDTH];
    struct arena arena;
    struct team team = alone(attention_scratch(TOKENS, WIDTH / HEAD_COUNT), &arena);
    struct heads_case *k = heads_case(&team);
    const struct projected din = {dq, dk, dk + WIDTH, WIDTH, 2 * WIDTH};

    k->in = (struct projected){k->q, k->k, k->k + WIDTH, WIDTH, 2 * WIDTH};
    k->heads.mask = MASK_NONE;
    k->heads.key_start = key_start;
    heads_forward(&k->heads, k->mixed, &k->in);
    heads_gradient(&k->heads, &din, k->c, &k->in);
    CHECK(gradient_error(heads_value, k, k->q, dq, TOKENS * WIDTH) < tolerance);
    CHECK(gradient_error(heads_value, k, k->k, dk, KEYS * 2 * WIDTH) < tolerance);
    arena_release(&arena);
}

struct entropy_case {
    scalar logits[OUT];
};

/* The loss that has the gradient. */
static double entropy_value(void *context)
{
    double log_sum, loss = kernels_best(PRECISION_FLOAT)
                               ->cross_entropy(((struct entropy_case *)context)->logits, OUT, 2, &log_sum);

    return loss + 0.1 * log_sum * log_sum;
}

TEST(gradient_cross_entropy)
{
    struct entropy_case k;
    scalar gradient[OUT];

    draw(k.logits, OUT, 1);
    memcpy(gradient, k.logits, sizeof(gradient));
    double log_sum,
        loss = kernels_best(PRECISION_FLOAT)->cross_entropy_gradient(gradient, OUT, 2, 1, 0.1, &log_sum);
    CHECK_CLOSE(loss + 0.1 * log_sum * log_sum, entropy_value(&k), 1e-15);
    CHECK(gradient_error(entropy_value, &k, k.logits, gradient, OUT) < tolerance);
}

static double model_value(void *context)
{
    struct model_case *k = context;
    return transformer_trained_loss(&k->model, k->weights, &k->batch);
}

/* A whole model on three sequences of unequal length. */
static double model_error(const struct architecture *architecture)
{
    static const int64_t lengths[] = {5, 1, 3};
    struct model_case k;

    model_case_init(&k, architecture, lengths, 3, 8);
    model_case_move(&k, 0.1);
    int64_t size = k.model.layout.size;
    scalar *gradient = malloc((size_t)size * sizeof(*gradient));
    double loss = transformer_gradient(&k.model, k.weights, &k.batch, gradient);
    double error = gradient_error(model_value, &k, k.weights, gradient, size);
    if (!(fabs(loss - transformer_loss(&k.model, k.weights, &k.batch, NULL)) < 1e-14 * loss))
        error = NAN;
    free(gradient);
    model_case_release(&k);
    return error;
}

/* Listed arrangements each `stride`th, and some of the drawn ones. test_tangents.c compares the
 * gradients of all with exact derivatives along one direction. */
static void check_models(int stride)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits += bits < LISTED_ARRANGEMENTS ? stride : 8) {
        const struct architecture architecture = arrangement(bits);
        double error = model_error(&architecture);
        if (!(error < tolerance))
            arrangement_fail(__FILE__, __LINE__, &architecture, "gradient", error);
    }
}

TEST(gradient_whole_models)
{
    check_models(13); /* prime to all lengths of the list: each two choices meet */
}

THOROUGH(gradient_every_model, "takes a minute; gradient_whole_models has each choice")
{
    check_models(1);
}

TEST(gradient_check_can_fail)
{
    struct entropy_case k;
    scalar gradient[OUT] = {0};

    draw(k.logits, OUT, 1);
    gradient[0] = NAN;
    CHECK(!(gradient_error(entropy_value, &k, k.logits, gradient, OUT) < tolerance));
}

#else

TEST(gradients)
{
    test_skip("float is too coarse for finite differences; tests-double checks these gradients");
}

#endif
