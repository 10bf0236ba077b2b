/*
 * One head of attention at every vector level against plain sums in double: forward, gradient, the tangents
 * of both, hard, and counts of weights, with and without a bias by distance. The sums are of complex numbers,
 * whose imaginary parts are the inputs' tangents times a step so small that its square is 0 beside 1: those
 * of the results are the tangents of the results times that step, without a rule of differentiation in the
 * sums.
 */
#include "tests/test.h"

#include <complex.h>

#include "model/kernels/kernels.h"
#include "tests/model/draw.h"
#include "tests/model/kernels/each_level.h"
#include "tests/model/kernels/nearest.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

enum { LENGTH_MOST = 150, DEPTH_MOST = 40, STRIDE = 3 * DEPTH_MOST + 1, SIZE = LENGTH_MOST * STRIDE };
enum { BIASES = 2 * LENGTH_MOST - 1 + ATTENTION_LANES - 1 };

static const double step = 1e-100;

static scalar qkv[SIZE], dqkv[SIZE], mixed[SIZE], dmixed[SIZE];
static scalar tqkv[SIZE], tdqkv[SIZE], tmixed[SIZE], tdmixed[SIZE];
static scalar most[LENGTH_MOST], inverse[LENGTH_MOST];
static scalar bias[BIASES], tbias[BIASES], dbias[BIASES], tdbias[BIASES];
static double complex p[LENGTH_MOST][LENGTH_MOST], dscore[LENGTH_MOST][LENGTH_MOST];

static struct head draw_head(
    int64_t queries, int64_t keys, int64_t depth, enum attention_mask mask, double scale)
{
    draw(qkv, SIZE, scale, 1);
    draw(dmixed, SIZE, 1, 2);
    draw(tqkv, SIZE, scale, 3);
    draw(tdmixed, SIZE, 1, 4);
    for (int i = 0; i < SIZE; i++)
        mixed[i] = dqkv[i] = tmixed[i] = tdqkv[i] = 77;
    draw(bias, BIASES, 1, 5);
    draw(tbias, BIASES, 1, 6);
    memset(dbias, 0, sizeof(dbias));
    memset(tdbias, 0, sizeof(tdbias));
    /* behind the last distance those of longer sequences, whose exponentials are not numbers */
    for (int i = BIASES - (ATTENTION_LANES - 1); i < BIASES; i++)
        bias[i] = 10000;
    return (struct head){.q = qkv,
        .k = qkv + depth,
        .v = qkv + 2 * depth,
        .q_stride = STRIDE,
        .kv_stride = STRIDE,
        .queries = queries,
        .keys = keys,
        .depth = depth,
        .scale = 1 / (scalar)sqrt((double)depth),
        .mask = mask,
        .most = most,
        .inverse = inverse};
}

/* The place in `biases` of distance 0 of a head of so many queries and keys: the row of distances ends where
 * memory ends. */
static scalar *middle(scalar *biases, const struct head *head)
{
    return biases + (BIASES - (ATTENTION_LANES - 1) - head->queries);
}

/* A head's inputs with their tangents: those of q, k and v in qkv, and dmixed. */
static double complex input(const scalar *at)
{
    const scalar *tangent = at < qkv || at >= qkv + SIZE ? tdmixed + (at - dmixed) : tqkv + (at - qkv);

    return (double)*at + step * (double)*tangent * I;
}

/* What products of this precision read of a number, and of its tangent. */
static enum precision precision;

static double complex factor(double complex x)
{
    return factor_of(precision, creal(x)) + step * factor_of(precision, cimag(x) / step) * I;
}

/* The bias of query i and key j with its tangent. */
static double complex bias_of(const struct head *head, int64_t i, int64_t j)
{
    if (!head->bias)
        return 0;
    return (double)head->bias[i - j] + step * (double)middle(tbias, head)[i - j] * I;
}

static double complex product_of(const scalar *x, const scalar *y, int64_t depth)
{
    double complex sum = 0;

    for (int64_t d = 0; d < depth; d++)
        sum += factor(input(x + d)) * factor(input(y + d));
    return sum;
}

