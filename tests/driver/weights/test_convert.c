/* Elements and turned matrices of each stored type. */
#include "driver/weights/convert.h"

#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE = 150, FIRST = 3, ROWS = 130, COLUMNS = 70, COUNT = COLUMNS * STRIDE };

/* The bytes of a small whole number in a type, which all types hold exactly. */
static size_t put(unsigned char *to, enum stored_type type, int number)
{
    const float single = (float)number;
    const double twice = number;
    uint32_t bits;
    uint16_t half;

    memcpy(&bits, &single, sizeof(bits));
    switch (type) {
    case STORED_F32:
        memcpy(to, &single, 4);
        return 4;
    case STORED_F64:
        memcpy(to, &twice, 8);
        return 8;
    case STORED_BF16:
        half = (uint16_t)(bits >> 16);
        break;
    default: /* the exponent loses its bias of 127 and gets that of 15 */
        half = number ? (uint16_t)((bits >> 13) - (112u << 10)) : 0;
    }
    memcpy(to, &half, 2);
    return 2;
}

static int number_of(int i)
{
    return i * 7 % 127; /* 7 bits: bfloat16 has 8 */
}

/* Parts of a matrix that are no multiple of a tile, at an odd address. */
static void check_type(enum stored_type type)
{
    unsigned char *bytes = malloc(1 + 8 * COUNT);
    scalar *out = malloc(ROWS * COLUMNS * sizeof(*out));
    struct stored_tensor tensor = {.name = "a", .type = type, .count = COUNT, .bytes = bytes + 1};
    size_t used = 1;
    int wrong = 0;

    for (int i = 0; i < COUNT; i++)
        used += put(bytes + used, type, number_of(i));
    convert_turned(&tensor, STRIDE, FIRST, ROWS, COLUMNS, out);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            wrong += !(out[r * COLUMNS + c] == (scalar)number_of(c * STRIDE + FIRST + r));
    CHECK(wrong == 0);
    convert(&tensor, 5, 1001, out);
    for (int i = 0; i < 1001; i++)
        wrong += !(out[i] == (scalar)number_of(5 + i));
    CHECK(wrong == 0);
    free(bytes);
    free(out);
}

TEST(convert_turned)
{
    for (enum stored_type type = 0; type < STORED_READ_COUNT; type++)
        check_type(type);
}

/* Every number of 16 bits, by its definition. */
TEST(convert_every_half)
{
    int wrong = 0;

    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t half = (uint16_t)bits;
        struct stored_tensor tensor = {
            .name = "a", .type = STORED_F16, .count = 1, .bytes = (const unsigned char *)&half};
        int exponent = half >> 10 & 31, fraction = half & 1023;
        double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        scalar found;
        convert(&tensor, 0, 1, &found);
        if (exponent == 31)
            wrong += fraction ? !isnan(found) : !(isinf(found) && !signbit(found) == !(half >> 15));
        else
            wrong += !((double)found == (half >> 15 ? -size : size) && !signbit(found) == !(half >> 15));
    }
    CHECK(wrong == 0);
}
