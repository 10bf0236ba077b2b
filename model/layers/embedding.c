#include "model/layers/embedding.h"

#include <string.h>

/* The grains of shares. */
enum { ROWS = 16, COLUMNS = 16 };

struct embedding_work {
    const struct embedding *embedding;
    const struct batch *batch;
    scalar *out;
    const scalar *dout;
};

/* Rows [begin, end). */
static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct embedding_work *work = context;
    const struct embedding *e = work->embedding;
    const struct batch *batch = work->batch;
    int64_t s = 0;

    (void)scratch;
    for (int64_t row = begin; row < end; row++) {
        while (row >= batch->start[s + 1])
            s++;
        e->team->kernels->spread(work->out + row * e->width, e->token + batch->tokens[row] * e->width,
            e->position + (row - batch->start[s]) * e->width, 1, e->width);
    }
}

void embedding_forward(const struct embedding *embedding, scalar *out, const struct batch *batch)
{
    const struct embedding_work work = {.embedding = embedding, .batch = batch, .out = out};

    team_run(embedding->team, batch->rows, ROWS, forward_share, &work);
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
    const struct batch *batch = work->batch;

    (void)scratch;
    if (!e->add)
        clear_columns(e->dtoken, e->vocabulary, e->width, begin, end);
    clear_columns(e->dposition, e->context, e->width, begin, end);
    for (int64_t s = 0; s < batch->sequences; s++)
        for (int64_t row = batch->start[s]; row < batch->start[s + 1]; row++) {
            const scalar *dx = work->dout + row * e->width + begin;
            scalar *token = e->dtoken + batch->tokens[row] * e->width + begin;
            scalar *position = e->dposition + (row - batch->start[s]) * e->width + begin;
            e->team->kernels->spread(token, token, dx, 1, end - begin);
            e->team->kernels->spread(position, position, dx, 1, end - begin);
        }
}

void embedding_gradient(const struct embedding *embedding, const scalar *dout, const struct batch *batch)
{
    const struct embedding_work work = {.embedding = embedding, .batch = batch, .dout = dout};

    if (embedding->dtoken)
        team_run(embedding->team, embedding->width, COLUMNS, gradient_share, &work);
}
