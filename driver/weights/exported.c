/*
 * A table for each home says which tensors of ours are in each of its own. Four things that homes do not
 * have are folded into the weights, in double, rounded once: the scale of the sub-layers into what writes to
 * the residual stream; scores without 1 / sqrt(D), or with 1 / D, into the queries; the scale of the output
 * matrix's input into the final norm; for GPT-2, keys and values that heads
 * share by repeating them. Tensors that GPT-2 has and the run lacks are zeros, or fixed positions.
 */
#include "driver/weights/exported.h"

#include "model/layers/embedding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS_MOST = 3 };

enum how {
    AS_IT_IS = 0,
    TURNED = 1, /* stored as [in, out] */
    ALWAYS_THERE = 2, /* even if the run has none; others are left out */
};

/* A tensor of a home and those of ours that lie in it, side by side. */
struct exported_row {
    const char *name; /* behind that of the block in blocks */
    unsigned how;
    int parts;
    enum tensor_kind part[PARTS_MOST];
};

struct exported_place {
    const struct exported_row *row;
    int64_t layer;
};

#define ONE(kind)                                                                                            \
    1,                                                                                                       \
    {                                                                                                        \
        TENSOR_##kind                                                                                        \
    }
#define THREE(a, b, c)                                                                                       \
    3,                                                                                                       \
    {                                                                                                        \
        TENSOR_##a, TENSOR_##b, TENSOR_##c                                                                   \
    }

/* clang-format off */
static const struct exported_row gpt2_rows[] = {
    {"transformer.wte.weight", AS_IT_IS, ONE(TOKEN)},
    {"transformer.wpe.weight", ALWAYS_THERE, ONE(POSITION)},
    {"ln_1.weight", AS_IT_IS, ONE(LN1)},
    {"ln_1.bias", ALWAYS_THERE, ONE(LN1_BIAS)},
    {"attn.c_attn.weight", TURNED, THREE(Q, K, V)},
    {"attn.c_attn.bias", ALWAYS_THERE, THREE(Q_BIAS, K_BIAS, V_BIAS)},
    {"attn.c_proj.weight", TURNED, ONE(O)},
    {"attn.c_proj.bias", ALWAYS_THERE, ONE(O_BIAS)},
    {"ln_2.weight", AS_IT_IS, ONE(LN2)},
    {"ln_2.bias", ALWAYS_THERE, ONE(LN2_BIAS)},
    {"mlp.c_fc.weight", TURNED, ONE(W1)},
    {"mlp.c_fc.bias", ALWAYS_THERE, ONE(W1_BIAS)},
    {"mlp.c_proj.weight", TURNED, ONE(W2)},
    {"mlp.c_proj.bias", ALWAYS_THERE, ONE(W2_BIAS)},
    {"transformer.ln_f.weight", AS_IT_IS, ONE(FINAL)},
    {"transformer.ln_f.bias", ALWAYS_THERE, ONE(FINAL_BIAS)},
    {"lm_head.weight", AS_IT_IS, ONE(OUTPUT)},
};

static const struct exported_row llama_rows[] = {
    {"model.embed_tokens.weight", AS_IT_IS, ONE(TOKEN)},
    {"input_layernorm.weight", AS_IT_IS, ONE(LN1)},
    {"self_attn.q_proj.weight", AS_IT_IS, ONE(Q)},
    {"self_attn.q_proj.bias", AS_IT_IS, ONE(Q_BIAS)},
    {"self_attn.k_proj.weight", AS_IT_IS, ONE(K)},
    {"self_attn.k_proj.bias", AS_IT_IS, ONE(K_BIAS)},
    {"self_attn.v_proj.weight", AS_IT_IS, ONE(V)},
    {"self_attn.v_proj.bias", AS_IT_IS, ONE(V_BIAS)},
    {"self_attn.o_proj.weight", AS_IT_IS, ONE(O)},
    {"self_attn.o_proj.bias", AS_IT_IS, ONE(O_BIAS)},
    {"post_attention_layernorm.weight", AS_IT_IS, ONE(LN2)},
    {"mlp.gate_proj.weight", AS_IT_IS, ONE(W1)},
    {"mlp.gate_proj.bias", AS_IT_IS, ONE(W1_BIAS)},
    {"mlp.up_proj.weight", AS_IT_IS, ONE(W3)},
    {"mlp.up_proj.bias", AS_IT_IS, ONE(W3_BIAS)},
    {"mlp.down_proj.weight", AS_IT_IS, ONE(W2)},
    {"mlp.down_proj.bias", AS_IT_IS, ONE(W2_BIAS)},
    {"model.norm.weight", AS_IT_IS, ONE(FINAL)},
    {"lm_head.weight", AS_IT_IS, ONE(OUTPUT)},
};
/* clang-format on */

