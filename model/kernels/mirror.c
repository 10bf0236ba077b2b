/* The other half of a symmetric matrix. */
#include "model/kernels/factor.h"

/* The square of LANES rows and columns on the diagonal. */
INLINE void mirror_square(scalar *c, int64_t stride)
{
    vector row[LANES], other[LANES];

    UNROLLED
    for (int i = 0; i < LANES; i++)
        other[i] = row[i] = vector_load(c + i * stride);
    vector_transpose(other);
    UNROLLED
    for (int i = 0; i < LANES; i++)
        vector_store(c + i * stride, vector_select(vector_lanes() > i, other[i], row[i]));
}

void KERNEL(mirror)(scalar *c, int64_t n, int64_t stride)
{
    int64_t whole = n / LANES * LANES;

    for (int64_t row = 0; row < whole; row += LANES) {
        transpose_rows(c + row, stride, c + row * stride, stride, LANES, row);
        mirror_square(c + row * stride + row, stride);
    }
    for (int64_t row = whole; row < n; row++)
        for (int64_t column = 0; column < row; column++)
            c[column * stride + row] = c[row * stride + column];
}