static double complex score_of(const struct head *head, int64_t i, int64_t j)
{
    double complex product = product_of(head->q + i * STRIDE, head->k + j * STRIDE, head->depth);

    return (double)head->scale * product + bias_of(head, i, j);
}

/* p and dscore, the gradient of the score, of every query and key. */
static void differentiate(const struct head *head)
{
    for (int64_t i = 0; i < head->queries; i++) {
        int64_t keys = head->mask == MASK_CAUSAL ? i + 1 : head->keys;
        bool masked = head->mask != MASK_NONE;
        double complex sum = 0, mean = 0;
        double largest = -INFINITY;
        for (int64_t j = 0; j < keys; j++) {
            p[i][j] = masked && j > i ? 0 : score_of(head, i, j);
            largest = fmax(largest, creal(p[i][j]));
        }
        for (int64_t j = 0; j < keys; j++)
            sum += p[i][j] = cexp(p[i][j] - largest);
        for (int64_t j = 0; j < keys; j++) {
            p[i][j] /= sum;
            mean += p[i][j] * product_of(dmixed + i * STRIDE, head->v + j * STRIDE, head->depth);
        }
        for (int64_t j = 0; j < head->keys; j++) {
            double complex d = product_of(dmixed + i * STRIDE, head->v + j * STRIDE, head->depth);
            dscore[i][j] = masked && j > i ? 0 : p[i][j] * (d - mean);
            p[i][j] = j < keys ? p[i][j] : 0;
        }
    }
}

/* Scratch and a margin that must stay as it is. Nothing may be read that was not written: it holds NaN. */
enum { MARGIN = 64 };

static scalar *begin_scratch(int64_t size)
{
    scalar *scratch = malloc((size_t)(size + MARGIN) * sizeof(*scratch));

    for (int64_t i = 0; i < size + MARGIN; i++)
        scratch[i] = i < size ? (scalar)NAN : 77;
    return scratch;
}

/* How many scalars of the margin were overwritten. */
static int end_scratch(scalar *scratch, int64_t size)
{
    int wrong = 0;

    for (int64_t i = size; i < size + MARGIN; i++)
        wrong += !((double)scratch[i] == 77);
    free(scratch);
    return wrong;
}

static int64_t longest(const struct head *head)
{
    return head->queries > head->keys ? head->queries : head->keys;
}

static int64_t scratch_size(const struct head *head)
{
    return attention_scratch(longest(head), head->depth, false);
}

/* Returns how many scalars beside the scratch were overwritten. The gradient is taken twice, for dk, dv and
 * dbias to be added up. */
static int run_forward_and_gradient(const struct kernels *kernels, const struct head *head)
{
    struct head_gradient gradient = {.dmixed = dmixed,
        .mixed_stride = STRIDE,
        .dq = dqkv,
        .dk = dqkv + head->depth,
        .dv = dqkv + 2 * head->depth,
        .dbias = head->bias ? middle(dbias, head) : NULL};
    scalar *scratch = begin_scratch(scratch_size(head));

    kernels->attention(head, mixed, STRIDE, scratch);
    for (int add = 0; add < 2; add++) {
        gradient.add = add;
        kernels->attention_gradient(head, &gradient, scratch);
    }
    return end_scratch(scratch, scratch_size(head));
}

/* The same for the tangents, after them. */
static int run_tangents(const struct kernels *kernels, const struct head *head)
{
    const int64_t size = attention_scratch(longest(head), head->depth, true);
    const struct head tangent = {.q = tqkv,
        .k = tqkv + head->depth,
        .v = tqkv + 2 * head->depth,
        .q_stride = STRIDE,
        .kv_stride = STRIDE,
        .bias = head->bias ? middle(tbias, head) : NULL};
    struct head_gradient gradient = {.dmixed = dmixed,
        .tdmixed = tdmixed,
        .mixed_stride = STRIDE,
        .dq = tdqkv,
        .dk = tdqkv + head->depth,
        .dv = tdqkv + 2 * head->depth,
        .dbias = head->bias ? middle(tdbias, head) : NULL};
    scalar *scratch = begin_scratch(size);

    kernels->attention_tangent(head, &tangent, tmixed, STRIDE, scratch);
    int wrong = end_scratch(scratch, size);
    scratch = begin_scratch(size);
    for (int add = 0; add < 2; add++) {
        gradient.add = add;
        kernels->attention_gradient_tangent(head, &tangent, &gradient, scratch);
    }
    return wrong + end_scratch(scratch, size);
}

