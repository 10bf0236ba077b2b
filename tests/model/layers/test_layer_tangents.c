/* The tangents of linear layers, norms, activations, embeddings and cross-entropy, each by itself, in double.
 */
#include "tests/model/layers/layer_case.h"

#include "model/layers/embedding.h"
#include "model/layers/linear.h"
#include "model/layers/rowwise.h"

#ifdef SCALAR_DOUBLE

/* ---- linear: z is x, weight, bias ---- */

enum { OUT = 6, X = ROWS * IN, WEIGHT = OUT * IN };

/* The layer whose tensors lie behind x, and, as far as they are not NULL, gradients and tangents likewise. */
static struct linear linear_of(
    const struct layer *layer, const scalar *z, scalar *dz, scalar *tdz, const scalar *tz)
{
    const bool moves = layer->moved > X;

    return (struct linear){.team = layer_team(),
        .in = IN,
        .out = OUT,
        .weight = z + X,
        .bias = layer->bias ? z + X + WEIGHT : NULL,
        .dweight = dz ? dz + X : NULL,
        .dbias = dz && layer->bias ? dz + X + WEIGHT : NULL,
        .tweight = tz && moves ? tz + X : NULL,
        .tbias = tz && moves && layer->bias ? tz + X + WEIGHT : NULL,
        .tdweight = tdz ? tdz + X : NULL,
        .tdbias = tdz && layer->bias ? tdz + X + WEIGHT : NULL};
}

static void linear_y(const struct layer *layer, scalar *y, const scalar *z)
{
    const struct linear linear = linear_of(layer, z, NULL, NULL, NULL);

    linear_forward(&linear, y, z, NULL, ROWS, false);
}

static void linear_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    const struct linear linear = linear_of(layer, z, dz, NULL, NULL);

    linear_input_gradient(&linear, dz, dy, NULL, ROWS, false);
    linear_weight_gradient(&linear, dy, z, ROWS, false);
}

static void linear_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    const struct linear linear = linear_of(layer, z.at, NULL, NULL, z.tangent);

    linear_tangent(&linear, ty, z, NULL, NULL, ROWS);
}

static void linear_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    const struct linear linear = linear_of(layer, z.at, NULL, tdz, z.tangent);

    linear_input_gradient_tangent(&linear, tdz, dy, NULL, ROWS, false);
    linear_weight_gradient_tangent(&linear, dy, z, ROWS, false);
}

static struct layer linear_layer(bool bias, bool moves)
{
    struct layer layer = {.name = "linear",
        .in = X + WEIGHT + bias * OUT,
        .out = ROWS * OUT,
        .moved = moves ? MOST : X,
        .forward = linear_y,
        .gradient = linear_dz,
        .tangent = linear_ty,
        .gradient_tangent = linear_tdz,
        .bias = bias};

    return layer;
}

TEST(tangent_linear)
{
    for (int bits = 0; bits < 4; bits++) {
        const struct layer layer = linear_layer(bits & 1, bits & 2);
        check_layer(&layer);
    }
}

/* Residuals and gates, and parts of rows whose gradients are added up, against the same without. */
TEST(tangent_linear_with_gate_and_in_parts)
{
    static scalar z[MOST], tz[MOST], y[MOST], plain[MOST], gated[MOST], gate[MOST], residual[MOST];
    const struct dual both = {z, tz};

    draw(z, MOST, 1);
    draw(tz, MOST, 2);
    draw(residual, MOST, 3);
    draw(gate, MOST, 4);
    draw(y, MOST, 5);
    for (int64_t i = 0; i < MOST; i++)
        gate[i] = gate[i] < 0 ? 0 : gate[i];
    for (int moves = 0; moves < 2; moves++) {
        const struct layer layer = linear_layer(true, moves);
        struct linear linear = linear_of(&layer, z, NULL, NULL, tz);
        const struct dual dy = {y, y + 500};
        linear_tangent(&linear, plain, both, NULL, NULL, ROWS);
        linear_tangent(&linear, gated, both, residual, gate, ROWS);
        for (int64_t i = 0; i < ROWS * OUT; i++)
            CHECK_CLOSE(gated[i], gate[i] == 0 ? 0 : plain[i] + residual[i], 1e-14);
        linear_input_gradient_tangent(&linear, plain, dy, NULL, ROWS, false);
        memcpy(gated, residual, sizeof(gated));
        linear_input_gradient_tangent(&linear, gated, dy, gate, ROWS, true);
        for (int64_t i = 0; i < ROWS * IN; i++)
            CHECK_CLOSE(gated[i], gate[i] == 0 ? 0 : plain[i] + residual[i], 1e-14);
        linear.tdweight = plain;
        linear.tdbias = plain + WEIGHT;
        linear_weight_gradient_tangent(&linear, dy, both, ROWS, false);
        linear.tdweight = gated;
        linear.tdbias = gated + WEIGHT;
        linear_weight_gradient_tangent(&linear, dy, both, 3, false);
        linear_weight_gradient_tangent(&linear, (struct dual){dy.at + 3 * OUT, dy.tangent + 3 * OUT},
            (struct dual){z + 3 * IN, tz + 3 * IN}, ROWS - 3, true);
        for (int64_t i = 0; i < WEIGHT + OUT; i++)
            CHECK_CLOSE(gated[i], plain[i], 1e-14);
    }
}

