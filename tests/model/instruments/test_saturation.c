/* The saturated network of models whose limit is known in closed form, and of fresh ones on the way to it. */
#include "tests/model/lay_out.h"
#include "tests/model/network/model_case.h"

#include "model/instruments/instruments.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-13 : 1e-6;
static const double tie_error = sizeof(scalar) == sizeof(double) ? 1e-11 : 1e-6;

struct saturated {
    struct model_case model;
    struct saturation saturation;
    scalar *weights, *scaled; /* planes for other multiples of the model's weights */
    struct arena arena;
};

static void saturated_layout(struct saturated *s, bool states, bool heads, struct arena *arena)
{
    const struct transformer *model = &s->model.model;
    size_t size = (size_t)model->layout.size;

    saturation_layout(
        &s->saturation, &model->architecture, s->model.batch.rows, 1, states, heads, false, arena);
    s->weights = arena_take(arena, size, sizeof(scalar));
    s->scaled = arena_take(arena, size, sizeof(scalar));
}

static void saturated_init(struct saturated *s, const struct architecture *architecture,
    const int64_t *lengths, int64_t sequences, uint64_t seed)
{
    model_case_init(&s->model, architecture, lengths, sequences, seed);
    LAY_OUT(&s->arena, saturated_layout(s, true, true, &s->arena));
}

static void saturated_release(struct saturated *s)
{
    arena_release(&s->arena);
    model_case_release(&s->model);
}

/* Of the model's weights times `factor` against those times SATURATION_SCALE; its batch added `times` times.
 */
static void measure(struct saturated *s, double factor, int times)
{
    struct model_case *k = &s->model;

    weights_scale(s->weights, k->weights, k->model.layout.size, factor);
    weights_scale(s->scaled, k->weights, k->model.layout.size, SATURATION_SCALE);
    const struct weight_planes planes = {s->weights, s->scaled, NULL};
    saturation_begin(&s->saturation, &planes);
    for (int i = 0; i < times; i++)
        saturation_add(&s->saturation, &planes, &k->batch);
    saturation_end(&s->saturation);
}

static void zero_weights(struct model_case *k)
{
    for (int64_t i = 0; i < k->model.layout.size; i++)
        k->weights[i] = 0;
}

static void set(const struct model_case *k, enum tensor_kind kind, int64_t layer, int64_t row, int64_t column,
    double value)
{
    int64_t columns = k->model.layout.tensor[tensor_index(&k->model.architecture, kind, layer)].columns;

    model_case_tensor(k, kind, layer)[row * columns + column] = (scalar)value;
}

