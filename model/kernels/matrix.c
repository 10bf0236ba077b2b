/*
 * The matrix product. b is packed, a block at a time, into panels of TILE_COLUMNS columns. The panels stay in
 * the second-level cache while tile after tile of a's rows, in the first-level cache, runs along them. a is
 * read in place, unless its factors are rounded or it is transposed; see packs_a() and packs_b().
 *
 * What follows a product (bias, residual, activation) is computed in the registers that hold the tile.
 */
#include "model/kernels/factor.h"

/*
 * Sizes of the blocks: a panel of b streams from the second-level cache, which holds all panels, past a tile
 * of a in the first-level one. Which order a sum has depends on the steps of a block, so that these are the
 * same on every machine.
 */
enum {
    STEPS_ALONG = 1024, /* at most, of k at a time, if a is read in place by rows: a tile reads 8 long runs */
    STEPS_ACROSS = 576, /* otherwise */
    /* Steps of a block from which on reading and writing c again costs little; fewer where a is packed again
     * for every block of columns, which more columns at a time spare. */
    STEPS_ENOUGH = PAIR > 1 ? 144 : 384,
    SPARE = 2, /* steps between packed panels or tiles: else their rows may share few places of a cache */
    GROUP_TILES = TILE_ROWS > 8 ? 2 : 64 / (int)sizeof(scalar),
    GROUP = GROUP_TILES * TILE_ROWS, /* rows of a that are packed at a time */
    PANELS_SIZE = PRODUCT_SCRATCH - GROUP * (STEPS_ACROSS + SPARE), /* factors of packed b */
    READ_IN_PLACE = 1 << 16, /* a's stride times c's columns up to which a transposed a is read in place */
    FEW_ROWS = 128, /* rows of c up to which b is read in place */
    FETCH_AHEAD = 16, /* values of k */
};

/* A block of a product: all rows of c by `columns` columns from `column` on, over `depth` values of k. */
struct matrix_block {
    const struct product *product;
    int64_t column, columns;
    int64_t first, depth; /* k = first .. first + depth - 1 */
    int64_t steps; /* of tiles over these values */
    bool packs_a, packs_b; /* or reads it in place */
    factor *panels; /* b: [columns / TILE_COLUMNS][steps + SPARE][TILE_COLUMNS] */
    factor *packed; /* a: GROUP rows */
};

/* Rows of a block of a: in each tile of TILE_ROWS rows the factor of row i and step s lies at
 * at[i * row + s * step]; the next tile begins `tile` factors later. */
struct operand {
    const factor *at;
    int64_t row, step, tile;
};

/* Where the panel of a column is packed. */
static factor *panel_of(const struct matrix_block *block, int64_t column)
{
    return block->panels + column * (block->steps + SPARE);
}

/* Packs some rows of b, `stride` apart, to all panels; the last columns of the last one are 0. */
static void copy_rows(const struct matrix_block *block, int64_t k, int64_t rows)
{
    const struct product *p = block->product;
    const scalar *from = p->b + (block->first + k) * p->b_stride + block->column;

    for (int64_t j = 0; j < block->columns; j += TILE_COLUMNS) {
        int64_t wide = at_most(block->columns - j, TILE_COLUMNS);
        factor *to = panel_of(block, j) + k / PAIR * TILE_COLUMNS;
        if (wide < TILE_COLUMNS)
            memset(to, 0, (size_t)(factors(rows) * TILE_COLUMNS) * sizeof(*to));
        for (int64_t i = 0; i < rows; i += PAIR, to += TILE_COLUMNS)
            pack_across(to, from + i * p->b_stride + j, p->b_stride, rows - i, wide);
    }
}

static void pack_panels(const struct matrix_block *block)
{
    enum { ROWS = 16 }; /* at a time: as many long runs can be read ahead */
    const struct product *p = block->product;
    int64_t packed = factors(block->depth), rest = block->steps - packed;

    for (int64_t j = 0; j < block->columns && rest > 0; j += TILE_COLUMNS)
        memset(panel_of(block, j) + packed * TILE_COLUMNS, 0, (size_t)(rest * TILE_COLUMNS) * sizeof(factor));
    for (int64_t k = 0; !p->b_transposed && k < block->depth; k += ROWS)
        copy_rows(block, k, at_most(block->depth - k, ROWS));
    for (int64_t j = 0; p->b_transposed && j < block->columns; j += LANES)
        transpose_rows(panel_of(block, j / TILE_COLUMNS * TILE_COLUMNS) + j % TILE_COLUMNS, TILE_COLUMNS,
            p->b + (block->column + j) * p->b_stride + block->first, p->b_stride, block->columns - j,
            block->depth);
}