/* ---- norms: z is in, gain, bias ---- */

static scalar mean[ROWS], scale[ROWS];

static struct norm norm_of(
    const struct layer *layer, const scalar *z, scalar *dz, scalar *tdz, const scalar *tz)
{
    const bool shift = norm_table[layer->norm].shift, moves = layer->moved > X;

    return (struct norm){.team = layer_team(),
        .kind = layer->norm,
        .gain = z + X,
        .bias = shift ? z + X + IN : NULL,
        .dgain = dz ? dz + X : NULL,
        .dbias = dz && shift ? dz + X + IN : NULL,
        .mean = mean,
        .scale = scale,
        .width = IN,
        .tgain = tz && moves ? tz + X : NULL,
        .tbias = tz && moves && shift ? tz + X + IN : NULL,
        .tdgain = tdz ? tdz + X : NULL,
        .tdbias = tdz && shift ? tdz + X + IN : NULL};
}

static void norm_y(const struct layer *layer, scalar *y, const scalar *z)
{
    const struct norm norm = norm_of(layer, z, NULL, NULL, NULL);

    norm_forward(&norm, y, z, NULL, ROWS);
}

static void norm_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    const struct norm norm = norm_of(layer, z, dz, NULL, NULL);

    norm_gradient(&norm, dz, dy, z, ROWS, false);
}

static void norm_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    const struct norm norm = norm_of(layer, z.at, NULL, NULL, z.tangent);

    norm_tangent(&norm, ty, z, NULL, ROWS);
}

static void norm_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    const struct norm norm = norm_of(layer, z.at, NULL, tdz, z.tangent);

    norm_gradient_tangent(&norm, tdz, dy, z, ROWS, false);
}

TEST(tangent_norms)
{
    for (enum norm_kind kind = 0; kind < NORM_KIND_COUNT; kind++)
        for (int moves = 0; moves < 2; moves++) {
            struct layer layer = {.in = X + IN + norm_table[kind].shift * IN,
                .out = X,
                .moved = moves ? MOST : X,
                .forward = norm_y,
                .gradient = norm_dz,
                .tangent = norm_ty,
                .gradient_tangent = norm_tdz,
                .norm = kind};
            strcpy(layer.name, norm_table[kind].word);
            check_layer(&layer);
        }
}

/* ---- activations, products by elements: z is x, or a and b ---- */

static scalar slope[X], curvature[X];

static void activation_y(const struct layer *layer, scalar *y, const scalar *z)
{
    memcpy(slope, z, sizeof(slope));
    activation_forward(layer_team(), layer->activation, y, slope, curvature, X);
}

static void activation_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    (void)layer, (void)z;
    multiply(layer_team(), dz, dy, slope, X);
}

static void activation_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    (void)layer;
    multiply(layer_team(), ty, z.tangent, slope, X);
}

static void activation_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    (void)layer;
    multiply(layer_team(), tdz, curvature, z.tangent, X);
    multiply_tangent(layer_team(), tdz, dy, (struct dual){slope, tdz}, X);
}

TEST(tangent_activations)
{
    for (enum activation activation = 0; activation < ACTIVATION_COUNT; activation++) {
        struct layer layer = {.in = X,
            .out = X,
            .moved = X,
            .forward = activation_y,
            .gradient = activation_dz,
            .tangent = activation_ty,
            .gradient_tangent = activation_tdz,
            .activation = activation};
        strcpy(layer.name, activation_words[activation]);
        check_layer(&layer);
    }
}

/* ---- embedding: z is token, position ---- */

enum { VOCABULARY = 5, CONTEXT = 4 };

