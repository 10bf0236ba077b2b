/*
 * The inner loop of matrix products: a tile of sums stays in registers while it runs over the depth.
 * Built once for each vector level, and again for bfloat16 factors (factor.h).
 */
#include "model/kernels/factor.h"

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
enum { FETCH_STEPS = 64 / PAIR };

/* Prefetches what is added to the sums while the sums are computed. */
INLINE void fetch_tile(const int rows, const int vectors, const struct tile *tile)
{
    EACH __builtin_prefetch(tile->c + i * tile->c_row + j * LANES, 1);
    if (tile->residual)
        EACH __builtin_prefetch(tile->residual + i * tile->c_row + j * LANES);
    if (tile->gate)
        EACH __builtin_prefetch(tile->gate + i * tile->c_row + j * LANES);
}

#ifdef KERNELS_AMX
_Static_assert(
    (int)STEPS == TILE_ROWS / 2 && (int)STEPS == (int)LANES, "tiles of a, b and c have as many rows");

/* What _tile_loadconfig reads. Registers 0 to 3 hold c, 4 and 5 a, 6 and 7 b. */
struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

void KERNEL(tiles_begin)(void)
{
    struct tile_config config = {.palette = 1};

    for (int i = 0; i < 8; i++) {
        config.bytes[i] = VECTOR_BYTES;
        config.rows[i] = STEPS;
    }
    _tile_loadconfig(&config);
}

void KERNEL(tiles_end)(void)
{
    _tile_release();
}

/* The sums of two tiles of rows by two of columns, or of one by two: each tile of a and b serves twice. */
INLINE void sum_tiles(const bool lower, vector sums[TILE_ROWS][TILE_VECTORS], const struct tile *tile)
{
    enum { ROWS = TILE_ROWS / 2, C_STRIDE = TILE_COLUMNS * sizeof(scalar) };
    const size_t a_stride = (size_t)tile->a_row * sizeof(factor),
                 b_stride = (size_t)tile->b_row * sizeof(factor);
    const factor *a = tile->a, *b = tile->b;

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t s = 0; s < tile->steps; s += STEPS, a += STEPS, b += STEPS * tile->b_row) {
        _tile_loadd(6, b, b_stride);
        _tile_loadd(7, b + LANES, b_stride);
        _tile_loadd(4, a, a_stride);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (lower) {
            _tile_loadd(5, a + ROWS * tile->a_row, a_stride);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, &sums[0][0], C_STRIDE);
    _tile_stored(1, &sums[0][1], C_STRIDE);
    if (lower) {
        _tile_stored(2, &sums[ROWS][0], C_STRIDE);
        _tile_stored(3, &sums[ROWS][1], C_STRIDE);
    }
}

void KERNEL(tile)(const struct tile *tile, int64_t rows, int64_t vectors)
{
    vector sums[TILE_ROWS][TILE_VECTORS];

    if (tile->steps >= FETCH_STEPS)
        fetch_tile((int)rows, (int)vectors, tile);
    if (rows > TILE_ROWS / 2)
        sum_tiles(true, sums, tile);
    else
        sum_tiles(false, sums, tile);
    if (vectors == TILE_VECTORS)
        put_tile((int)rows, TILE_VECTORS, sums, *tile);
    else
        put_tile((int)rows, 1, sums, *tile);
}
#else
/* sum + a b in each lane; of a pair of bfloat16 numbers, both products. */
INLINE vector vector_add_product(vector sum, vector a, vector b)
{
#ifdef BFLOAT16_PAIRS
    return (vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
    return sum + a * b;
#endif
}

INLINE vector factors_all(factor one)
{
#ifdef BFLOAT16_PAIRS
    return (vector)((vector_bits){0} + one);
#else
    return vector_all(one);
#endif
}

/* After inlining, rows and vectors are constants, so that the sums stay in registers. */
INLINE void sum_tile(
    const int rows, const int vectors, vector sums[TILE_ROWS][TILE_VECTORS], const struct tile *tile)
{
    const factor *a = tile->a, *b = tile->b;
    int64_t a_row = tile->a_row, a_step = tile->a_step, b_row = tile->b_row;

    for (int64_t s = tile->steps; s > 0; s--, a += a_step, b += b_row) {
        vector row[TILE_VECTORS];

        UNROLLED
        for (int j = 0; j < vectors; j++)
            row[j] = factors_load(b + j * LANES);
        UNROLLED
        for (int i = 0; i < rows; i++) {
            vector one = factors_all(a[i * a_row]);
            UNROLLED
            for (int j = 0; j < vectors; j++)
                sums[i][j] = vector_add_product(sums[i][j], one, row[j]);
        }
    }
}

INLINE void run_tile(const int rows, const int vectors, const struct tile *tile)
{
    vector sums[TILE_ROWS][TILE_VECTORS] = {0};

    if (tile->steps >= FETCH_STEPS)
        fetch_tile(rows, vectors, tile);
    sum_tile(rows, vectors, sums, tile);
    /* Makes the compiler compute addresses anew: kept beside the sums, they do not fit the registers. */
    __asm__("" : "+r"(tile));
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
#endif
