/* Buckets of distances against their definition, and a table's way to the bias of each distance and back. */
#include "tests/model/draw.h"

#include "model/kernels/kernels.h"
#include "model/layers/layers.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-13 : 1e-5;

/* The bucket of a distance >= 0 with `exact` exact buckets and as many logarithmic ones (Raffel et al. 2020).
 * Where the logarithm is whole, long double gives at most 1e-18 less; elsewhere it is 1e-4 away. */
static int64_t defined(int64_t distance, int exact)
{
    if (distance < exact)
        return distance;
    long double share = logl((long double)distance / exact) / logl(128.0L / exact);
    int64_t logarithmic = (int64_t)(share * exact + 1e-9L);
    return exact + (logarithmic < exact ? logarithmic : exact - 1);
}

TEST(relative_buckets)
{
    for (int64_t distance = 0; distance <= 3000; distance++) {
        CHECK(relative_bucket(distance, false) == defined(distance, 16));
        CHECK(relative_bucket(-distance, false) == 0);
        CHECK(relative_bucket(distance, true) == defined(distance, 8));
        CHECK(distance == 0 || relative_bucket(-distance, true) == 16 + defined(distance, 8));
    }
    CHECK(relative_bucket(INT64_MAX, true) == 15 && relative_bucket(-INT64_MAX, true) == 31);
}

enum { HEADS = 3, CONTEXT_MOST = 300, TABLE = RELATIVE_BUCKETS * HEADS };
enum { BIASES = HEADS * (2 * CONTEXT_MOST + 2 * ATTENTION_LANES) };

static scalar table[TABLE], dtable[TABLE], bias[BIASES], dbias[BIASES];

/* Every distance has the entry of its bucket, and what vectors read behind the last is 0. */
static void check_spread(int64_t context, bool two_sided)
{
    int64_t stride = relative_stride(context), reach = context - 1;

    CHECK(stride % ATTENTION_LANES == 0 && stride >= 2 * context - 1 + ATTENTION_LANES - 1);
    for (int64_t i = 0; i < BIASES; i++)
        bias[i] = (scalar)NAN;
    relative_spread(bias, table, HEADS, context, two_sided);
    for (int64_t h = 0; h < HEADS; h++)
        for (int64_t i = 0; i < stride; i++) {
            int64_t bucket = relative_bucket(i - reach, two_sided);
            CHECK(bias[h * stride + i] == (i <= 2 * reach ? table[bucket * HEADS + h] : 0));
        }
    CHECK(isnan((double)bias[HEADS * stride]));
}

/* <spread(table), dbias> = <table, gather(dbias)>; nothing behind the distances is gathered. */
static void check_adjoint(int64_t context, bool two_sided)
{
    int64_t stride = relative_stride(context), size = HEADS * stride;
    double forward = 0, back = 0, scale = 0;

    for (int64_t i = 0; i < size; i++) {
        bool of_distance = i % stride < 2 * context - 1;
        dbias[i] = of_distance ? (scalar)random_normal(2, RANDOM_TEST, (uint64_t)i) : (scalar)NAN;
        forward += of_distance ? (double)bias[i] * (double)dbias[i] : 0;
    }
    for (int64_t i = 0; i < TABLE; i++)
        dtable[i] = (scalar)NAN;
    relative_gather(dtable, dbias, HEADS, context, two_sided);
    for (int64_t i = 0; i < TABLE; i++) {
        back += (double)table[i] * (double)dtable[i];
        scale += fabs((double)table[i] * (double)dtable[i]);
    }
    CHECK_CLOSE(forward, back, rounding * scale);
}

TEST(relative_table)
{
    static const int64_t contexts[] = {1, 2, 8, 9, 16, 17, 100, 129, CONTEXT_MOST};

    draw(table, TABLE, 1, 1);
    for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
        for (int two_sided = 0; two_sided < 2; two_sided++) {
            check_spread(contexts[i], two_sided);
            check_adjoint(contexts[i], two_sided);
        }
}
