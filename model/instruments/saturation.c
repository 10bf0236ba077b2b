/*
 * Two networks, theta and its saturated one (soft and hard), pass a batch side by side: for each stack, the
 * embedding, then block by block, then the output, and after each of these the states are compared. Only the
 * last states of each network are kept, and with a source only one block's weights are there.
 * saturation_begin, saturation_add for each batch, saturation_end. A head with NaN among its weights gets
 * NaN; reading weights is up to the source, which reports its own failures, and nothing here can fail.
 */
#include "model/instruments/inside.h"

#include <string.h>

/* The bin of a number of positions, which may be a mean. */
static int64_t bin_of(double positions)
{
    int64_t bin = 0;

    for (int64_t most = 1; positions > (double)most; most *= 2)
        bin++;
    return bin;
}

int64_t saturation_bins(int64_t context)
{
    return bin_of((double)context) + 1;
}

static double *take_values(struct arena *arena, int64_t count)
{
    return arena_take(arena, (size_t)count, sizeof(double));
}

/* Which networks are followed: heads alone are those of the saturated one. */
static bool is_wanted(const struct saturation *s, enum compared which)
{
    return s->soft_wanted || (s->heads_wanted && which == COMPARED_SOFT);
}

void saturation_layout(struct saturation *s, const struct architecture *a, int64_t rows, int64_t threads,
    bool states, bool heads, bool shared, struct arena *arena)
{
    *s = (struct saturation){
        .blocks = architecture_blocks(a),
        .stacks = architecture_stacks(a),
        .heads = a->heads,
        .bins = saturation_bins(a->context),
        .soft_wanted = states,
        .heads_wanted = heads,
        .kernels = kernels_best(PRECISION_FLOAT),
    };
    blockwise_layout(&s->model, a, rows, threads, shared, arena);
    for (enum compared which = 0; which < COMPARED_COUNT; which++)
        for (int64_t stack = 0; stack < s->stacks && is_wanted(s, which); stack++)
            s->state[which][stack] = arena_plane(arena, rows, a->width);
    s->soft = take_values(arena, s->blocks + s->stacks);
    s->hard = take_values(arena, s->blocks + s->stacks);
    s->attended = take_values(arena, s->blocks * s->heads);
    s->fraction = take_values(arena, s->blocks * s->heads);
    s->above_one = take_values(arena, s->blocks * s->heads);
    s->histogram = take_values(arena, s->blocks * s->heads * s->bins);
    s->heads_histogram = take_values(arena, s->bins);
    s->count = arena_take(arena, heads ? (size_t)(s->heads * rows) : 0, sizeof(*s->count));
}

static void fill_values(double *values, int64_t count, double value)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
}

static void divide_sums(double *sums, int64_t count, int64_t rows)
{
    for (int64_t i = 0; i < count; i++)
        sums[i] /= (double)rows; /* 0 / 0 = NaN if nothing was added */
}

/* Loads a part of the network if the planes have a source; layer -1: what lies outside the blocks. */
static void load(const struct saturation *s, const struct weight_planes *planes, int64_t layer)
{
    const struct weight_layout *layout = &s->model.layout;

    if (!planes->source)
        return;
    planes->source->load(planes->source->context, layout, layer, planes->weights);
    weights_scale_loaded(layout, layer, planes->scaled, planes->weights, SATURATION_SCALE);
}

void saturation_begin(struct saturation *s, const struct weight_planes *planes)
{
    int64_t heads = s->blocks * s->heads, outputs = s->blocks + s->stacks;

    memset(s->rows, 0, sizeof(s->rows));
    fill_values(s->soft, outputs, s->soft_wanted ? 0 : NAN);
    fill_values(s->hard, outputs, s->soft_wanted ? 0 : NAN);
    fill_values(s->attended, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->fraction, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->above_one, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->histogram, heads * s->bins, s->heads_wanted ? 0 : NAN);
    load(s, planes, -1);
}

/* Where a pass is. */
struct passage {
    const struct weight_planes *planes;
    const struct batch *batch;
    int64_t stack;
    struct stack_form form;
    struct packed side;
};

static const scalar *weights_of(const struct weight_planes *planes, enum compared which)
{
    return which == COMPARED_THETA ? planes->weights : planes->scaled;
}

/* Adds the cosines of theta's state with those of the saturated networks to sum `i` of all. */
static void compare(const struct saturation *s, const struct passage *at, int64_t i)
{
    int64_t width = s->model.architecture.width;

    for (enum compared which = COMPARED_SOFT; s->soft_wanted && which <= COMPARED_HARD; which++) {
        const scalar *theta = s->state[COMPARED_THETA][at->stack], *other = s->state[which][at->stack];
        double *sum = which == COMPARED_SOFT ? &s->soft[i] : &s->hard[i];
        for (int64_t row = 0; row < at->side.rows; row++, theta += width, other += width) {
            struct sums pair = s->kernels->sums(theta, other, width);
            *sum += cosine(pair.product, s->kernels->dot(theta, theta, width), pair.square);
        }
    }
}

