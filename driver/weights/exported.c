/*
 * The home's architecture says which tensors it has, and the table of its family how they are named and
 * stored. Three things that homes do not have are folded into the weights, in double, rounded once: the scale
 * of the sub-layers into what writes to the residual stream; scores without 1 / sqrt(D) into the queries; for
 * GPT-2, keys and values that heads share by repeating them. Tensors that GPT-2 has and the run lacks are
 * zeros, or fixed positions.
 */
#include "driver/weights/exported.h"

#include "model/core/check.h"
#include "model/layers/embedding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)FORM_NAME_SIZE >= (int)FAMILY_NAME_SIZE, "room for every name of a family");

/* The tensor of a home that begins with this one of ours; its other parts are in the next rows. */
struct exported_place {
    const struct family_row *row;
    int64_t layer;
};

/* ---- the list ---- */

static void add(struct exported *exported, const struct family_row *row, int64_t layer)
{
    struct stored_form *form = &exported->form[exported->count];
    int64_t shape[FAMILY_RANK_MOST];

    form->rank = family_shape(row, &exported->architecture, 0, shape);
    INVARIANT(form->rank <= FORM_RANK_MOST, "%s has %d lengths", row->name, (int)form->rank);
    memcpy(form->shape, shape, (size_t)form->rank * sizeof(*shape));
    family_name(exported->family, row, true, layer, form->name);
    exported->place[exported->count++] = (struct exported_place){row, layer};
}

static void add_all(struct exported *exported)
{
    for (int64_t i = 0; i < exported->layout.tensor_count; i++) {
        const struct tensor *tensor = &exported->layout.tensor[i];
        if (tensor->size == 0)
            continue;
        const struct family_row *row =
            family_row(exported->family, &exported->architecture, tensor->kind, tensor->layer);
        INVARIANT(row, "%s has no row of %s", exported->family->title, tensor_table[tensor->kind].name);
        if (row->part == 0)
            add(exported, row, tensor->layer);
    }
}

static int allocate(struct exported *exported)
{
    struct weight_layout *layout = &exported->layout;

    weight_layout_init(layout, &exported->architecture, &exported->arena);
    if (arena_init(&exported->arena, exported->arena.used) < 0)
        return -1;
    weight_layout_init(layout, &exported->architecture, &exported->arena);
    exported->form = calloc((size_t)layout->tensor_count, sizeof(*exported->form));
    exported->place = calloc((size_t)layout->tensor_count, sizeof(*exported->place));
    exported->part = malloc((size_t)layout->largest * sizeof(*exported->part));
    return exported->form && exported->place && exported->part ? 0 : -1;
}

int exported_init(struct exported *exported, const struct saved *saved, enum home home, struct error *error)
{
    *exported = (struct exported){
        .saved = saved,
        .family = home_table[home].family,
        .architecture = home_architecture(home, &saved->architecture),
    };
    if (allocate(exported) < 0) {
        exported_release(exported);
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", saved->path);
    }
    add_all(exported);
    return 0;
}

void exported_release(struct exported *exported)
{
    free(exported->form);
    free(exported->place);
    free(exported->part);
    arena_release(&exported->arena);
    *exported = (struct exported){0};
}

/* ---- elements ---- */

/* The scale of scores over 1 / sqrt(D). */
static double query_factor(const struct architecture *a)
{
    double root = sqrt((double)architecture_depth(a));
    const double factor[] = {[SCORE_SQRT] = 1, [SCORE_NONE] = root, [SCORE_DEPTH] = 1 / root};

    return factor[a->score_scale];
}

/* What is folded into a tensor. */
static double factor_of(const struct exported *exported, enum tensor_kind kind)
{
    const struct architecture *its = &exported->architecture, *run = &exported->saved->architecture;

    switch (kind) {
    case TENSOR_Q:
    case TENSOR_Q_BIAS:
        return query_factor(run) / query_factor(its);
    case TENSOR_FINAL:
    case TENSOR_FINAL_BIAS:
        return run->output_scale != 0 ? run->output_scale : 1;
    case TENSOR_O:
    case TENSOR_O_BIAS:
    case TENSOR_W2:
    case TENSOR_W2_BIAS:
        return run->residual_scale / its->residual_scale;
    default:
        return 1;
    }
}

/* The row of ours that row `row` in the home repeats: each head's own, or that of its group. */
static int64_t source_row(const struct exported *exported, enum tensor_extent extent, int64_t row)
{
    const struct architecture *its = &exported->architecture, *run = &exported->saved->architecture;
    int64_t depth = architecture_depth(run), group = architecture_kv_heads(its) / architecture_kv_heads(run);

    return extent == EXTENT_KEYS ? row / depth / group * depth + row % depth : row;
}

/* Fixed positions in the place of learned ones. */
static int read_positions(const struct exported *exported, struct error *error)
{
    const struct architecture *a = &exported->saved->architecture;
    int64_t count = a->context * a->width;
    scalar *fixed = malloc((size_t)count * sizeof(*fixed));

    if (!fixed)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", exported->saved->path);
    sinusoidal_fill(fixed, a->context, a->width);
    for (int64_t i = 0; i < count; i++)
        exported->part[i] = (double)fixed[i];
    free(fixed);
    return 0;
}

/* Reads a tensor of the run; if the run lacks it, the values that change nothing. */
static int read_part(const struct exported *exported, const struct tensor *tensor, struct error *error)
{
    const struct saved *saved = exported->saved;

    if (saved_has(saved, tensor->kind, tensor->layer))
        return saved_read(saved, tensor->kind, tensor->layer, exported->part, error);
    if (tensor->kind == TENSOR_POSITION && saved->architecture.positions == POSITIONS_SINUSOIDAL)
        return read_positions(exported, error);
    for (int64_t i = 0; i < tensor->size; i++)
        exported->part[i] = 0;
    return 0;
}

/* Copies what was read to its place in the tensor of the home. Elements of a vector count as rows. */
static void put_part(const struct exported *exported, const struct family_row *row,
    const struct tensor *tensor, double *values)
{
    bool vector = tensor_table[row->kind].rows == EXTENT_ONE;
    enum tensor_extent extent = vector ? tensor_table[row->kind].columns : tensor_table[row->kind].rows;
    int64_t rows = vector ? tensor->columns : tensor->rows, columns = tensor->size / rows;
    int64_t first = row->part * rows, all = (row->parts ? row->parts : 1) * rows;
    double factor = factor_of(exported, row->kind);

    for (int64_t i = 0; i < rows; i++) {
        const double *from = exported->part + source_row(exported, extent, i) * columns;
        for (int64_t j = 0; j < columns; j++)
            values[row->form & IN_OUT ? j * all + first + i : (first + i) * columns + j] = factor * from[j];
    }
}

static int fill(void *context, int64_t index, double *values, struct error *error)
{
    const struct exported *exported = context;
    const struct exported_place *place = &exported->place[index];
    const struct family_row *row = place->row;

    do {
        const struct tensor *tensor =
            &exported->layout.tensor[tensor_index(&exported->architecture, row->kind, place->layer)];
        if (read_part(exported, tensor, error) < 0)
            return -1;
        put_part(exported, row, tensor, values);
        row++;
    } while (row->part > 0);
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
