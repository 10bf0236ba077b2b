/* One head of attention at every vector level against plain sums: forward, gradient, the tangents of both,
 * hard, and counts of weights, with and without a bias by distance. */
#include "tests/model/kernels/each_level.h"
#include "tests/model/layers/head_case.h"

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
    kernels->attended(head, count, scratch);
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

static void check_case(int64_t queries, int64_t keys, int64_t depth, enum attention_mask mask, bool biased)
{
    struct head head = draw_head(queries, keys, depth, mask, 0.7);

    if (biased)
        add_bias(&head);
    check_head(kernels_best(precision), &head);
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