/* Of a head. */
static double elements, errors;

/*
 * In float, numbers within rounding of the middle between two of bfloat16 are rounded otherwise than here,
 * which a few elements show; their mean shows that the others are right.
 */
static double most_off(void)
{
    return precision == PRECISION_BFLOAT16 && sizeof(scalar) == sizeof(float) ? 0.02 : rounding;
}

/* Are an element and its tangent not as they should be? */
static int wrong_element(scalar element, scalar tangent, double complex expected)
{
    double off = fabs((double)element - creal(expected)),
           toff = fabs((double)tangent - cimag(expected) / step);

    elements += 2;
    errors += off + toff / 10;
    return !(off <= most_off()) + !(toff <= 10 * most_off());
}

/* Elements of mixed and dq at (i, d), and of their tangents, that are not as they should be. */
static int wrong_at_query(const struct head *head, int64_t i, int64_t d)
{
    int64_t at = i * STRIDE + d;
    double complex out = 0, dq = 0;

    for (int64_t j = 0; j < head->keys; j++) {
        out += factor(p[i][j]) * factor(input(head->v + j * STRIDE + d));
        dq += factor((double)head->scale * dscore[i][j]) * factor(input(head->k + j * STRIDE + d));
    }
    return wrong_element(mixed[at], tmixed[at], out) + wrong_element(dqkv[at], tdqkv[at], dq);
}

/* The same of dk and dv at (j, d), which the kernels have added up twice. */
static int wrong_at_key(const struct head *head, int64_t j, int64_t d)
{
    int64_t k = j * STRIDE + d + head->depth, v = k + head->depth;
    double complex dk = 0, dv = 0;

    for (int64_t i = 0; i < head->queries; i++) {
        dk += factor((double)head->scale * dscore[i][j]) * factor(input(head->q + i * STRIDE + d));
        dv += factor(p[i][j]) * factor(input(dmixed + i * STRIDE + d));
    }
    return wrong_element(dqkv[k] / 2, tdqkv[k] / 2, dk) + wrong_element(dqkv[v] / 2, tdqkv[v] / 2, dv);
}

/* The same of all of dbias; beside it nothing but 0 may have been added. */
static int wrong_biases(const struct head *head)
{
    static double complex expected[BIASES];
    int64_t zero = middle(dbias, head) - dbias;
    int wrong = 0;

    memset(expected, 0, sizeof(expected));
    for (int64_t i = 0; head->bias && i < head->queries; i++)
        for (int64_t j = 0; j < head->keys; j++)
            expected[zero + i - j] += dscore[i][j];
    for (int64_t i = 0; i < BIASES; i++)
        wrong += wrong_element(dbias[i] / 2, tdbias[i] / 2, expected[i]);
    return wrong;
}

/* Everything beside the results must be as it was. */
static int wrong_beside(const struct head *head)
{
    int wrong = 0;

    for (int64_t i = 0; i < LENGTH_MOST; i++)
        for (int64_t d = 0; d < STRIDE; d++) {
            bool of_query = i < head->queries && d < head->depth;
            bool of_key = i < head->keys && d >= head->depth && d < 3 * head->depth;
            int64_t at = i * STRIDE + d;
            wrong += !of_query && !((double)mixed[at] == 77 && (double)tmixed[at] == 77);
            wrong += !of_query && !of_key && !((double)dqkv[at] == 77 && (double)tdqkv[at] == 77);
        }
    return wrong;
}

static void fail_head(const struct kernels *kernels, const struct head *head, const char *what, int wrong)
{
    if (wrong)
        test_fail(__FILE__, __LINE__, "%s, %s: %d wrong of %d queries, %d keys, depth %d, mask %d, bias %d",
            kernels->level, what, wrong, (int)head->queries, (int)head->keys, (int)head->depth,
            (int)head->mask, head->bias != NULL);
}

