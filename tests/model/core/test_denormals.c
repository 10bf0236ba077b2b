/* Numbers below the normal ones, which count as zero while training. */
#include "tests/test.h"

#include <float.h>

#include "model/core/denormals.h"

struct products {
    float narrow, narrow_operand;
    double wide, wide_operand;
};

/* Results that are denormal, and products of operands that are. */
static struct products products(void)
{
    volatile float narrow = 1e-30f, narrow_least = FLT_TRUE_MIN;
    volatile double wide = 1e-200, wide_least = DBL_TRUE_MIN, half = 1e-110;

    return (struct products){narrow * 1e-10f, narrow_least * 1e30f, wide * half, wide_least * 1e300};
}

static bool are_zero(const struct products p)
{
    return p.narrow == 0 && p.narrow_operand == 0 && p.wide == 0 && p.wide_operand == 0;
}

static bool are_there(const struct products p)
{
    return p.narrow > 0 && p.narrow_operand > 0 && p.wide > 0 && p.wide_operand > 0;
}

TEST(denormals_are_zero_where_they_are_flushed)
{
    CHECK(!denormals_flushed() && are_there(products()));
    if (denormals_why_not()) {
        CHECK(!denormals_flush(true) && !denormals_flushed() && are_there(products()));
        test_skip("this processor cannot flush denormals, so their being zero in training is not checked");
        return;
    }
    CHECK(!denormals_flush(true));
    CHECK(denormals_flushed() && are_zero(products()));
    CHECK(denormals_flush(true) && denormals_flushed());
    CHECK(denormals_flush(false));
    CHECK(!denormals_flushed() && are_there(products()));
    CHECK(!denormals_flush(false));
}
