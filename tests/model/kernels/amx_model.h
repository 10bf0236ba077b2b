#ifndef NORMSWEEP_TESTS_MODEL_KERNELS_AMX_MODEL_H
#define NORMSWEEP_TESTS_MODEL_KERNELS_AMX_MODEL_H

/*
 * The instructions of AMX that the kernels use, as the processor's manual defines them (Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2: LDTILECFG, TILELOADD, TDPBF16PS, ...), so that a
 * processor without them can check what the kernels do with them. Includes assertions on how they are used.
 */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/core/check.h"

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#define _tile_loadconfig model_configure
#define _tile_release model_release
#define _tile_zero model_zero
#define _tile_loadd model_load
#define _tile_stored model_store
#define _tile_dpbf16ps model_multiply

enum { MODEL_TILES = 8, MODEL_ROWS = 16, MODEL_BYTES = 64 };

static _Thread_local struct {
    bool configured;
    int rows[MODEL_TILES], bytes[MODEL_TILES];
    uint8_t row[MODEL_TILES][MODEL_ROWS][MODEL_BYTES];
} model;

static inline void model_configure(const void *config)
{
    const uint8_t *byte = config;

    INVARIANT(byte[0] == 1 && byte[1] == 0, "%s", "use of AMX");
    for (int tile = 0; tile < MODEL_TILES; tile++) {
        model.bytes[tile] = byte[16 + 2 * tile] | byte[17 + 2 * tile] << 8;
        model.rows[tile] = byte[48 + tile];
        INVARIANT(model.rows[tile] <= MODEL_ROWS && model.bytes[tile] <= MODEL_BYTES, "%s", "use of AMX");
    }
    memset(model.row, 0, sizeof(model.row));
    model.configured = true;
}

static inline void model_release(void)
{
    model.configured = false;
}

static inline void model_zero(int tile)
{
    INVARIANT(model.configured, "%s", "use of AMX");
    memset(model.row[tile], 0, sizeof(model.row[tile]));
}

static inline void model_load(int tile, const void *from, size_t stride)
{
    INVARIANT(model.configured, "%s", "use of AMX");
    for (int i = 0; i < model.rows[tile]; i++)
        memcpy(model.row[tile][i], (const char *)from + (size_t)i * stride, (size_t)model.bytes[tile]);
}

static inline void model_store(int tile, void *to, size_t stride)
{
    INVARIANT(model.configured, "%s", "use of AMX");
    for (int i = 0; i < model.rows[tile]; i++)
        memcpy((char *)to + (size_t)i * stride, model.row[tile][i], (size_t)model.bytes[tile]);
}

/* The bfloat16 number at a place; denormal ones count as 0. */
static inline float model_number(const uint8_t *at)
{
    uint32_t bits = (uint32_t)(at[0] | at[1] << 8) << 16;
    float number;

    if ((bits & 0x7f800000) == 0)
        bits &= 0x80000000;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* c += a b, in float: c's row i and column n from a's row i and b's column n, a pair of numbers at a time. */
static inline void model_multiply(int c, int a, int b)
{
    INVARIANT(model.configured && model.rows[b] == model.bytes[a] / 4, "%s", "use of AMX");
    for (int i = 0; i < model.rows[c]; i++)
        for (int k = 0; k < model.bytes[a]; k += 4)
            for (int n = 0; n < model.bytes[c]; n += 4) {
                float sum;
                memcpy(&sum, &model.row[c][i][n], sizeof(sum));
                for (int half = 0; half < 4; half += 2)
                    sum += model_number(&model.row[a][i][k + half]) *
                           model_number(&model.row[b][k / 4][n + half]);
                memcpy(&model.row[c][i][n], &sum, sizeof(sum));
            }
}

#endif
