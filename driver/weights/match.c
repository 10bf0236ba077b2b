/* Names, types and shapes of all tensors are checked before any of them is read. */
#include "driver/weights/match.h"

#include "driver/text/place.h"
#include "driver/weights/convert.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_TEXT = 64, PIECE = 512 };

/* ---- one tensor ---- */

/* Replaces the end of a name. */
static bool replace_end(char name[FAMILY_NAME_SIZE], const char *end, const char *by)
{
    size_t length = strlen(name), cut = strlen(end);

    if (length < cut || strcmp(name + length - cut, end) != 0)
        return false;
    snprintf(name + length - cut, FAMILY_NAME_SIZE - (length - cut), "%s", by);
    return true;
}

/* The tensor of a row; files of the first years call a norm's tensors gamma and beta. Fills in the name. */
static const struct stored_tensor *find_row(
    const struct matches *matches, const struct family_row *row, int64_t block, char name[FAMILY_NAME_SIZE])
{
    const struct safetensors *all = &matches->shards.all;
    enum tensor_role role = tensor_table[row->kind].role;
    char older[FAMILY_NAME_SIZE];

    family_name(matches->family, row, matches->prefixed, block, name);
    const struct stored_tensor *stored = safetensors_find(all, name);
    if (stored || (role != ROLE_GAIN && role != ROLE_SHIFT))
        return stored;
    memcpy(older, name, sizeof(older));
    if (!replace_end(older, ".weight", ".gamma") && !replace_end(older, ".bias", ".beta"))
        return NULL;
    return safetensors_find(all, older);
}

/* The same, where the tensor must be there. */
static const struct stored_tensor *need_row(
    const struct matches *matches, const struct family_row *row, int64_t block, struct error *error)
{
    char name[FAMILY_NAME_SIZE];
    const struct stored_tensor *stored = find_row(matches, row, block, name);

    if (!stored && matches->prefixed && row->form & OUTSIDE)
        error_set(error, ERROR_INPUT,
            "%s is missing; if the network has another output, save its base_model alone", name);
    else if (!stored)
        error_set(error, ERROR_INPUT, "%s is missing; expected the tensors of %s as Hugging Face names them",
            name, matches->family->title);
    return stored;
}

static int check_type(const struct stored_tensor *stored, struct error *error)
{
    char excerpt[EXCERPT_SIZE];

    if (stored->type < STORED_READ_COUNT)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: dtype %s is not supported; use F32, F16, BF16 or F64",
        place_excerpt(stored->name, excerpt), stored_type_name(stored->type));
}

/* "[64, 192]" */
static const char *format_shape(char text[SHAPE_TEXT], int64_t rank, const int64_t *shape)
{
    size_t used = (size_t)snprintf(text, SHAPE_TEXT, "[");

    for (int64_t i = 0; i < rank && used < SHAPE_TEXT; i++)
        used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%" PRId64, i ? ", " : "", shape[i]);
    if (used < SHAPE_TEXT)
        snprintf(text + used, SHAPE_TEXT - used, "]");
    return text;
}

static int check_shape(
    const struct stored_tensor *stored, int64_t rank, const int64_t *shape, struct error *error)
{
    char there[SHAPE_TEXT], wanted[SHAPE_TEXT], excerpt[EXCERPT_SIZE];

    if (stored->rank == rank && memcmp(stored->shape, shape, (size_t)rank * sizeof(*shape)) == 0)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: shape %s, not %s", place_excerpt(stored->name, excerpt),
        format_shape(there, stored->rank, stored->shape), format_shape(wanted, rank, shape));
}

/* Of several files, names the one that holds the tensor of a message. Returns -1. */
static int name_file(const struct matches *matches, const struct stored_tensor *stored, struct error *error)
{
    const char *path = shards_path(&matches->shards, stored), *slash = strrchr(path, '/');

    return matches->shards.count > 1 ? error_prefix(error, "%s", slash ? slash + 1 : path) : -1;
}

/* Checks a tensor against what a row asks for. */
static int check_row(const struct matches *matches, const struct architecture *architecture,
    const struct family_row *row, const struct stored_tensor *stored, struct error *error)
{
    int64_t shape[FAMILY_RANK_MOST], rank = family_shape(row, architecture, matches->padding, shape);

    if (check_type(stored, error) == 0 && check_shape(stored, rank, shape, error) == 0)
        return 0;
    return name_file(matches, stored, error);
}

/* ---- before the architecture is known ---- */

