#ifndef NORMSWEEP_MODEL_KERNELS_TILE_H
#define NORMSWEEP_MODEL_KERNELS_TILE_H

/* The core of every matrix product here: a tile whose sums stay in registers. */
#include "model/kernels/factor.h"

/*
 * c = a b, `rows` <= TILE_ROWS rows by `vectors` <= TILE_VECTORS vectors, with what struct product adds to
 * it. Step s of the sum over k takes PAIR values of k: that factor of a's row i lies at a[i * a_row + s *
 * a_step], those of b at b + s * b_row. Row i of c lies at c + i * c_row.
 *
 * AMX reads whole tiles: a_step is 1, `steps` a multiple of STEPS, and TILE_ROWS rows of a and TILE_COLUMNS
 * columns of b can be read, whatever they hold.
 */
struct tile {
    const factor *a, *b;
    int64_t a_row, a_step, b_row;
    int64_t steps; /* s = 0 .. steps - 1 */
    scalar *c;
    const scalar *residual, *gate; /* laid out like c; NULL for none */
    const scalar *bias; /* [vectors * LANES]; NULL for none */
    int64_t c_row;
    bool add; /* to what c holds */
    bool relu;
};
#ifdef KERNELS_AMX
enum { STEPS = 16 };
/* Before the first tile and after the last one of a thread's share: tiles are a state of the processor. */
void KERNEL(tiles_begin)(void);
void KERNEL(tiles_end)(void);
#else
enum { STEPS = 1 };
INLINE void KERNEL(tiles_begin)(void)
{
}
INLINE void KERNEL(tiles_end)(void)
{
}
#endif

void KERNEL(tile)(const struct tile *tile, int64_t rows, int64_t vectors);

#endif