static void visit(const struct saturation *s, const struct passage *at, int64_t depth)
{
    if (s->visit && s->soft_wanted)
        s->visit(s->visitor, at->stack, depth, s->state[COMPARED_THETA][at->stack], &at->side);
}

/* Adds the counts of the rows of a side to head number `head` of all blocks. */
static void add_head(struct saturation *s, int64_t head, const int32_t *count, const struct packed *side,
    const struct stack_form *stack)
{
    for (int64_t sequence = 0; sequence < side->sequences; sequence++) {
        int64_t begin = side->start[sequence], end = side->start[sequence + 1];
        for (int64_t row = begin; row < end; row++) {
            double positions = count[row] < 0 ? NAN : count[row];
            int64_t visible = stack->mask == MASK_NONE ? end - begin : row - begin + 1;
            s->attended[head] += positions;
            s->fraction[head] += positions / (double)visible;
            s->above_one[head] += positions > 1;
            s->histogram[head * s->bins + bin_of(positions)]++;
        }
    }
}

static void pass_block(struct saturation *s, const struct passage *at, int64_t layer)
{
    load(s, at->planes, layer);
    for (enum compared which = 0; which < COMPARED_COUNT; which++) {
        if (!is_wanted(s, which))
            continue;
        blockwise_block(&s->model, weights_of(at->planes, which), at->batch, layer, which == COMPARED_HARD,
            at->form.cross ? s->state[which][at->stack - 1] : NULL, s->state[which][at->stack]);
        if (which != COMPARED_SOFT || !s->heads_wanted)
            continue;
        transformer_attended(&s->model, at->batch, layer, &(struct attended){.count = s->count});
        for (int64_t h = 0; h < s->heads; h++)
            add_head(s, layer * s->heads + h, s->count + h * at->side.rows, &at->side, &at->form);
    }
    visit(s, at, layer + 1 - at->form.begin);
    compare(s, at, layer);
}

void saturation_add(struct saturation *s, const struct weight_planes *planes, const struct batch *batch)
{
    for (int64_t stack = 0; stack < s->stacks; stack++) {
        const struct passage at = {planes, batch, stack, architecture_stack(&s->model.architecture, stack),
            transformer_side(&s->model, batch, stack)};
        for (enum compared which = 0; which < COMPARED_COUNT; which++)
            if (is_wanted(s, which))
                blockwise_embed(&s->model, weights_of(planes, which), batch, stack, s->state[which][stack]);
        visit(s, &at, 0);
        for (int64_t layer = at.form.begin; layer < at.form.end; layer++)
            pass_block(s, &at, layer);
        for (enum compared which = 0; which < COMPARED_COUNT; which++)
            if (is_wanted(s, which))
                blockwise_finish(&s->model, weights_of(planes, which), batch, stack, s->state[which][stack]);
        visit(s, &at, -1);
        compare(s, &at, s->blocks + stack);
        s->rows[stack] += at.side.rows;
    }
}

void saturation_end(struct saturation *s)
{
    for (int64_t stack = 0; stack < s->stacks; stack++) {
        const struct stack_form form = architecture_stack(&s->model.architecture, stack);
        int64_t first = form.begin * s->heads, heads = (form.end - form.begin) * s->heads;
        int64_t rows = s->rows[stack];
        divide_sums(s->soft + form.begin, form.end - form.begin, rows);
        divide_sums(s->hard + form.begin, form.end - form.begin, rows);
        divide_sums(s->soft + s->blocks + stack, 1, rows);
        divide_sums(s->hard + s->blocks + stack, 1, rows);
        divide_sums(s->attended + first, heads, rows);
        divide_sums(s->fraction + first, heads, rows);
        divide_sums(s->above_one + first, heads, rows);
        divide_sums(s->histogram + first * s->bins, heads * s->bins, rows);
    }
    fill_values(s->heads_histogram, s->bins, s->heads_wanted && s->rows[0] > 0 ? 0 : NAN);
    for (int64_t head = 0; head < s->blocks * s->heads; head++) {
        if (!isnan(s->attended[head])) {
            s->heads_histogram[bin_of(round(s->attended[head]))]++;
            continue;
        }
        s->above_one[head] = NAN; /* NaN among its weights: shares and bins are NaN, too */
        fill_values(s->histogram + head * s->bins, s->bins, NAN);
    }
}
