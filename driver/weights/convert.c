/*
 * One loop for each stored type, without a branch in it, so that compilers vectorise it; matrices are turned
 * in tiles that stay in the nearest cache. Tensors begin anywhere in a file: elements are not aligned.
 */
#include "driver/weights/convert.h"

#include <endian.h>
#include <string.h>

enum { TILE = 64 };

static float single_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/*
 * IEEE binary16: sign, 5 bits of exponent, 10 bits of fraction. A subnormal number is its fraction, in units
 * of 2^-24; another gets the exponent's new bias, twice if it is infinite or NaN.
 */
static float half_of(uint16_t half)
{
    uint32_t magnitude = half & 0x7fffu, bias = 112u << 23;
    uint32_t normal = (magnitude << 13) + bias + (magnitude >= 0x7c00u ? bias : 0u);
    uint32_t small = bits_of((float)(int32_t)magnitude * 0x1p-24f);

    return single_of((uint32_t)(half >> 15) << 31 | (magnitude < 0x400u ? small : normal));
}

static uint16_t bytes_2(const unsigned char *in)
{
    uint16_t bits;

    memcpy(&bits, in, sizeof(bits));
    return le16toh(bits);
}

static uint32_t bytes_4(const unsigned char *in)
{
    uint32_t bits;

    memcpy(&bits, in, sizeof(bits));
    return le32toh(bits);
}

static double bytes_8(const unsigned char *in)
{
    uint64_t bits;
    double value;

    memcpy(&bits, in, sizeof(bits));
    bits = le64toh(bits);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

typedef void convert_function(scalar *restrict out, const unsigned char *restrict in, int64_t count);

/* Where the types agree, compilers make a copy of this loop. */
#define LOOP(name, size, value)                                                                              \
    static void from_##name(scalar *restrict out, const unsigned char *restrict in, int64_t count)           \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++)                                                                  \
            out[i] = (scalar)(value(in + i * size));                                                         \
    }

#define VALUE_F16(in) half_of(bytes_2(in))
#define VALUE_BF16(in) single_of((uint32_t)bytes_2(in) << 16)
#define VALUE_F32(in) single_of(bytes_4(in))
#define VALUE_F64(in) bytes_8(in)

LOOP(f16, 2, VALUE_F16)
LOOP(bf16, 2, VALUE_BF16)
LOOP(f32, 4, VALUE_F32)
LOOP(f64, 8, VALUE_F64)

static const struct {
    convert_function *convert;
    int64_t size;
} stored[STORED_READ_COUNT] = {
    [STORED_F32] = {from_f32, 4},
    [STORED_F16] = {from_f16, 2},
    [STORED_BF16] = {from_bf16, 2},
    [STORED_F64] = {from_f64, 8},
};

void convert(const struct stored_tensor *tensor, int64_t first, int64_t count, scalar *out)
{
    stored[tensor->type].convert(out, tensor->bytes + first * stored[tensor->type].size, count);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The tile of out that begins at (row, column). */
static void turn_tile(const struct stored_tensor *tensor, int64_t stride, int64_t first, int64_t rows,
    int64_t columns, int64_t row, int64_t column, scalar *out)
{
    int64_t high = smaller(TILE, rows - row), wide = smaller(TILE, columns - column);
    scalar tile[TILE][TILE + 8]; /* rows of a power of two would share few places of the cache */

    for (int64_t c = 0; c < wide; c++)
        convert(tensor, (column + c) * stride + first + row, high, tile[c]);
    for (int64_t r = 0; r < high; r++)
        for (int64_t c = 0; c < wide; c++)
            out[(row + r) * columns + column + c] = tile[c][r];
}

void convert_turned(const struct stored_tensor *tensor, int64_t stride, int64_t first, int64_t rows,
    int64_t columns, scalar *out)
{
    for (int64_t row = 0; row < rows; row += TILE)
        for (int64_t column = 0; column < columns; column += TILE)
            turn_tile(tensor, stride, first, rows, columns, row, column, out);
}