/* Computes a tile that is not full in memory of its own and copies `wide` columns of it to c. */
static void run_edge(const struct tile *tile, int64_t rows, int64_t wide)
{
    scalar c[TILE_ROWS * TILE_COLUMNS] = {0}, residual[TILE_ROWS * TILE_COLUMNS] = {0};
    scalar gate[TILE_ROWS * TILE_COLUMNS] = {0}, bias[TILE_COLUMNS] = {0};
    size_t size = (size_t)wide * sizeof(scalar);
    struct tile own = *tile;

    own.c = c;
    own.c_row = TILE_COLUMNS;
    own.bias = tile->bias ? memcpy(bias, tile->bias, size) : NULL;
    own.residual = tile->residual ? residual : NULL;
    own.gate = tile->gate ? gate : NULL;
    for (int64_t i = 0; i < rows; i++) {
        int64_t from = i * tile->c_row, to = i * TILE_COLUMNS;
        if (tile->add)
            memcpy(c + to, tile->c + from, size);
        if (tile->residual)
            memcpy(residual + to, tile->residual + from, size);
        if (tile->gate)
            memcpy(gate + to, tile->gate + from, size);
    }
    KERNEL(tile)(&own, rows, wide > LANES ? TILE_VECTORS : 1);
    for (int64_t i = 0; i < rows; i++)
        memcpy(tile->c + i * tile->c_row, c + i * TILE_COLUMNS, size);
}

/* Rows [row, row + rows) of c, at most TILE_ROWS, along all panels. */
static void run_rows(const struct matrix_block *block, int64_t row, int64_t rows, struct operand a)
{
    const struct product *p = block->product;
    bool begins = block->first == 0, ends = block->first + block->depth == p->k;
    struct tile tile = {.a = a.at,
        .a_row = a.row,
        .a_step = a.step,
        .b_row = block->packs_b ? TILE_COLUMNS : p->b_stride,
        .steps = block->steps,
        .c_row = p->c_stride,
        .add = p->add || !begins,
        .relu = p->relu && ends};

    int64_t end = p->symmetric ? at_most(block->columns, row + rows - block->column) : block->columns;
    for (int64_t j = 0; j < end; j += TILE_COLUMNS) {
        int64_t column = block->column + j, at = row * p->c_stride + column;
        tile.b = block->packs_b ? panel_of(block, j) : as_factors(p->b + block->first * p->b_stride + column);
        tile.c = p->c + at;
        tile.residual = begins && p->residual ? p->residual + at : NULL;
        tile.gate = ends && p->gate ? p->gate + at : NULL;
        tile.bias = begins && p->bias ? p->bias + column : NULL;
        if (block->columns - j < TILE_COLUMNS)
            run_edge(&tile, rows, block->columns - j);
        else
            KERNEL(tile)(&tile, rows, end - j > LANES ? TILE_VECTORS : 1);
    }
}

/* The first row to compute, a multiple of `step`: a block of a symmetric c is on or below the diagonal. */
static int64_t first_row(const struct matrix_block *block, int64_t step)
{
    return block->product->symmetric ? block->column / step * step : 0;
}

#ifdef KERNELS_AMX
/* Packs up to GROUP columns of a transposed a as rows. What lies in the last tile behind the last row is not
 * set. */
static struct operand pack_columns(const struct matrix_block *block, const scalar *a, int64_t columns)
{
    int64_t stride = block->product->a_stride;

    for (int64_t i = 0; i < columns; i += LANES)
        for (int64_t s = 0; s < block->steps; s += LANES) {
            vector step[LANES] = {0};
            for (int64_t one = 0; one < LANES && PAIR * (s + one) < block->depth; one++) {
                int64_t k = PAIR * (s + one);
                const scalar *from = a + k * stride + i;
                pack_across(
                    (factor *)&step[one], from, stride, block->depth - k, at_most(columns - i, LANES));
            }
            vector_transpose(step);
            for (int64_t row = 0; row < LANES; row++)
                factors_store(block->packed + (i + row) * block->steps + s, step[row]);
        }
    return (struct operand){block->packed, block->steps, 1, TILE_ROWS * block->steps};
}
#else
/* Packs up to GROUP columns of a transposed a, tile by tile; what follows the last column in its tile is not
 * set. */
static struct operand pack_columns(const struct matrix_block *block, const scalar *a, int64_t columns)
{
    int64_t stride = block->product->a_stride;

    for (int64_t k = 0; k < block->depth; k += PAIR, a += PAIR * stride) {
        factor row[GROUP + LANES];
        const factor *from = as_factors(a);
        for (int64_t next = k + FETCH_AHEAD; next < at_most(k + FETCH_AHEAD + PAIR, block->depth); next++)
            for (int64_t i = 0; i < columns; i += LANES)
                __builtin_prefetch(a + (next - k) * stride + i);
        if (BFLOAT16_PRODUCTS) {
            pack_across(row, a, stride, block->depth - k, columns);
            from = row;
        }
        for (int64_t i = 0; i < columns; i += TILE_ROWS) {
            factor *to = block->packed + i * (block->steps + SPARE) + k / PAIR * TILE_ROWS;
            if (columns - i >= TILE_ROWS)
                memcpy(to, from + i, TILE_ROWS * sizeof(*to));
            else
                memcpy(to, from + i, (size_t)(columns - i) * sizeof(*to));
        }
    }
    return (struct operand){block->packed, 1, TILE_ROWS, TILE_ROWS * (block->steps + SPARE)};
}
#endif