TEST(saturation_bins)
{
    static const int64_t contexts[][2] = {
        {1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {1000, 11}, {1024, 11}, {1025, 12}};

    for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
        CHECK(saturation_bins(contexts[i][0]) == contexts[i][1]);
}

/*
 * Two layers of two heads whose scores are known: nothing but embeddings, queries and keys, so that every
 * state is x0 = (1, t + 1, floor(t / 2) + 1, -(t + 1)) at position t. Queries are the 1, keys one of the
 * others: a mean; the latest position; pairs of positions that score alike; scores that are all negative.
 */
enum { MEAN, LATEST, PAIRS, NEGATIVE, KINDS, ROWS = 11, BINS = 4 };

static const int64_t lengths[] = {4, 1, 6};
static const int positions[2][KINDS][ROWS] = {
    [MASK_CAUSAL] = {[MEAN] = {1, 2, 3, 4, 1, 1, 2, 3, 4, 5, 6},
        [LATEST] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        [PAIRS] = {1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 2},
        [NEGATIVE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    [MASK_MULTIPLICATIVE] = {[MEAN] = {4, 4, 4, 4, 1, 6, 6, 6, 6, 6, 6},
        [LATEST] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        [PAIRS] = {1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 2},
        [NEGATIVE] = {3, 2, 1, 1, 1, 5, 4, 3, 2, 1, 1}}, /* the future, where there is one */
};

static void make_heads(const struct model_case *k)
{
    for (int64_t t = 0; t < k->model.architecture.context; t++) {
        const double state[] = {1, (double)(t + 1), (double)(t / 2 + 1), -(double)(t + 1)};
        for (int64_t i = 0; i < 4; i++)
            set(k, TENSOR_POSITION, 0, t, i, state[i]);
    }
    for (int kind = LATEST; kind < KINDS; kind++) {
        set(k, TENSOR_Q, kind / 2, kind % 2 * 2, 0, 1);
        set(k, TENSOR_K, kind / 2, kind % 2 * 2, kind, 1);
    }
}

static void check_made_head(const struct saturation *s, enum attention_mask mask, int kind)
{
    static const int at[ROWS] = {1, 2, 3, 4, 1, 1, 2, 3, 4, 5, 6}, bin[] = {0, 0, 1, 2, 2, 3, 3};
    double attended = 0, fraction = 0, above_one = 0, share[BINS] = {0};

    for (int row = 0; row < ROWS; row++) {
        int count = positions[mask][kind][row];
        attended += (double)count / ROWS;
        fraction += (double)count / at[row] / ROWS;
        above_one += (double)(count > 1) / ROWS;
        share[bin[count]] += 1.0 / ROWS;
    }
    CHECK_CLOSE(s->attended[kind], attended, 1e-14);
    CHECK_CLOSE(s->fraction[kind], fraction, 1e-14);
    CHECK_CLOSE(s->above_one[kind], above_one, 1e-14);
    for (int i = 0; i < BINS; i++)
        CHECK_CLOSE(s->histogram[kind * BINS + i], share[i], 1e-14);
}

static void check_made_heads(enum attention_mask mask, int times)
{
    struct architecture architecture = decoder_of(3, 6, 4, 2, 1, 2);
    /* The means are 32/11, 1, 15/11, 1; under the multiplicative mask 53/11, 1, 15/11, 24/11: rounded 3, 1,
     * 1, 1 and 5, 1, 1, 2. */
    static const double heads[2][BINS] = {[MASK_CAUSAL] = {3, 0, 1, 0}, [MASK_MULTIPLICATIVE] = {2, 1, 0, 1}};
    struct saturated s;

    architecture.norm_placement = NORM_OUT;
    architecture.attention_mask = mask;
    saturated_init(&s, &architecture, lengths, 3, 1);
    zero_weights(&s.model);
    make_heads(&s.model);
    measure(&s, 1, times);
    CHECK(s.saturation.bins == BINS);
    for (int kind = 0; kind < KINDS; kind++)
        check_made_head(&s.saturation, mask, kind);
    for (int i = 0; i < BINS; i++)
        CHECK(s.saturation.heads_histogram[i] == heads[mask][i]);
    for (int at = 0; at <= 2; at++) {
        CHECK_CLOSE(s.saturation.soft[at], 1, rounding);
        CHECK_CLOSE(s.saturation.hard[at], 1, rounding);
    }
    saturated_release(&s);
}

TEST(saturation_of_made_heads)
{
    for (int times = 1; times < 4; times++) {
        check_made_heads(MASK_CAUSAL, times);
        check_made_heads(MASK_MULTIPLICATIVE, times);
    }
}

/*
 * One block adds LN((s, -s)) to x0 = (1, 1), whose epsilon leaves l = s / sqrt(s^2 + 1e-5) of the gain g, and
 * all of it in the limit: cos((1 + g l, 1 - g l), (1 + g, 1 - g)).
 */
TEST(saturation_of_a_made_state)
{
    struct architecture architecture = decoder_of(3, 6, 2, 1, 1, 1);
    const double s = 0.003, g = 2, l = s / sqrt(s * s + 1e-5);
    const double expected = (1 + g * g * l) / sqrt((1 + g * g * l * l) * (1 + g * g));
    struct saturated k;

    architecture.norm_placement = NORM_OUT;
    saturated_init(&k, &architecture, lengths, 3, 1);
    zero_weights(&k.model);
    measure(&k, 1, 1);
    CHECK(k.saturation.soft[0] == 0 && k.saturation.hard[1] == 0); /* no state, no direction */
    for (int64_t t = 0; t < architecture.context; t++)
        for (int i = 0; i < 2; i++)
            set(&k.model, TENSOR_POSITION, 0, t, i, 1);
    set(&k.model, TENSOR_V, 0, 0, 0, 1);
    set(&k.model, TENSOR_O, 0, 0, 0, s);
    set(&k.model, TENSOR_O, 0, 1, 0, -s);
    set(&k.model, TENSOR_LN1, 0, 0, 0, g);
    set(&k.model, TENSOR_LN1, 0, 0, 1, g);
    measure(&k, 1, 2);
    CHECK_CLOSE(k.saturation.soft[0], expected, rounding);
    CHECK_CLOSE(k.saturation.soft[1], expected, rounding);
    CHECK_CLOSE(k.saturation.hard[1], expected, rounding);
    saturated_release(&k);
}

static bool all_nan(const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            return false;
    return true;
}

/* What is not wanted, and everything before a batch, is NaN; a model that holds NaN has no bins. */
TEST(saturation_of_nothing)
{
    const struct architecture architecture = decoder_of(3, 6, 4, 2, 4, 2);
    struct saturated k;
    struct saturation *s = &k.saturation;

    saturated_init(&k, &architecture, lengths, 3, 1);
    measure(&k, 1, 0);
    CHECK(all_nan(s->soft, 3) && all_nan(s->hard, 3) && all_nan(s->attended, 4) && all_nan(s->fraction, 4));
    CHECK(all_nan(s->above_one, 4) && all_nan(s->histogram, 4 * BINS) && all_nan(s->heads_histogram, BINS));
    for (int heads = 0; heads < 2; heads++) {
        s->soft_wanted = !heads;
        s->heads_wanted = heads;
        measure(&k, 1, 1);
        CHECK(isnan(s->soft[2]) == heads && isnan(s->hard[2]) == heads && isnan(s->attended[0]) == !heads);
        CHECK(isnan(s->above_one[1]) == !heads && isnan(s->heads_histogram[0]) == !heads);
    }
    s->soft_wanted = true;
    set(&k.model, TENSOR_Q, 1, 0, 0, NAN); /* of the second layer's first head */
    measure(&k, 1, 1);
    CHECK(!isnan(s->soft[0]) && isnan(s->soft[1]) && isnan(s->hard[2]));
    CHECK(isnan(s->attended[2]) && isnan(s->fraction[2]) && isnan(s->above_one[2]));
    CHECK(all_nan(s->histogram + 2 * BINS, BINS) && !isnan(s->histogram[3 * BINS]));
    CHECK_CLOSE(
        s->heads_histogram[0] + s->heads_histogram[1] + s->heads_histogram[2] + s->heads_histogram[3], 3, 0);
    saturated_release(&k);
}

/* Fresh models of every arrangement. */
static struct architecture fresh(int bits)
{
    struct architecture a = decoder_of(29, 12, 24, 3, 40, 3);

    a.norm_placement = (enum norm_placement)(bits / 4);
    a.attention_mask = bits & 1 ? MASK_MULTIPLICATIVE : MASK_CAUSAL;
    a.biases = bits & 2 ? BIAS_ALL : BIAS_OUTPUT;
    return a;
}

static const int64_t ragged[] = {12, 7, 1, 12, 4};

/* cos(f(x; c theta), f(x; 1000 theta)) rises to 1 with c, behind every block. */
TEST(saturation_is_a_limit)
{
    static const double factors[] = {1, 3, 10, 30, 100, 300, 1000},
                        least[] = {-1, 0.4, 0.9, 0.9, 0.98, 0.997, 1};

    for (int bits = 0; bits < 12; bits++) {
        const struct architecture architecture = fresh(bits);
        double before[4] = {-1, -1, -1, -1};
        struct saturated s;
        saturated_init(&s, &architecture, ragged, 5, 3);
        for (int i = 0; i < 7; i++) {
            measure(&s, factors[i], 1);
            for (int at = 0; at < 4; at++) {
                CHECK(i > 0 || s.saturation.soft[at] < 0.95);
                CHECK(s.saturation.soft[at] >= fmax(before[at], least[i]) - rounding);
                before[at] = s.saturation.soft[at];
            }
        }
        saturated_release(&s);
    }
}

/*
 * Hard attention is what softmax is at c = 1000: states agree within an angle of 1e-6 or so. They are not
 * equal: rows that attend to the same position may end up as alike as the residual stream is small beside
 * what it adds, within 1e-6. Keys of such rows tie under hard attention, where softmax takes one of them.
 */
TEST(saturation_is_hard_attention)
{
    for (int bits = 0; bits < 120; bits++) {
        const struct architecture architecture = fresh(bits % 12);
        struct saturated s;
        saturated_init(&s, &architecture, ragged, 5, (uint64_t)bits);
        measure(&s, SATURATION_SCALE, 1);
        for (int at = 0; at < 4; at++) {
            CHECK_CLOSE(s.saturation.soft[at], 1, 1e-14);
            CHECK_CLOSE(s.saturation.hard[at], 1, tie_error);
        }
        saturated_release(&s);
    }
}
