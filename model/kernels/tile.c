#include "model/kernels/vector.h"

#define EACH UNROLLED for (int i = 0; i < rows; i++) UNROLLED for (int j = 0; j < vectors; j++)

/* `value` where `zero` is not 0, and 0 where it is; NaN is not 0. */
INLINE vector vector_where_not_zero(vector value, vector zero)
{
    return (vector)((vector_index)value & (vector_index)(zero != (vector){0}));
}

/* max(value, 0), NaN stays NaN. */
INLINE vector vector_relu(vector value)
{
    return (vector)((vector_index)value & ~(vector_index)(value < (vector){0}));
}

/* After inlining, rows and vectors are constants, so that the sums stay in registers. */
INLINE void sum_tile(
    const int rows, const int vectors, vector sums[TILE_ROWS][TILE_VECTORS], const struct tile *tile)
{
    const scalar *a = tile->a, *b = tile->b;
    int64_t a_row = tile->a_row, a_step = tile->a_step, b_row = tile->b_row;

    for (int64_t k = tile->depth; k > 0; k--, a += a_step, b += b_row) {
        vector row[TILE_VECTORS];

        UNROLLED
        for (int j = 0; j < vectors; j++)
            row[j] = vector_load(b + j * LANES);
        UNROLLED
        for (int i = 0; i < rows; i++) {
            vector one = vector_all(a[i * a_row]);
            UNROLLED
            for (int j = 0; j < vectors; j++)
                sums[i][j] += one * row[j];
        }
    }
}

/* Takes the tile by value, so that the compiler knows that no store changes it. */
INLINE void put_tile(
    const int rows, const int vectors, vector sums[TILE_ROWS][TILE_VECTORS], const struct tile tile)
{
#define AT i *tile.c_row + j *LANES
    if (tile.add)
        EACH sums[i][j] += vector_load(tile.c + AT);
    if (tile.residual)
        EACH sums[i][j] += vector_load(tile.residual + AT);
    if (tile.bias)
        EACH sums[i][j] += vector_load(tile.bias + j * LANES);
    if (tile.relu)
        EACH sums[i][j] = vector_relu(sums[i][j]);
    if (tile.gate)
        EACH sums[i][j] = vector_where_not_zero(sums[i][j], vector_load(tile.gate + AT));
    EACH vector_store(tile.c + AT, sums[i][j]);
#undef AT
}

/* Shallower tiles end before a prefetch arrives. */
enum { FETCH_DEPTH = 64 };

/* Prefetches what is added to the sums while the sums are computed. */
INLINE void fetch_tile(const int rows, const int vectors, const struct tile *tile)
{
    EACH __builtin_prefetch(tile->c + i * tile->c_row + j * LANES, 1);
    if (tile->residual)
        EACH __builtin_prefetch(tile->residual + i * tile->c_row + j * LANES);
    if (tile->gate)
        EACH __builtin_prefetch(tile->gate + i * tile->c_row + j * LANES);
}

INLINE void run_tile(const int rows, const int vectors, const struct tile *tile)
{
    vector sums[TILE_ROWS][TILE_VECTORS] = {0};

    if (tile->depth >= FETCH_DEPTH)
        fetch_tile(rows, vectors, tile);
    sum_tile(rows, vectors, sums, tile);
    put_tile(rows, vectors, sums, *tile);
}

void KERNEL(tile)(const struct tile *tile, int64_t rows, int64_t vectors)
{
    switch (rows * TILE_VECTORS + vectors - 1) {
#define CASES(rows)                                                                                          \
    case rows *TILE_VECTORS:                                                                                 \
        run_tile(rows, 1, tile);                                                                             \
        break;                                                                                               \
    case rows *TILE_VECTORS + 1:                                                                             \
        run_tile(rows, 2, tile);                                                                             \
        break;
        CASES(1)
        CASES(2)
        CASES(3)
        CASES(4)
        CASES(5)
        CASES(6)
#if defined(__AVX512F__)
        CASES(7) CASES(8)
#endif
    }
}
