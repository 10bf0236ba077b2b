/* Rotary positions: pairs of columns are turned by an angle that grows with the position. */
#include "model/layers/layers.h"

#include <math.h>

#include "model/core/check.h"

static double scaled(double frequency, const struct rotary_scaling *scaling)
{
    double turns = scaling->context * frequency / (2 * M_PI), kept;

    if (scaling->factor == 0)
        return frequency;
    if (scaling->high == 0)
        return frequency / scaling->factor;
    kept = (turns - scaling->low) / (scaling->high - scaling->low);
    kept = kept < 0 ? 0 : kept > 1 ? 1 : kept;
    return (1 - kept) * frequency / scaling->factor + kept * frequency;
}

void rotary_fill(scalar *cosine, scalar *sine, int64_t context, int64_t depth, double base,
    const struct rotary_scaling *scaling)
{
    int64_t half = depth / 2;

    for (int64_t i = 0; i < half; i++) {
        double frequency = scaled(pow(base, -2 * (double)i / (double)depth), scaling);
        for (int64_t t = 0; t < context; t++) {
            double angle = (double)t * frequency;
            cosine[t * half + i] = (scalar)cos(angle);
            sine[t * half + i] = (scalar)sin(angle);
        }
    }
}

struct rotary_work {
    const struct rotary *rotary;
    scalar *x;
    int64_t stride, heads;
    const int64_t *start;
    bool back;
};

/* Rows [begin, end), sequence by sequence. */
static void turn_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct rotary_work *work = context;
    const struct rotary *rotary = work->rotary;
    int64_t half = rotary->depth / 2, s = 0;

    (void)scratch;
    while (begin < end) {
        while (begin >= work->start[s + 1])
            s++;
        int64_t position = begin - work->start[s], next = work->start[s + 1] < end ? work->start[s + 1] : end;
        rotary->team->kernels->rotary(work->x + begin * work->stride, work->stride,
            rotary->cosine + position * half, rotary->sine + position * half, next - begin, work->heads, half,
            work->back);
        begin = next;
    }
}

void rotary_turn(const struct rotary *rotary, scalar *x, int64_t stride, int64_t heads, int64_t sequences,
    const int64_t *start, bool back)
{
    const struct rotary_work work = {rotary, x, stride, heads, start, back};
    const struct items rows = {start[sequences], 1, ELEMENT_NANOSECONDS * (double)(heads * rotary->depth)};

    INVARIANT(rotary->depth % 2 == 0, "depth %d", (int)rotary->depth);
    team_run(rotary->team, rows, turn_share, &work);
}