/* The token embedding; fills in the name. NULL: it is not in the files. */
static const struct stored_tensor *find_embedding(const struct matches *matches, char name[FAMILY_NAME_SIZE])
{
    const struct architecture none = {.width = 1, .heads = 1, .layers = 1};

    return find_row(matches, family_row(matches->family, &none, TENSOR_TOKEN, -1), -1, name);
}

void matches_begin(struct matches *matches, const struct family *family)
{
    char name[FAMILY_NAME_SIZE];

    matches->family = family;
    matches->prefixed = true;
    matches->prefixed = *family->prefix && find_embedding(matches, name);
}

int matches_unconfigured(const struct matches *matches, struct error *error)
{
    char name[FAMILY_NAME_SIZE];

    if (find_embedding(matches, name))
        return 0;
    return error_set(error, ERROR_INPUT,
        "no config.json beside it; without one only a %s is read, and %s is missing", matches->family->title,
        name);
}

const struct stored_tensor *matches_find(
    const struct matches *matches, const struct architecture *architecture, enum tensor_kind kind)
{
    const struct family_row *row = family_row(matches->family, architecture, kind, -1);
    char name[FAMILY_NAME_SIZE];

    return row ? find_row(matches, row, -1, name) : NULL;
}

/* Reads the lengths [out, in] of a matrix that must be there. */
static int read_matrix(const struct matches *matches, enum tensor_kind kind, int64_t *rows, int64_t *columns,
    struct error *error)
{
    const struct architecture one = {.width = 1, .heads = 1, .layers = 1};
    int64_t layer = tensor_table[kind].part == PART_LAYER ? 0 : -1;
    int64_t most = kind == TENSOR_TOKEN ? INT32_MAX : SIZE_MOST;
    const struct family_row *row = family_row(matches->family, &one, kind, layer);
    const struct stored_tensor *stored = need_row(matches, row, layer, error);
    char shape[SHAPE_TEXT];

    if (!stored)
        return -1;
    if (check_type(stored, error) < 0)
        return -1;
    if (stored->rank != 2 || stored->count == 0 || stored->shape[0] > most || stored->shape[1] > SIZE_MOST)
        return error_set(error, ERROR_INPUT, "%s: shape %s is not that of a matrix of %s", stored->name,
            format_shape(shape, stored->rank, stored->shape), matches->family->title);
    *rows = stored->shape[row->form & IN_OUT ? 1 : 0];
    *columns = stored->shape[row->form & IN_OUT ? 0 : 1];
    return 0;
}

int matches_sizes(const struct matches *matches, struct architecture *a, struct error *error)
{
    const struct safetensors *all = &matches->shards.all;
    int64_t width;

    if (read_matrix(matches, TENSOR_TOKEN, &a->vocabulary, &a->width, error) < 0 ||
        read_matrix(matches, TENSOR_POSITION, &a->context, &width, error) < 0 ||
        read_matrix(matches, TENSOR_W1, &a->feedforward, &width, error) < 0)
        return -1;
    a->layers = 1;
    for (int64_t i = 0; i < all->count; i++) {
        int64_t blocks = family_blocks(matches->family, all->tensor[i].name, matches->prefixed);
        a->layers = blocks > a->layers ? blocks : a->layers;
    }
    return 0;
}

/* ---- copies ---- */

static bool same_elements(const struct stored_tensor *a, const struct stored_tensor *b)
{
    scalar left[PIECE], right[PIECE];

    if (a->type == b->type && memcmp(a->bytes, b->bytes, (size_t)(a->end - a->begin)) == 0)
        return true;
    for (int64_t first = 0; first < a->count; first += PIECE) {
        int64_t count = a->count - first < PIECE ? a->count - first : PIECE;
        convert(a, first, count, left);
        convert(b, first, count, right);
        for (int64_t i = 0; i < count; i++)
            if (!(left[i] == right[i]))
                return false;
    }
    return true;
}

int matches_equal(const struct matches *matches, const struct architecture *architecture,
    enum tensor_kind kind, const struct stored_tensor *stored, bool *equal, struct error *error)
{
    const struct family_row *row = family_row(matches->family, architecture, kind, -1);
    const struct stored_tensor *other = need_row(matches, row, -1, error);

    if (!other || check_row(matches, architecture, row, other, error) < 0 || check_type(stored, error) < 0 ||
        check_shape(stored, other->rank, other->shape, error) < 0)
        return -1;
    *equal = same_elements(stored, other);
    return 0;
}

/* ---- all tensors ---- */

