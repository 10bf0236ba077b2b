/* Rotary positions: pairs of elements of queries and keys turn by the angles of their row. */
#include "model/kernels/level.h"

/* Inlined, so that the compiler builds each usual half for itself, in whole vectors. */
#define INLINE_TURN static inline __attribute__((always_inline))

INLINE_TURN void turn_head(
    scalar *x, const scalar *cosine, const scalar *sine, int64_t half, scalar direction)
{
    scalar *y = x + half;

    SIMD
    for (int64_t i = 0; i < half; i++) {
        scalar a = x[i], b = y[i], s = direction * sine[i];
        x[i] = a * cosine[i] - b * s;
        y[i] = b * cosine[i] + a * s;
    }
}

INLINE_TURN void turn_rows(scalar *x, int64_t stride, const scalar *cosine, const scalar *sine, int64_t rows,
    int64_t heads, int64_t half, scalar direction)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t h = 0; h < heads; h++)
            turn_head(x + r * stride + 2 * h * half, cosine + r * half, sine + r * half, half, direction);
}

void KERNEL(rotary)(scalar *x, int64_t stride, const scalar *cosine, const scalar *sine, int64_t rows,
    int64_t heads, int64_t half, bool back)
{
    const scalar direction = back ? -1 : 1;

    switch (half) {
#define CASE(half)                                                                                           \
    case half:                                                                                               \
        turn_rows(x, stride, cosine, sine, rows, heads, half, direction);                                    \
        break;
        CASE(4)
        CASE(8)
        CASE(16)
        CASE(32)
        CASE(64)
    default:
        turn_rows(x, stride, cosine, sine, rows, heads, half, direction);
    }
}
