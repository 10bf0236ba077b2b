/*
 * What the heads of a network attend to, and how large its residual stream is, over the batches of a text:
 * attending_begin, attending_add after each batch's forward pass, attending_end. Reads the states that the
 * pass has left in the model. Sequences are told apart, so that results do not depend on how batches pack
 * them. NaN in a head's weights or in a state gives NaN; nothing can fail.
 */
#include "model/instruments/inside.h"

#include <string.h>

void attending_layout(
    struct attending *a, const struct architecture *architecture, int64_t rows, struct arena *arena)
{
    size_t blocks = (size_t)architecture_blocks(architecture),
           stacks = (size_t)architecture_stacks(architecture);
    size_t heads = blocks * (size_t)architecture->heads;

    *a = (struct attending){.blocks = (int64_t)blocks,
        .stacks = (int64_t)stacks,
        .heads = architecture->heads,
        .max_logit = arena_take(arena, heads, sizeof(double)),
        .entropy = arena_take(arena, heads, sizeof(double)),
        .first = arena_take(arena, heads, sizeof(double)),
        .rms = arena_take(arena, blocks + stacks, sizeof(double)),
        .largest = arena_take(arena, blocks + stacks, sizeof(double)),
        .of = {.largest = arena_plane(arena, architecture->heads, rows),
            .sum = arena_plane(arena, architecture->heads, rows),
            .product = arena_plane(arena, architecture->heads, rows),
            .first = arena_plane(arena, architecture->heads, rows)}};
}

void attending_begin(struct attending *a)
{
    memset(a->rows, 0, sizeof(a->rows));
    a->sequences = 0;
    for (int64_t head = 0; head < a->blocks * a->heads; head++) {
        a->max_logit[head] = -INFINITY;
        a->entropy[head] = a->first[head] = 0;
    }
    for (int64_t depth = 0; depth < a->blocks + a->stacks; depth++)
        a->rms[depth] = a->largest[depth] = 0;
}

/* Adds the rows of a side to head number `head` of all blocks; `at` of a->of has its first row. */
static void add_head(struct attending *a, int64_t head, int64_t at, const struct packed *side)
{
    for (int64_t sequence = 0; sequence < side->sequences; sequence++)
        for (int64_t row = side->start[sequence]; row < side->start[sequence + 1]; row++) {
            double sum = (double)a->of.sum[at + row], largest = (double)a->of.largest[at + row];
            if (isnan(sum) || largest > a->max_logit[head]) /* NaN stays, as nothing is larger */
                a->max_logit[head] = isnan(sum) ? NAN : largest;
            if (row == side->start[sequence])
                continue;
            a->entropy[head] += log(sum) - (double)a->of.product[at + row] / sum;
            a->first[head] += (double)a->of.first[at + row] / sum;
        }
}

/* |x| as a number of bits, in the order of the magnitudes. */
#ifdef SCALAR_DOUBLE
typedef uint64_t magnitude;
#else
typedef uint32_t magnitude;
#endif

/* The magnitude of this rank among x [count], 0 for the least: byte by byte of its bits, without sorting. */
static double magnitude_at(const scalar *x, int64_t count, int64_t rank)
{
    enum { BITS = 8, VALUES = 1 << BITS };
    magnitude found = 0, known = 0;
    scalar value;

    for (int shift = 8 * (int)sizeof(found) - BITS; shift >= 0; shift -= BITS) {
        int64_t times[VALUES] = {0}, digit = 0;
        for (int64_t i = 0; i < count; i++) {
            magnitude bits;
            memcpy(&bits, &x[i], sizeof(bits));
            bits &= (magnitude)-1 >> 1;
            if ((bits & known) == found)
                times[bits >> shift & (VALUES - 1)]++;
        }
        while (rank >= times[digit])
            rank -= times[digit++];
        found |= (magnitude)digit << shift;
        known |= (magnitude)(VALUES - 1) << shift;
    }
    memcpy(&value, &found, sizeof(value));
    return (double)value;
}

/* The largest of |x| [count] over their median, the mean of two if count is even; NaN if that is 0. */
static double largest_over_median(const scalar *x, int64_t count)
{
    double low = magnitude_at(x, count, (count - 1) / 2), above = INFINITY, largest = 0;
    int64_t within = 0;

    for (int64_t i = 0; i < count; i++) {
        double size = fabs((double)x[i]);
        largest = size > largest ? size : largest;
        within += size <= low;
        above = size > low && size < above ? size : above;
    }
    double median = within > count / 2 ? low : (low + above) / 2;
    return median > 0 ? largest / median : NAN;
}

static void add_state(
    struct attending *a, int64_t depth, const scalar *state, int64_t width, const struct packed *side)
{
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);

    for (int64_t sequence = 0; sequence < side->sequences; sequence++) {
        const scalar *x = state + side->start[sequence] * width;
        int64_t count = (side->start[sequence + 1] - side->start[sequence]) * width;
        double square = kernels->dot(x, x, count);
        a->rms[depth] += square;
        a->largest[depth] += isnan(square) ? NAN : largest_over_median(x, count);
    }
}

void attending_add(struct attending *a, struct transformer *model, const struct batch *batch)
{
    for (int64_t stack = 0; stack < a->stacks; stack++) {
        const struct stack_form form = architecture_stack(&model->architecture, stack);
        const struct packed side = transformer_side(model, batch, stack);
        for (int64_t layer = form.begin; layer < form.end; layer++) {
            transformer_attended(model, batch, layer, &a->of);
            for (int64_t h = 0; h < a->heads; h++)
                add_head(a, layer * a->heads + h, h * side.rows, &side);
        }
        for (int64_t depth = 0; depth <= form.end - form.begin; depth++)
            add_state(a, form.begin + stack + depth, transformer_state(model, stack, depth),
                model->architecture.width, &side);
        a->rows[stack] += side.rows;
    }
    a->sequences += batch->sequences;
}

void attending_end(struct attending *a, const struct architecture *architecture)
{
    for (int64_t stack = 0; stack < a->stacks; stack++) {
        const struct stack_form form = architecture_stack(architecture, stack);
        double sinks = 0, rows = (double)a->rows[stack], behind = (double)(a->rows[stack] - a->sequences);
        for (int64_t head = form.begin * a->heads; head < form.end * a->heads; head++) {
            if (rows == 0)
                a->max_logit[head] = NAN;
            a->entropy[head] /= behind; /* 0 / 0 = NaN if all sequences have one token, or there are none */
            a->first[head] /= behind;
            sinks += isnan(a->first[head]) ? NAN : a->first[head] > ATTENDING_SINK;
        }
        for (int64_t depth = form.begin + stack; depth <= form.end + stack; depth++) {
            a->rms[depth] = sqrt(a->rms[depth] / (rows * (double)architecture->width));
            a->largest[depth] /= (double)a->sequences;
        }
        a->sink_share[stack] = sinks / (double)((form.end - form.begin) * a->heads);
    }
}