#define ROWS(rows) (rows), sizeof(rows) / sizeof(*(rows))

static const struct {
    const char *block; /* the beginning of names in blocks, which have a number behind it */
    bool shares; /* heads may share keys and values */
    const struct exported_row *row;
    size_t count;
} tensors[HOME_COUNT] = {
    [HOME_GPT2] = {"transformer.h.", false, ROWS(gpt2_rows)},
    [HOME_LLAMA] = {"model.layers.", true, ROWS(llama_rows)},
};

/* ---- a tensor of ours ---- */

static bool is_vector(enum tensor_kind kind)
{
    return tensor_table[kind].rows == EXTENT_ONE;
}

/* Are its rows those of keys or values, of which the home has as many as of queries? */
static bool is_repeated(const struct exported *exported, enum tensor_kind kind)
{
    enum tensor_extent extent = is_vector(kind) ? tensor_table[kind].columns : tensor_table[kind].rows;

    return extent == EXTENT_KEYS && !tensors[exported->home].shares;
}

/* The rows of a tensor in its home; elements of a vector count as rows. */
static int64_t rows_of(const struct exported *exported, enum tensor_kind kind)
{
    const struct architecture *a = &exported->saved->architecture;

    if (is_repeated(exported, kind))
        return extent_length(a, EXTENT_QUERIES);
    return extent_length(a, is_vector(kind) ? tensor_table[kind].columns : tensor_table[kind].rows);
}

static int64_t columns_of(const struct exported *exported, enum tensor_kind kind)
{
    return is_vector(kind) ? 1 : extent_length(&exported->saved->architecture, tensor_table[kind].columns);
}

/* The row of ours that row `row` in the home repeats: each head's own, or that of its group. */
static int64_t source_row(const struct exported *exported, enum tensor_kind kind, int64_t row)
{
    const struct architecture *a = &exported->saved->architecture;
    int64_t depth = architecture_depth(a), group = a->heads / architecture_kv_heads(a);

    return is_repeated(exported, kind) ? row / depth / group * depth + row % depth : row;
}

/* The scale of scores over 1 / sqrt(D). */
static double query_factor(const struct architecture *a)
{
    double root = sqrt((double)architecture_depth(a));
    const double factor[] = {[SCORE_SQRT] = 1, [SCORE_NONE] = root, [SCORE_DEPTH] = 1 / root};

    return factor[a->score_scale];
}

/* What is folded into a tensor. */
static double factor_of(const struct architecture *a, enum tensor_kind kind)
{
    switch (kind) {
    case TENSOR_Q:
    case TENSOR_Q_BIAS:
        return query_factor(a);
    case TENSOR_FINAL:
    case TENSOR_FINAL_BIAS:
        return a->output_scale != 0 ? a->output_scale : 1;
    case TENSOR_O:
    case TENSOR_O_BIAS:
    case TENSOR_W2:
    case TENSOR_W2_BIAS:
        return a->residual_scale;
    default:
        return 1;
    }
}

/* ---- the list ---- */

static bool is_in_block(const struct exported_row *row)
{
    return tensor_table[row->part[0]].part == PART_LAYER;
}

static bool is_there(const struct exported *exported, const struct exported_row *row)
{
    return row->how & ALWAYS_THERE || saved_has(exported->saved, row->part[0], 0);
}

static void add(struct exported *exported, const struct exported_row *row, int64_t layer)
{
    struct stored_form *form = &exported->form[exported->count];
    int64_t rows = 0, columns = columns_of(exported, row->part[0]);

    for (int i = 0; i < row->parts; i++)
        rows += rows_of(exported, row->part[i]);
    form->rank = is_vector(row->part[0]) ? 1 : 2;
    form->shape[0] = row->how & TURNED ? columns : rows;
    form->shape[1] = row->how & TURNED ? rows : columns;
    if (is_in_block(row))
        snprintf(form->name, sizeof(form->name), "%s%" PRId64 ".%s", tensors[exported->home].block, layer,
            row->name);
    else
        snprintf(form->name, sizeof(form->name), "%s", row->name);
    exported->place[exported->count++] = (struct exported_place){row, layer};
}

