/* One head of attention where scores are huge, tie, or are not numbers. */
#include "tests/model/layers/head_case.h"

/* Scores in the thousands: each query attends to one key, and nothing overflows. */
TEST(attention_saturated)
{
    struct head head = draw_head(100, 100, 16, MASK_CAUSAL, 1);

    for (int i = 0; i < SIZE; i++)
        qkv[i] *= i % STRIDE < 32 ? 40 : 1;
    scalar *scratch = malloc((size_t)attention_scratch(100, 16) * sizeof(*scratch));
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
    scalar *scratch = malloc((size_t)attention_scratch(3, 1) * sizeof(*scratch));

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
        scalar *scratch = malloc((size_t)attention_scratch(40, 8) * sizeof(*scratch));

        int32_t count[40];
        head.hard = hard;
        qkv[20 * STRIDE + 8] = (scalar)NAN;
        kernels_best(PRECISION_FLOAT)->attention(&head, mixed, STRIDE, scratch);
        kernels_best(PRECISION_FLOAT)->attended(&head, count, scratch);
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
