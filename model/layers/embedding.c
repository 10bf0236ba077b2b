/*
 * Sums of embeddings by token, position and type. Gradients go by columns, so that shares write to
 * different parts of a row, in the order of the rows whatever the number of threads.
 */
#include "model/layers/layers.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 16 }; /* shares of columns are whole multiples of these */

struct embedding_work {
    const struct embedding *embedding;
    const struct packed *packed;
    scalar *out;
    const scalar *dout;
};

/* Rows [begin, end). */
static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct embedding_work *work = context;
    const struct embedding *e = work->embedding;
    const struct packed *packed = work->packed;
    int64_t s = 0;

    (void)scratch;
    for (int64_t row = begin; row < end; row++) {
        while (row >= packed->start[s + 1])
            s++;
        const scalar *position = e->position ? e->position + (row - packed->start[s]) * e->width : NULL;
        scalar *out = work->out + row * e->width;
        e->team->kernels->add(out, e->token + packed->tokens[row] * e->width, position, e->width);
        if (e->type)
            e->team->kernels->add(out, out, e->type, e->width);
    }
}

void embedding_forward(const struct embedding *embedding, scalar *out, const struct packed *packed)
{
    const struct embedding_work work = {.embedding = embedding, .packed = packed, .out = out};
    const struct items rows = {packed->rows, 1, ELEMENT_NANOSECONDS * (double)embedding->width};

    team_run(embedding->team, rows, forward_share, &work);
}

static void clear_columns(scalar *plane, int64_t rows, int64_t width, int64_t begin, int64_t end)
{
    if (end - begin == width) {
        memset(plane, 0, (size_t)(rows * width) * sizeof(*plane));
        return;
    }
    for (int64_t row = 0; row < rows; row++)
        memset(plane + row * width + begin, 0, (size_t)(end - begin) * sizeof(*plane));
}

/* Columns [begin, end): rows with the same token add to the same gradient, columns never do. */
static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct embedding_work *work = context;
    const struct embedding *e = work->embedding;
    const struct packed *packed = work->packed;

    (void)scratch;
    if (!e->add)
        clear_columns(e->dtoken, e->vocabulary, e->width, begin, end);
    if (e->dposition)
        clear_columns(e->dposition, e->context, e->width, begin, end);
    for (int64_t s = 0; s < packed->sequences; s++)
        for (int64_t row = packed->start[s]; row < packed->start[s + 1]; row++) {
            const scalar *dx = work->dout + row * e->width + begin;
            scalar *token = e->dtoken + packed->tokens[row] * e->width + begin;
            e->team->kernels->add(token, token, dx, end - begin);
            if (!e->dposition)
                continue;
            scalar *position = e->dposition + (row - packed->start[s]) * e->width + begin;
            e->team->kernels->add(position, position, dx, end - begin);
        }
}

void embedding_gradient(const struct embedding *embedding, const scalar *dout, const struct packed *packed)
{
    const struct embedding_work work = {.embedding = embedding, .packed = packed, .dout = dout};
    const struct items columns = {
        embedding->width, COLUMNS, ELEMENT_NANOSECONDS * (double)(packed->rows + embedding->vocabulary)};

    if (embedding->dtoken)
        team_run(embedding->team, columns, gradient_share, &work);
}

void sinusoidal_fill(scalar *table, int64_t context, int64_t width)
{
    for (int64_t c = 0; c < width; c++) {
        double frequency = pow(10000, -(double)(c - c % 2) / (double)width);
        for (int64_t t = 0; t < context; t++) {
            double angle = (double)t * frequency;
            table[t * width + c] = (scalar)(c % 2 ? cos(angle) : sin(angle));
        }
    }
}
