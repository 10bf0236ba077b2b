#include "model/instruments/saturation.h"

#include <math.h>
#include <string.h>

#include "model/instruments/cosine.h"
#include "model/kernels/kernels.h"
#include "model/kernels/levels.h"

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

void saturation_layout(struct saturation *s, const struct architecture *architecture, int64_t rows,
    bool states, bool heads, struct arena *arena)
{
    const struct architecture *c = architecture;

    *s = (struct saturation){
        .architecture = *c,
        .blocks = architecture_blocks(c),
        .stacks = architecture_stacks(c),
        .heads = c->heads,
        .bins = saturation_bins(c->context),
        .soft_wanted = states,
        .heads_wanted = heads,
        .kernels = kernels_best(),
        .width = c->width,
        .capacity = rows,
    };
    int64_t outputs = s->blocks + s->stacks, kept = states ? outputs * rows * c->width : 0;
    s->soft = take_values(arena, outputs);
    s->hard = take_values(arena, outputs);
    s->attended = take_values(arena, s->blocks * s->heads);
    s->fraction = take_values(arena, s->blocks * s->heads);
    s->above_one = take_values(arena, s->blocks * s->heads);
    s->histogram = take_values(arena, s->blocks * s->heads * s->bins);
    s->heads_histogram = take_values(arena, s->bins);
    s->kept = arena_take(arena, (size_t)kept, sizeof(*s->kept));
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

void saturation_begin(struct saturation *s)
{
    int64_t heads = s->blocks * s->heads, outputs = s->blocks + s->stacks;

    memset(s->rows, 0, sizeof(s->rows));
    fill_values(s->soft, outputs, s->soft_wanted ? 0 : NAN);
    fill_values(s->hard, outputs, s->soft_wanted ? 0 : NAN);
    fill_values(s->attended, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->fraction, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->above_one, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->histogram, heads * s->bins, s->heads_wanted ? 0 : NAN);
}

/* ---- states ---- */

/* One of the states that are compared: number `at` of all stacks. */
struct compared {
    int64_t at, rows;
    const scalar *state; /* of the last pass */
};

/* The state after block `i` of a stack; behind the last one, the stack's output. */
static struct compared compared_of(const struct saturation *s, const struct transformer *model,
    const struct batch *batch, int64_t stack, int64_t i)
{
    const struct stack_form form = architecture_stack(&s->architecture, stack);
    bool output = i == form.end - form.begin;

    return (struct compared){.at = output ? s->blocks + stack : form.begin + i,
        .rows = transformer_side(model, batch, stack).rows,
        .state = output ? transformer_output(model, stack) : transformer_state(model, stack, i + 1)};
}

typedef void state_function(const struct saturation *s, const struct compared *place, double *sums);

static void each_state(const struct saturation *s, const struct transformer *model, const struct batch *batch,
    state_function *visit, double *sums)
{
    for (int64_t stack = 0; stack < s->stacks; stack++) {
        const struct stack_form form = architecture_stack(&s->architecture, stack);
        for (int64_t i = 0; i <= form.end - form.begin; i++) {
            const struct compared place = compared_of(s, model, batch, stack, i);
            visit(s, &place, sums);
        }
    }
}

static scalar *kept_at(const struct saturation *s, int64_t at)
{
    return s->kept + at * s->capacity * s->width;
}

static void keep_state(const struct saturation *s, const struct compared *place, double *sums)
{
    (void)sums;
    memcpy(kept_at(s, place->at), place->state, (size_t)(place->rows * s->width) * sizeof(*s->kept));
}

/* Adds the cosines of a state with the kept one. */
static void add_cosines(const struct saturation *s, const struct compared *place, double *sums)
{
    const scalar *kept = kept_at(s, place->at), *now = place->state;

    for (int64_t row = 0; row < place->rows; row++, kept += s->width, now += s->width) {
        struct sums pair = s->kernels->sums(kept, now, s->width);
        sums[place->at] += cosine(pair.product, s->kernels->dot(kept, kept, s->width), pair.square);
    }
}

/* ---- heads ---- */

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

static void add_heads(struct saturation *s, struct transformer *model, const struct batch *batch)
{
    for (int64_t layer = 0; layer < s->blocks; layer++) {
        int64_t stack = architecture_stack_of(&s->architecture, layer);
        const struct stack_form form = architecture_stack(&s->architecture, stack);
        const struct packed side = transformer_side(model, batch, stack);
        transformer_attended(model, batch, layer, s->count);
        for (int64_t h = 0; h < s->heads; h++)
            add_head(s, layer * s->heads + h, s->count + h * side.rows, &side, &form);
    }
}

void saturation_add(struct saturation *s, struct transformer *model, const scalar *weights,
    const scalar *scaled, const struct batch *batch)
{
    if (s->soft_wanted) {
        transformer_forward(model, weights, batch, false);
        each_state(s, model, batch, keep_state, NULL);
    }
    transformer_forward(model, scaled, batch, false);
    if (s->heads_wanted)
        add_heads(s, model, batch);
    if (s->soft_wanted) {
        each_state(s, model, batch, add_cosines, s->soft);
        transformer_forward(model, scaled, batch, true);
        each_state(s, model, batch, add_cosines, s->hard);
    }
    for (int64_t stack = 0; stack < s->stacks; stack++)
        s->rows[stack] += transformer_side(model, batch, stack).rows;
}

/* ---- means ---- */

/* For a head with NaN among its weights, shares and bins are NaN. */
static void forget_broken(struct saturation *s, int64_t head)
{
    s->above_one[head] = NAN;
    fill_values(s->histogram + head * s->bins, s->bins, NAN);
}

static void divide_stack(struct saturation *s, int64_t stack)
{
    const struct stack_form form = architecture_stack(&s->architecture, stack);
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

void saturation_end(struct saturation *s)
{
    for (int64_t stack = 0; stack < s->stacks; stack++)
        divide_stack(s, stack);
    fill_values(s->heads_histogram, s->bins, s->heads_wanted && s->rows[0] > 0 ? 0 : NAN);
    for (int64_t head = 0; head < s->blocks * s->heads; head++) {
        if (isnan(s->attended[head]))
            forget_broken(s, head);
        else
            s->heads_histogram[bin_of(round(s->attended[head]))]++;
    }
}
