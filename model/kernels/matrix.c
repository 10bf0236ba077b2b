/*
 * The matrix product. b is packed, a block at a time, into panels of TILE_COLUMNS columns. The panels stay in
 * the second-level cache while tile after tile of a's rows, in the first-level cache, runs along them. a is
 * read in place, except that a transposed a is packed too if many panels use it.
 *
 * What follows a product (bias, residual, activation) is computed in the registers that hold the tile.
 */
#include "model/kernels/vector.h"

/*
 * Sizes of the blocks: a panel of b and a tile of a fit the first-level cache, all panels and a's packed
 * columns the second-level one.
 */
enum {
    DEPTH_ALONG = 1024, /* k at a time if rows of a are contiguous: a tile then reads 8 long runs */
    DEPTH_ACROSS = 512, /* k at a time if columns of a are contiguous */
    GROUP_TILES = 8,
    GROUP = GROUP_TILES * TILE_ROWS, /* columns of a transposed a that are packed at a time */
    PANELS_SIZE = PRODUCT_SCRATCH - GROUP * DEPTH_ACROSS, /* scalars of packed b */
    PACK_COLUMNS = 128, /* narrower products read a transposed a in place */
};

/* A block of a product: all rows of c by `columns` columns from `column` on, over `depth` values of k. */
struct matrix_block {
    const struct product *product;
    int64_t column, columns;
    int64_t first, depth; /* k = first .. first + depth - 1 */
    scalar *panels; /* b: [columns / TILE_COLUMNS][depth][TILE_COLUMNS] */
    scalar *packed; /* a: [GROUP_TILES][depth][TILE_ROWS] */
};

/* Copies `wide` columns of b to a panel; its other columns are 0. */
static void copy_panel(scalar *panel, const scalar *from, int64_t stride, int64_t wide, int64_t depth)
{
    if (wide < TILE_COLUMNS) {
        memset(panel, 0, (size_t)(depth * TILE_COLUMNS) * sizeof(*panel));
        for (int64_t k = 0; k < depth; k++)
            memcpy(panel + k * TILE_COLUMNS, from + k * stride, (size_t)wide * sizeof(*from));
        return;
    }
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < TILE_COLUMNS; j += LANES)
            vector_store(panel + k * TILE_COLUMNS + j, vector_load(from + k * stride + j));
}

static void pack_panels(const struct matrix_block *block)
{
    const struct product *p = block->product;

    for (int64_t j = 0; j < block->columns; j += TILE_COLUMNS) {
        scalar *panel = block->panels + j * block->depth;
        int64_t column = block->column + j, wide = at_most(block->columns - j, TILE_COLUMNS);
        if (!p->b_transposed) {
            copy_panel(panel, p->b + block->first * p->b_stride + column, p->b_stride, wide, block->depth);
            continue;
        }
        for (int64_t i = 0; i < TILE_COLUMNS; i += LANES)
            transpose_rows(panel + i, TILE_COLUMNS, p->b + (column + i) * p->b_stride + block->first,
                p->b_stride, wide - i, block->depth);
    }
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
    KERNEL(tile)(&own, rows, TILE_VECTORS);
    for (int64_t i = 0; i < rows; i++)
        memcpy(tile->c + i * tile->c_row, c + i * TILE_COLUMNS, size);
}

/* Rows [row, row + rows) of c along all panels. Element (i, k) of a's block is a[i * a_row + k * a_step]. */
static void run_rows(const struct matrix_block *block, int64_t row, int64_t rows, const scalar *a,
    int64_t a_row, int64_t a_step)
{
    const struct product *p = block->product;
    bool begins = block->first == 0, ends = block->first + block->depth == p->k;
    struct tile tile = {.a = a,
        .a_row = a_row,
        .a_step = a_step,
        .b_row = TILE_COLUMNS,
        .depth = block->depth,
        .c_row = p->c_stride,
        .add = p->add || !begins,
        .relu = p->relu && ends};

    int64_t end = p->symmetric ? at_most(block->columns, row + rows - block->column) : block->columns;
    for (int64_t j = 0; j < end; j += TILE_COLUMNS) {
        int64_t column = block->column + j, at = row * p->c_stride + column;
        tile.b = block->panels + j * block->depth;
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

/* The first row that is computed, a multiple of `step`: a block of a symmetric c lies on or below the
 * diagonal.
 */
static int64_t first_row(const struct matrix_block *block, int64_t step)
{
    return block->product->symmetric ? block->column / step * step : 0;
}

/* Packs up to GROUP columns of a, tile by tile; what follows the last column in its tile is not set. */
static void pack_group(const struct matrix_block *block, const scalar *a, int64_t columns)
{
    int64_t stride = block->product->a_stride;

    for (int64_t k = 0; k < block->depth; k++)
        for (int64_t i = 0; i < columns; i += TILE_ROWS) {
            scalar *to = block->packed + i * block->depth + k * TILE_ROWS;
            if (columns - i >= TILE_ROWS)
                memcpy(to, a + k * stride + i, TILE_ROWS * sizeof(*to));
            else
                memcpy(to, a + k * stride + i, (size_t)(columns - i) * sizeof(*to));
        }
}

static void run_packed(const struct matrix_block *block)
{
    const struct product *p = block->product;

    for (int64_t row = first_row(block, GROUP); row < p->m; row += GROUP) {
        int64_t rows = at_most(p->m - row, GROUP);
        pack_group(block, p->a + block->first * p->a_stride + row, rows);
        for (int64_t i = 0; i < rows; i += TILE_ROWS)
            run_rows(
                block, row + i, at_most(rows - i, TILE_ROWS), block->packed + i * block->depth, 1, TILE_ROWS);
    }
}

static void run_block(const struct matrix_block *block)
{
    const struct product *p = block->product;
    int64_t a_row = p->a_transposed ? 1 : p->a_stride, a_step = p->a_transposed ? p->a_stride : 1;

    pack_panels(block);
    if (p->a_transposed && p->n >= PACK_COLUMNS) {
        run_packed(block);
        return;
    }
    for (int64_t row = first_row(block, TILE_ROWS); row < p->m; row += TILE_ROWS)
        run_rows(block, row, at_most(p->m - row, TILE_ROWS), p->a + row * a_row + block->first * a_step,
            a_row, a_step);
}

/* k at a time: equal parts, rounded up to whole vectors. */
static int64_t depth_of(const struct product *p)
{
    int64_t most = p->a_transposed ? DEPTH_ACROSS : DEPTH_ALONG, parts = (p->k + most - 1) / most;

    return ((p->k + parts - 1) / parts + LANES - 1) / LANES * LANES;
}

void KERNEL(product)(const struct product *product, scalar *scratch)
{
    struct matrix_block block = {.product = product, .panels = scratch, .packed = scratch + PANELS_SIZE};
    int64_t depth = depth_of(product);
    int64_t wide = PANELS_SIZE / depth / TILE_COLUMNS * TILE_COLUMNS;

    for (block.column = 0; block.column < product->n; block.column += wide) {
        block.columns = at_most(product->n - block.column, wide);
        for (block.first = 0; block.first < product->k; block.first += depth) {
            block.depth = at_most(product->k - block.first, depth);
            run_block(&block);
        }
    }
}

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