/* Adds the rows of the table from `begin` on that are in the same blocks; returns where they end. */
static size_t add_rows(struct exported *exported, size_t begin)
{
    const struct exported_row *row = tensors[exported->home].row;
    bool in_block = is_in_block(&row[begin]);
    int64_t layers = in_block ? exported->saved->architecture.layers : 1;
    size_t end = begin;

    while (end < tensors[exported->home].count && is_in_block(&row[end]) == in_block)
        end++;
    for (int64_t layer = 0; layer < layers; layer++)
        for (size_t i = begin; i < end; i++)
            if (is_there(exported, &row[i]))
                add(exported, &row[i], layer);
    return end;
}

int exported_init(struct exported *exported, const struct saved *saved, enum home home, struct error *error)
{
    size_t most = tensors[home].count * (size_t)saved->architecture.layers, next = 0;

    *exported = (struct exported){.saved = saved, .home = home};
    exported->form = calloc(most, sizeof(*exported->form));
    exported->place = calloc(most, sizeof(*exported->place));
    exported->part = malloc((size_t)saved->layout.largest * sizeof(*exported->part));
    if (!exported->form || !exported->place || !exported->part) {
        exported_release(exported);
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", saved->path);
    }
    while (next < tensors[home].count)
        next = add_rows(exported, next);
    return 0;
}

void exported_release(struct exported *exported)
{
    free(exported->form);
    free(exported->place);
    free(exported->part);
    *exported = (struct exported){0};
}

/* ---- elements ---- */

/* Fixed positions in the place of learned ones. */
static int fill_positions(const struct exported *exported, double *values, struct error *error)
{
    const struct architecture *a = &exported->saved->architecture;
    int64_t count = a->context * a->width;
    scalar *fixed = malloc((size_t)count * sizeof(*fixed));

    if (!fixed)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", exported->saved->path);
    sinusoidal_fill(fixed, a->context, a->width);
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)fixed[i];
    free(fixed);
    return 0;
}

/* What the run lacks: fixed positions, or zeros. */
static int fill_absent(const struct exported *exported, int64_t index, double *values, struct error *error)
{
    int64_t count = stored_form_size(&exported->form[index]);

    if (exported->place[index].row->part[0] == TENSOR_POSITION &&
        exported->saved->architecture.positions == POSITIONS_SINUSOIDAL)
        return fill_positions(exported, values, error);
    for (int64_t i = 0; i < count; i++)
        values[i] = 0;
    return 0;
}

/* Copies a tensor of ours to its place: from row `first` on of `all`, which are columns if it is turned. */
static void put_part(const struct exported *exported, const struct exported_row *row, enum tensor_kind kind,
    int64_t first, int64_t all, double *values)
{
    int64_t rows = rows_of(exported, kind), columns = columns_of(exported, kind);
    double factor = factor_of(&exported->saved->architecture, kind);

    for (int64_t i = 0; i < rows; i++) {
        const double *from = exported->part + source_row(exported, kind, i) * columns;
        for (int64_t j = 0; j < columns; j++)
            values[row->how & TURNED ? j * all + first + i : (first + i) * columns + j] = factor * from[j];
    }
}

static int fill(void *context, int64_t index, double *values, struct error *error)
{
    const struct exported *exported = context;
    const struct exported_place *place = &exported->place[index];
    const struct exported_row *row = place->row;
    int64_t first = 0, all = exported->form[index].shape[row->how & TURNED ? 1 : 0];

    if (!saved_has(exported->saved, row->part[0], place->layer))
        return fill_absent(exported, index, values, error);
    for (int i = 0; i < row->parts; i++) {
        enum tensor_kind kind = row->part[i];
        if (saved_read(exported->saved, kind, place->layer, exported->part, error) < 0)
            return -1;
        put_part(exported, row, kind, first, all, values);
        first += rows_of(exported, kind);
    }
    return 0;
}

struct stored_content exported_content(struct exported *exported)
{
    return (struct stored_content){
        .is_double = exported->saved->is_double,
        .count = exported->count,
        .tensor = exported->form,
        .fill = fill,
        .context = exported,
    };
}