static void check_head(const struct kernels *kernels, const struct head *head)
{
    int wrong = run_forward_and_gradient(kernels, head) + run_tangents(kernels, head);

    elements = errors = 0;
    differentiate(head);
    for (int64_t d = 0; d < head->depth; d++) {
        for (int64_t i = 0; i < head->queries; i++)
            wrong += wrong_at_query(head, i, d);
        for (int64_t j = 0; j < head->keys; j++)
            wrong += wrong_at_key(head, j, d);
    }
    fail_head(kernels, head, "softmax", wrong + wrong_beside(head) + wrong_biases(head));
    if (!(errors / elements <= (precision ? 5 : 1) * rounding))
        fail_head(kernels, head, "mean error", 1);
}

/* Queries, keys and biases become small integers: scores are exact, and ties among the largest common. */
static void make_whole(const struct head *head)
{
    for (int64_t i = 0; i < LENGTH_MOST; i++)
        for (int64_t d = 0; d < 2 * head->depth; d++)
            qkv[i * STRIDE + d] = (scalar)(int)(3 * qkv[i * STRIDE + d]);
    for (int64_t i = 0; i < BIASES; i++)
        bias[i] = (scalar)(int)(3 * bias[i]);
}

/* p of every query and key: one over the number of keys whose score is the largest, on those. */
static void choose(const struct head *head)
{
    for (int64_t i = 0; i < head->queries; i++) {
        int64_t keys = head->mask == MASK_CAUSAL ? i + 1 : head->keys, chosen = 0;
        double largest = -INFINITY;
        for (int64_t j = 0; j < keys; j++) {
            bool masked = head->mask != MASK_NONE && j > i;
            double complex score = head->bias
                                       ? 2 * score_of(head, i, j)
                                       : product_of(head->q + i * STRIDE, head->k + j * STRIDE, head->depth);
            p[i][j] = masked ? 0 : rint(creal(score)); /* whole: see make_whole */
            largest = creal(p[i][j]) > largest ? creal(p[i][j]) : largest;
        }
        for (int64_t j = 0; j < keys; j++)
            chosen += p[i][j] == largest;
        for (int64_t j = 0; j < keys; j++)
            p[i][j] = p[i][j] == largest ? 1 / (double)chosen : 0;
    }
}

static void check_hard(const struct kernels *kernels, struct head *head)
{
    scalar *scratch = malloc((size_t)scratch_size(head) * sizeof(*scratch));
    int wrong = 0;

    make_whole(head);
    head->hard = true;
    kernels->attention(head, mixed, STRIDE, scratch);
    choose(head);
    for (int64_t i = 0; i < head->queries; i++)
        for (int64_t d = 0; d < head->depth; d++) {
            double out = 0;
            for (int64_t j = 0; j < (head->mask == MASK_CAUSAL ? i + 1 : head->keys); j++)
                out += creal(factor(p[i][j]) * factor((double)head->v[j * STRIDE + d]));
            wrong += !(fabs((double)mixed[i * STRIDE + d] - out) <= rounding);
        }
    fail_head(kernels, head, "hard", wrong);
    free(scratch);
}

/* Counts of the softmax's weights, whose scores are exact; none may lie so near 1e-5 that rounding decides.
 */
static void check_attended(const struct kernels *kernels, struct head *head)
{
    scalar *scratch = malloc((size_t)scratch_size(head) * sizeof(*scratch));
    static int32_t count[LENGTH_MOST + 1];
    int wrong = 0;

    make_whole(head);
    head->hard = false;
    count[head->queries] = 77;
    kernels->attended(head, &(struct attended){.count = count}, scratch);
    differentiate(head);
    for (int64_t i = 0; i < head->queries; i++) {
        int32_t expected = 0;
        for (int64_t j = 0; j < head->keys; j++) {
            expected += creal(p[i][j]) > 1e-5;
            wrong += fabs(creal(p[i][j]) / 1e-5 - 1) < 1e-5;
        }
        wrong += count[i] != expected;
    }
    wrong += count[head->queries] != 77;
    fail_head(kernels, head, "counts", wrong);
    free(scratch);
}

/* The entropy of the softmax's weights, the weight of the first key, and the largest score that no mask
 * hides. */