/* Packs a, GROUP rows of c at a time. */
static void run_packed(const struct matrix_block *block)
{
    const struct product *p = block->product;
    int64_t wide = round_up(block->steps, LANES);

    for (int64_t row = first_row(block, GROUP); row < p->m; row += GROUP) {
        int64_t rows = at_most(p->m - row, GROUP);
        struct operand a = {block->packed, wide, 1, TILE_ROWS * wide};
        if (p->a_transposed)
            a = pack_columns(block, p->a + block->first * p->a_stride + row, rows);
        else
            pack_rows(block->packed, wide, p->a + row * p->a_stride + block->first, p->a_stride, rows,
                block->depth);
        for (int64_t i = 0; i < rows; i += TILE_ROWS, a.at += a.tile)
            run_rows(block, row + i, at_most(rows - i, TILE_ROWS), a);
    }
}

/* Only where factors are scalars as they are. */
static void run_in_place(const struct matrix_block *block)
{
    const struct product *p = block->product;
    struct operand a = {.row = p->a_transposed ? 1 : p->a_stride, .step = p->a_transposed ? p->a_stride : 1};

    for (int64_t row = first_row(block, TILE_ROWS); row < p->m; row += TILE_ROWS) {
        a.at = as_factors(p->a + row * a.row + block->first * a.step);
        run_rows(block, row, at_most(p->m - row, TILE_ROWS), a);
    }
}

/* Do the elements of a column, rows `stride` apart, lie on pages of their own? */
static bool far_apart(int64_t stride)
{
    return stride * (int64_t)sizeof(scalar) >= 4096;
}

/* A transposed a is read in place where its rows lie near each other and few tiles read them. */
static bool packs_a(const struct product *p)
{
    return BFLOAT16_PRODUCTS ||
           (p->a_transposed && (far_apart(p->a_stride) || p->a_stride * p->n > READ_IN_PLACE));
}

/* b likewise; it consists of whole panels then. */
static bool packs_b(const struct product *p)
{
    return BFLOAT16_PRODUCTS || p->b_transposed || p->n % TILE_COLUMNS != 0 || far_apart(p->b_stride) ||
           p->m > FEW_ROWS;
}

/* The size of equal parts of `whole`: at most `most`, a multiple of `unit`, as `most` is. */
static int64_t equal_part(int64_t whole, int64_t most, int64_t unit)
{
    int64_t parts = (whole + most - 1) / most;

    return round_up((whole + parts - 1) / parts, unit);
}

/*
 * As many columns at a time as there is room for with STEPS_ENOUGH, because a is read once for each block of
 * columns; then as many steps as there is room for, because c is read and written once for each block of
 * steps.
 */
static void set_sizes(const struct product *p, int64_t *columns, int64_t *depth)
{
    int64_t enough = at_most(round_up(factors(p->k), LANES), STEPS_ENOUGH);
    int64_t most = BFLOAT16_PRODUCTS || p->a_transposed ? STEPS_ACROSS : STEPS_ALONG;

    *columns = equal_part(p->n, PANELS_SIZE / (enough + SPARE) / TILE_COLUMNS * TILE_COLUMNS, TILE_COLUMNS);
    int64_t room = PANELS_SIZE / *columns - SPARE;
    *depth = equal_part(p->k, PAIR * at_most(room / LANES * LANES, most), PAIR * LANES);
}

void KERNEL(product)(const struct product *product, scalar *scratch)
{
    struct matrix_block block = {.product = product,
        .packs_a = packs_a(product),
        .packs_b = packs_b(product),
        .panels = factors_in(scratch),
        .packed = factors_in(scratch) + PANELS_SIZE};
    int64_t wide, depth;

    set_sizes(product, &wide, &depth);
    KERNEL(tiles_begin)();
    for (block.column = 0; block.column < product->n; block.column += wide) {
        block.columns = at_most(product->n - block.column, wide);
        for (block.first = 0; block.first < product->k; block.first += depth) {
            block.depth = at_most(product->k - block.first, depth);
            block.steps = round_up(factors(block.depth), STEPS);
            if (block.packs_b)
                pack_panels(&block);
            if (block.packs_a)
                run_packed(&block);
            else
                run_in_place(&block);
        }
    }
    KERNEL(tiles_end)();
}
