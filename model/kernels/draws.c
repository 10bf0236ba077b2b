/*
 * Many random draws at once, the same ones as those of model/core/random.h. In float, normal draws are
 * computed here by series, each with a bound of its error; the few whose rounding to float this bound leaves
 * open are drawn again one by one. So weights do not depend on the vector level, nor on these series.
 */
#include "model/kernels/random_words.h"

/* Draws that are computed together. */
enum { BLOCK = 64 };

/* BLOCK draws: the bits that random_bits gives, and in the same way those of the other half. */
struct halves {
    uint64_t first[BLOCK], second[BLOCK];
};

static void draw_halves(struct halves *halves, uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    for (int i = 0; i < BLOCK; i += WORDS)
        random_words(halves->first + i, halves->second + i, seed, purpose, index + (uint64_t)i);
}

INLINE int64_t block_of(int64_t left)
{
    return left < BLOCK ? left : BLOCK;
}

void KERNEL(draw_bits)(
    uint64_t *bits, int64_t count, uint64_t seed, enum random_purpose purpose, uint64_t first)
{
    struct halves halves;

    for (int64_t at = 0; at < count; at += BLOCK) {
        draw_halves(&halves, seed, purpose, first + (uint64_t)at);
        memcpy(bits + at, halves.first, (size_t)block_of(count - at) * sizeof(*bits));
    }
}

/* ---- real numbers ---- */

INLINE double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* An integer below 2^52, which is the fraction of 2^52 + x. */
INLINE double real(uint64_t x)
{
    return double_of(bits_of(0x1p52) | x) - 0x1p52;
}

/* The upper 53 bits as a number of [0, 1): as random_uniform, exact. */
INLINE double unit(uint64_t bits)
{
    return real(bits >> 32) * 0x1p-32 + real(bits >> 11 & 0x1fffff) * 0x1p-53;
}

void KERNEL(draw_uniform)(
    scalar *out, int64_t count, double bound, uint64_t seed, enum random_purpose purpose, uint64_t first)
{
    struct halves halves;

    for (int64_t at = 0; at < count; at += BLOCK) {
        int64_t block = block_of(count - at);
        draw_halves(&halves, seed, purpose, first + (uint64_t)at);
        SIMD
        for (int64_t i = 0; i < block; i++)
            out[at + i] = (scalar)(bound * (2 * unit(halves.first[i]) - 1));
    }
}

#ifdef SCALAR_DOUBLE
void KERNEL(draw_normal)(
    scalar *out, int64_t count, double deviation, uint64_t seed, enum random_purpose purpose, uint64_t first)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = deviation * random_normal(seed, purpose, first + (uint64_t)i);
}
#else
/* log(x) for 0 < x <= 1, within 2^-48 of itself: x = 2^n m with m between the roots of 1/2 and 2, s = (m -
 * 1) / (m + 1), log m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), where s^2 < 0.0295. */
INLINE double logarithm(double x)
{
    const uint64_t root = bits_of(0x1.6a09e667f3bcdp-1), fraction = (UINT64_C(1) << 52) - 1;
    uint64_t shifted = bits_of(x) - root + bits_of(1);
    double n = real(shifted >> 52) - 1023, m = double_of((shifted & fraction) + root);
    double s = (m - 1) / (m + 1), z = s * s;
    double series = 1.0 / 17;

    series = 1.0 / 15 + z * series;
    series = 1.0 / 13 + z * series;
    series = 1.0 / 11 + z * series;
    series = 1.0 / 9 + z * series;
    series = 1.0 / 7 + z * series;
    series = 1.0 / 5 + z * series;
    series = 1.0 / 3 + z * series;
    return n * 0x1.62e42fefa39efp-1 + 2 * (s + s * z * series);
}

/* cos(2 pi x) for 0 <= x < 1, within 2^-48 of itself: a sine between -pi/2 and pi/2, by Taylor's series. */
INLINE double cosine(double x)
{
    double angle = 0x1.921fb54442d18p+1 * (2 * fabs(x - 0.5) - 0.5), z = angle * angle;
    double series = -1.0 / 121645100408832000; /* 19! */

    series = 1.0 / 355687428096000 + z * series;
    series = -1.0 / 1307674368000 + z * series;
    series = 1.0 / 6227020800 + z * series;
    series = -1.0 / 39916800 + z * series;
    series = 1.0 / 362880 + z * series;
    series = -1.0 / 5040 + z * series;
    series = 1.0 / 120 + z * series;
    series = -1.0 / 6 + z * series;
    return angle + angle * z * series;
}

/*
 * How far deviation times a draw may be from what random_normal makes of it, in units of deviation times
 * radius: logarithm, root and cosine are closer than 2^-47 to the exact ones, those of libm, with the
 * rounding of 2 pi x, than 2^-49. The rest is margin.
 */
#define APART 0x1p-44

void KERNEL(draw_normal)(
    scalar *out, int64_t count, double deviation, uint64_t seed, enum random_purpose purpose, uint64_t first)
{
    struct halves halves;
    int64_t open[BLOCK];

    for (int64_t at = 0; at < count; at += BLOCK) {
        int64_t block = block_of(count - at), any = 0;
        draw_halves(&halves, seed, purpose, first + (uint64_t)at);
        SIMD_SUM(any)
        for (int64_t i = 0; i < block; i++) {
            double radius = deviation * sqrt(-2 * logarithm(1 - unit(halves.first[i])));
            double draw = radius * cosine(unit(halves.second[i])), apart = APART * radius;
            float most = (float)(draw + apart), least = (float)(draw - apart);
            out[at + i] = (scalar)draw;
            open[i] = !(most == least) || most == 0; /* 0 has two signs */
            any += open[i];
        }
        for (int64_t i = 0; any > 0 && i < block; i++)
            if (open[i])
                out[at + i] = (scalar)(deviation * random_normal(seed, purpose, first + (uint64_t)(at + i)));
    }
}
#endif