static const struct packed *embedding_rows(void)
{
    static const int64_t start[] = {0, 1, 5, ROWS};
    static const int32_t tokens[ROWS] = {2, 0, 4, 4, 1, 2, 2};
    static const struct packed packed = {3, ROWS, start, tokens};

    return &packed;
}

static struct embedding embedding_of(const scalar *z, scalar *dz)
{
    return (struct embedding){.team = layer_team(),
        .token = z,
        .position = z ? z + VOCABULARY * IN : NULL,
        .dtoken = dz,
        .dposition = dz ? dz + VOCABULARY * IN : NULL,
        .vocabulary = VOCABULARY,
        .context = CONTEXT,
        .width = IN};
}

static void embedding_y(const struct layer *layer, scalar *y, const scalar *z)
{
    const struct embedding embedding = embedding_of(z, NULL);

    (void)layer;
    embedding_forward(&embedding, y, embedding_rows());
}

static void embedding_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    const struct embedding embedding = embedding_of(z, dz);

    (void)layer;
    embedding_gradient(&embedding, dy, embedding_rows());
}

static void embedding_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    embedding_y(layer, ty, z.tangent);
}

static void embedding_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    embedding_dz(layer, tdz, z.at, dy.tangent);
}

TEST(tangent_embedding)
{
    const struct layer layer = {.name = "embedding",
        .in = (VOCABULARY + CONTEXT) * IN,
        .out = X,
        .moved = MOST,
        .forward = embedding_y,
        .gradient = embedding_dz,
        .tangent = embedding_ty,
        .gradient_tangent = embedding_tdz};

    check_layer(&layer);
}

/* ---- cross-entropy: z is logits, y the loss of all rows, with what z_loss adds, whose gradient is the
 * weight of each row ---- */

static const int32_t targets[ROWS] = {0, 1, 2, 3, 4, 4, 0};

static struct entropy entropy_of(const scalar *weight, double log_sum[ROWS])
{
    return (struct entropy){layer_team(), targets, weight, 0.05, log_sum, ROWS, IN};
}

static void entropy_y(const struct layer *layer, scalar *y, const scalar *z)
{
    static scalar logits[X];
    double log_sum[ROWS];
    const struct entropy entropy = entropy_of(NULL, log_sum);

    (void)layer;
    memcpy(logits, z, sizeof(logits));
    cross_entropy_rows(&entropy, y, logits);
    for (int r = 0; r < ROWS; r++)
        y[r] += entropy.z_loss * log_sum[r] * log_sum[r];
}

static void gradient_of(const struct entropy *entropy, scalar *dz, const scalar *z)
{
    double loss[ROWS];

    memcpy(dz, z, X * sizeof(*dz));
    cross_entropy_rows(entropy, loss, dz);
}

static void entropy_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    double log_sum[ROWS];
    const struct entropy entropy = entropy_of(dy, log_sum);

    (void)layer;
    gradient_of(&entropy, dz, z);
}

/* By rows of weight 1. */
static void entropy_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    static const scalar ones[ROWS] = {1, 1, 1, 1, 1, 1, 1};
    static scalar dlogits[X], tlogits[X];
    double log_sum[ROWS];
    const struct entropy entropy = entropy_of(ones, log_sum);

    (void)layer;
    gradient_of(&entropy, dlogits, z.at);
    memcpy(tlogits, z.tangent, sizeof(tlogits));
    cross_entropy_tangent_rows(&entropy, ty, tlogits, dlogits);
}

/* Weights have no tangents, but the gradient is linear in them: for theirs it is itself. */
static void entropy_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    static scalar dlogits[X], of_weights[X];
    double tloss[ROWS], log_sum[ROWS];
    const struct entropy entropy = entropy_of(dy.at, log_sum);

    gradient_of(&entropy, dlogits, z.at);
    memcpy(tdz, z.tangent, X * sizeof(*tdz));
    cross_entropy_tangent_rows(&entropy, tloss, tdz, dlogits);
    entropy_dz(layer, of_weights, z.at, dy.tangent);
    for (int64_t i = 0; i < X; i++)
        tdz[i] += dy.tangent[i / IN] == 0 ? 0 : of_weights[i];
}

TEST(tangent_cross_entropy)
{
    const struct layer layer = {.name = "cross-entropy",
        .in = X,
        .out = ROWS,
        .moved = X,
        .forward = entropy_y,
        .gradient = entropy_dz,
        .tangent = entropy_ty,
        .gradient_tangent = entropy_tdz};

    check_layer(&layer);
}

#else

TEST(layer_tangents)
{
    test_skip("float is too coarse for finite differences; tests-double checks these tangents");
}

#endif
