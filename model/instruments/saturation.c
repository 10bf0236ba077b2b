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
    int64_t blocks = architecture_blocks(c), places = blocks + architecture_stacks(c);
    size_t kept = states ? (size_t)places * (size_t)rows * (size_t)c->width : 0;

    *s = (struct saturation){
        .layers = blocks,
        .heads = c->heads,
        .bins = saturation_bins(c->context),
        .soft_wanted = states,
        .heads_wanted = heads,
        .kernels = kernels_best(),
        .width = c->width,
        .capacity = rows,
    };
    s->soft = take_values(arena, places);
    s->hard = take_values(arena, places);
    s->attended = take_values(arena, s->layers * s->heads);
    s->fraction = take_values(arena, s->layers * s->heads);
    s->above_one = take_values(arena, s->layers * s->heads);
    s->histogram = take_values(arena, s->layers * s->heads * s->bins);
    s->heads_histogram = take_values(arena, s->bins);
    s->kept = arena_take(arena, kept, sizeof(*s->kept));
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
    int64_t heads = s->layers * s->heads;

    s->rows = 0;
    fill_values(s->soft, s->layers + 1, s->soft_wanted ? 0 : NAN);
    fill_values(s->hard, s->layers + 1, s->soft_wanted ? 0 : NAN);
    fill_values(s->attended, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->fraction, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->above_one, heads, s->heads_wanted ? 0 : NAN);
    fill_values(s->histogram, heads * s->bins, s->heads_wanted ? 0 : NAN);
}

/* The state after a block; for the index after the last block, the input of the output layer. */
static const scalar *state_of(const struct transformer *model, int64_t at)
{
    return at < model->architecture.layers ? transformer_state(model, at + 1) : transformer_final(model);
}

static scalar *kept_at(const struct saturation *s, int64_t at)
{
    return s->kept + at * s->capacity * s->width;
}

static void keep_states(const struct saturation *s, const struct transformer *model, int64_t rows)
{
    for (int64_t at = 0; at <= s->layers; at++)
        memcpy(kept_at(s, at), state_of(model, at), (size_t)(rows * s->width) * sizeof(*s->kept));
}

/* Adds the cosines of the states of the last pass with the kept states. */
static void add_cosines(
    const struct saturation *s, const struct transformer *model, int64_t rows, double *sums)
{
    for (int64_t at = 0; at <= s->layers; at++) {
        const scalar *kept = kept_at(s, at), *now = state_of(model, at);
        for (int64_t row = 0; row < rows; row++, kept += s->width, now += s->width) {
            struct sums pair = s->kernels->sums(kept, now, s->width);
            sums[at] += cosine(pair.product, s->kernels->dot(kept, kept, s->width), pair.square);
        }
    }
}

/* Adds the counts of the batch's rows to head number `head` of all layers. */
static void add_head(struct saturation *s, int64_t head, const int32_t *count, const struct batch *batch)
{
    for (int64_t sequence = 0; sequence < batch->sequences; sequence++)
        for (int64_t row = batch->start[sequence]; row < batch->start[sequence + 1]; row++) {
            double positions = count[row] < 0 ? NAN : count[row];
            s->attended[head] += positions;
            s->fraction[head] += positions / (double)(row - batch->start[sequence] + 1);
            s->above_one[head] += positions > 1;
            s->histogram[head * s->bins + bin_of(positions)]++;
        }
}

static void add_heads(struct saturation *s, struct transformer *model, const struct batch *batch)
{
    for (int64_t layer = 0; layer < s->layers; layer++) {
        transformer_attended(model, batch, layer, s->count);
        for (int64_t h = 0; h < s->heads; h++)
            add_head(s, layer * s->heads + h, s->count + h * batch->rows, batch);
    }
}

void saturation_add(struct saturation *s, struct transformer *model, const scalar *weights,
    const scalar *scaled, const struct batch *batch)
{
    if (s->soft_wanted) {
        transformer_forward(model, weights, batch, false);
        keep_states(s, model, batch->rows);
    }
    transformer_forward(model, scaled, batch, false);
    if (s->heads_wanted)
        add_heads(s, model, batch);
    if (s->soft_wanted) {
        add_cosines(s, model, batch->rows, s->soft);
        transformer_forward(model, scaled, batch, true);
        add_cosines(s, model, batch->rows, s->hard);
    }
    s->rows += batch->rows;
}

/* For a head with NaN among its weights, shares and bins are NaN. */
static void forget_broken(struct saturation *s, int64_t head)
{
    s->above_one[head] = NAN;
    fill_values(s->histogram + head * s->bins, s->bins, NAN);
}

void saturation_end(struct saturation *s)
{
    int64_t heads = s->layers * s->heads;

    divide_sums(s->soft, s->layers + 1, s->rows);
    divide_sums(s->hard, s->layers + 1, s->rows);
    divide_sums(s->attended, heads, s->rows);
    divide_sums(s->fraction, heads, s->rows);
    divide_sums(s->above_one, heads, s->rows);
    divide_sums(s->histogram, heads * s->bins, s->rows);
    fill_values(s->heads_histogram, s->bins, s->heads_wanted && s->rows > 0 ? 0 : NAN);
    for (int64_t head = 0; head < heads; head++) {
        if (isnan(s->attended[head]))
            forget_broken(s, head);
        else
            s->heads_histogram[bin_of(round(s->attended[head]))]++;
    }
}