static void check_statistics(const struct kernels *kernels, struct head *head)
{
    static scalar of[4][LENGTH_MOST + 1];
    const struct attended attended = {.largest = of[0], .sum = of[1], .product = of[2], .first = of[3]};
    scalar *scratch = begin_scratch(scratch_size(head));
    int wrong = 0;

    for (int i = 0; i < 4; i++)
        of[i][head->queries] = 77;
    kernels->attended(head, &attended, scratch);
    differentiate(head);
    for (int64_t i = 0; i < head->queries; i++) {
        double largest = -INFINITY, entropy = 0, sum = (double)of[1][i];
        for (int64_t j = 0; j < head->keys; j++) {
            double weight = creal(p[i][j]);
            if (head->mask == MASK_NONE || j <= i)
                largest = fmax(largest, creal(score_of(head, i, j)));
            entropy -= weight > 0 ? weight * log(weight) : 0;
        }
        wrong += !(fabs((double)of[0][i] - largest) <= rounding);
        wrong += !(fabs(log(sum) - (double)of[2][i] / sum - entropy) <= 2 * rounding);
        wrong += !(fabs((double)of[3][i] / sum - creal(p[i][0])) <= rounding);
    }
    for (int i = 0; i < 4; i++)
        wrong += !((double)of[i][head->queries] == 77);
    wrong += end_scratch(scratch, scratch_size(head));
    fail_head(kernels, head, "statistics", wrong);
}

static void check_case(int64_t queries, int64_t keys, int64_t depth, enum attention_mask mask, bool biased)
{
    struct head head = draw_head(queries, keys, depth, mask, 0.7);

    if (biased) {
        head.scale = (scalar)0.5; /* exact */
        head.bias = middle(bias, &head);
    }
    check_head(kernels_best(precision), &head);
    check_statistics(kernels_best(precision), &head);
    check_hard(kernels_best(precision), &head);
    check_attended(kernels_best(precision), &head);
}

static void check_float(const struct kernels *kernels)
{
    static const int64_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 97, 128, 150};
    static const int64_t depths[] = {1, 3, 8, 16, 17, 32, 40};
    enum { LENGTHS = sizeof(lengths) / sizeof(*lengths), DEPTHS = sizeof(depths) / sizeof(*depths) };

    (void)kernels; /* which are kernels_best() now */
    for (int i = 0; i < LENGTHS; i++)
        for (int j = 0; j < DEPTHS; j++) {
            for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
                for (int biased = 0; biased <= j % 2; biased++)
                    check_case(lengths[i], lengths[i], depths[j], mask, biased);
            check_case(lengths[i], lengths[(5 * i + 3) % LENGTHS], depths[j], MASK_NONE, false);
            check_case(lengths[i], lengths[(7 * i + 2) % LENGTHS], depths[j], MASK_MULTIPLICATIVE, false);
            check_case(lengths[i], 1, depths[j], MASK_NONE, false);
            check_case(1, lengths[i], depths[j], MASK_NONE, false);
        }
}

/* The same with products of bfloat16. */
static void check_bfloat16(const char *level)
{
    static const int64_t lengths[] = {1, 2, 7, 16, 33, 64, 65, 99}, depths[] = {1, 8, 17, 32};
    enum { LENGTHS = sizeof(lengths) / sizeof(*lengths), DEPTHS = sizeof(depths) / sizeof(*depths) };

    precision = PRECISION_BFLOAT16;
    setenv("NORMSWEEP_VECTOR", level, 1);
    for (int i = 0; i < LENGTHS; i++)
        for (int j = 0; j < DEPTHS; j++) {
            for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
                check_case(lengths[i], lengths[i], depths[j], mask, j % 2);
            check_case(lengths[i], lengths[(5 * i + 3) % LENGTHS], depths[j], MASK_NONE, false);
        }
    unsetenv("NORMSWEEP_VECTOR");
    precision = PRECISION_FLOAT;
}

THOROUGH(attention_of_every_level, "every vector level; gradients and parity have the processor's own")
{
    const char *level;
    bool runs;

    each_level(check_float);
    for (int i = 0; (level = kernels_level(i, &runs)); i++)
        if (runs)
            check_bfloat16(level);
}