static int match_tensor(struct matches *matches, const struct architecture *architecture,
    const struct tensor *tensor, struct match *match, struct error *error)
{
    int64_t stack = tensor->layer < 0 ? 0 : architecture_stack_of(architecture, tensor->layer);
    int64_t block = tensor->layer - (tensor->layer < 0 ? 0 : architecture_stack(architecture, stack).begin);

    match->row = family_row(matches->family, architecture, tensor->kind, tensor->layer);
    INVARIANT(match->row, "%s has no row of %s", matches->family->title, tensor_table[tensor->kind].name);
    match->stored = need_row(matches, match->row, block, error);
    return match->stored ? check_row(matches, architecture, match->row, match->stored, error) : -1;
}

static int match_all(struct matches *matches, const struct architecture *architecture,
    const struct weight_layout *layout, struct error *error)
{
    matches->match = calloc((size_t)layout->tensor_count, sizeof(*matches->match));
    if (!matches->match)
        return error_set(error, ERROR_ENVIRONMENT, "no memory");
    matches->count = layout->tensor_count;
    for (int64_t i = 0; i < layout->tensor_count; i++)
        if (layout->tensor[i].size > 0 &&
            match_tensor(matches, architecture, &layout->tensor[i], &matches->match[i], error) < 0)
            return -1;
    return 0;
}

/* Does a tensor belong to the layers that a task puts behind the base model, such as a classifier? */
static bool is_outside(const struct matches *matches, const struct stored_tensor *stored)
{
    const char *prefix = matches->family->prefix;

    return matches->prefixed && strncmp(stored->name, prefix, strlen(prefix)) != 0;
}

/* A tensor that does not belong to the model: a copy, or one that need not be read. */
static int check_other(const struct matches *matches, const struct architecture *architecture,
    const struct stored_tensor *stored, struct error *error)
{
    const struct family_other *other = family_other(matches->family, stored->name, matches->prefixed);
    char excerpt[EXCERPT_SIZE];
    bool equal = true;

    place_excerpt(stored->name, excerpt);
    int64_t block,
        blocks = family_row_block(matches->family, architecture, stored->name, matches->prefixed, &block);
    if (!other && blocks > 0 && block >= blocks)
        return error_set(error, ERROR_INPUT,
            "%s: block %" PRId64 ", but config.json has %" PRId64 " layer%s, from 0 on", excerpt, block,
            blocks, blocks > 1 ? "s" : "");
    if (!other && is_outside(matches, stored))
        return error_set(error, ERROR_INPUT,
            "%s: not a part of %s or of its output; save the base_model alone", excerpt,
            matches->family->title);
    if (!other)
        return error_set(error, ERROR_INPUT, "%s: %s has no such tensor", excerpt, matches->family->title);
    if (other->copy && matches_find(matches, architecture, other->of) &&
        matches_equal(matches, architecture, other->of, stored, &equal, error) < 0)
        return -1;
    if (equal)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: not a copy of %s, which it has to be", excerpt,
        matches_find(matches, architecture, other->of)->name);
}

static int check_others(
    const struct matches *matches, const struct architecture *architecture, struct error *error)
{
    const struct safetensors *all = &matches->shards.all;
    const struct stored_tensor *output = matches_find(matches, architecture, TENSOR_OUTPUT);
    bool *known = calloc((size_t)all->count + 1, sizeof(*known));
    int status = 0;

    if (!known)
        return error_set(error, ERROR_ENVIRONMENT, "no memory");
    for (int64_t i = 0; i < matches->count; i++)
        if (matches->match[i].stored)
            known[matches->match[i].stored - all->tensor] = true;
    if (output) /* tied: it has been compared with the embedding */
        known[output - all->tensor] = true;
    for (int64_t i = 0; status == 0 && i < all->count; i++)
        if (!known[i])
            status = check_other(matches, architecture, &all->tensor[i], error) < 0
                         ? name_file(matches, &all->tensor[i], error)
                         : 0;
    free(known);
    return status;
}

int matches_fill(struct matches *matches, const struct architecture *architecture, struct error *error)
{
    struct weight_layout layout;
    struct arena arena = {0};

    weight_layout_init(&layout, architecture, &arena);
    if (arena_init(&arena, arena.used) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "no memory");
    weight_layout_init(&layout, architecture, &arena);
    int status = match_all(matches, architecture, &layout, error);
    arena_release(&arena);
    return status < 0 ? -1 : check_others(matches, architecture, error);
}