/* ---- where scores are huge, tie, or are not numbers ---- */

/* Scores in the thousands: each query attends to one key, and nothing overflows. */
TEST(attention_saturated)
{
    struct head head = draw_head(100, 100, 16, MASK_CAUSAL, 1);

    for (int i = 0; i < SIZE; i++)
        qkv[i] *= i % STRIDE < 32 ? 40 : 1;
    scalar *scratch = malloc((size_t)attention_scratch(100, 16, false) * sizeof(*scratch));
    kernels_best(PRECISION_FLOAT)->attention(&head, mixed, STRIDE, scratch);
    differentiate(&head);
    for (int64_t i = 0; i < 100; i++)
        for (int64_t d = 0; d < 16; d++) {
            double out = 0;
            for (int64_t j = 0; j <= i; j++)
                out += creal(p[i][j]) * (double)head.v[j * STRIDE + d];
            CHECK_CLOSE((double)mixed[i * STRIDE + d], out, 100 * rounding);
        }
    free(scratch);
}

/*
 * A query sees three keys of given scores under hard attention: it takes the mean of the values 1, 2 and 4 at
 * the largest score, ties within 1e-6 of it, on either side of 0.
 */
static void check_ties(double first, double second, double third, double mean)
{
    const double scores[] = {first, second, third}, values[] = {1, 2, 4};
    struct head head = draw_head(3, 3, 1, MASK_CAUSAL, 1);
    scalar *scratch = malloc((size_t)attention_scratch(3, 1, false) * sizeof(*scratch));

    head.hard = true;
    for (int i = 0; i < 3; i++) {
        qkv[i * STRIDE] = 1;
        qkv[i * STRIDE + 1] = (scalar)scores[i];
        qkv[i * STRIDE + 2] = (scalar)values[i];
    }
    kernels_best(PRECISION_FLOAT)->attention(&head, mixed, STRIDE, scratch);
    CHECK_CLOSE((double)mixed[2 * STRIDE], mean, rounding);
    free(scratch);
}

TEST(attention_hard_ties)
{
    check_ties(1, 1 - 6e-7, 0.5, 1.5);
    check_ties(1 - 6e-7, 1, 1, 7 / 3.0);
    check_ties(1, 1 - 3e-6, 0.5, 1);
    check_ties(-1, -1 - 6e-7, -2, 1.5);
    check_ties(-1, -1 - 3e-6, -2, 1);
    check_ties(-3000, 1000, 1000 - 6e-4, 3);
    check_ties(0, 0, -1e-7, 1.5);
    check_ties(0, 1e-7, 0, 2);
}

/* NaN in a key reaches every query that sees it, and no other. */
TEST(attention_lets_nan_through)
{
    for (int hard = 0; hard < 2; hard++) {
        struct head head = draw_head(40, 40, 8, MASK_CAUSAL, 1);
        scalar *scratch = malloc((size_t)attention_scratch(40, 8, false) * sizeof(*scratch));

        int32_t count[40];
        head.hard = hard;
        qkv[20 * STRIDE + 8] = (scalar)NAN;
        kernels_best(PRECISION_FLOAT)->attention(&head, mixed, STRIDE, scratch);
        kernels_best(PRECISION_FLOAT)->attended(&head, &(struct attended){.count = count}, scratch);
        for (int64_t i = 0; i < 40; i++)
            CHECK(isnan((double)mixed[i * STRIDE]) == (i >= 20) && (count[i] == -1) == (i >= 20));
        free(scratch);
    }
}

/* NaN in the tangent of a key reaches the tangents of those queries, and no others. */
TEST(attention_tangents_let_nan_through)
{
    struct head head = draw_head(40, 40, 8, MASK_CAUSAL, 1);

    tqkv[20 * STRIDE + 8] = (scalar)NAN;
    CHECK(run_forward_and_gradient(kernels_best(PRECISION_FLOAT), &head) == 0);
    CHECK(run_tangents(kernels_best(PRECISION_FLOAT), &head) == 0);
    for (int64_t i = 0; i < 40; i++)
        CHECK(isnan((double)tmixed[i * STRIDE]) == (i >= 20));
}
