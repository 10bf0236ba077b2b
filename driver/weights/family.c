/* The families, and what is done with the rows of their tables. */
#include "driver/weights/family.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/weights/bert.h"
#include "driver/weights/gpt2.h"
#include "driver/weights/llama.h"
#include "driver/weights/t5.h"
#include "driver/weights/xlnet.h"

static const struct family *const families[] = {
    &family_gpt2,
    &family_llama,
    &family_mistral,
    &family_qwen2,
    &family_olmo2,
    &family_bert,
    &family_roberta,
    &family_t5,
    &family_xlnet,
};

enum { FAMILIES = sizeof(families) / sizeof(*families) };

const struct family *family_find(const char *model_type)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(families[i]->model_type, model_type) == 0)
            return families[i];
    return NULL;
}

void family_words(char text[CONFIG_WORDS_SIZE])
{
    text[0] = '\0';
    for (size_t i = 0; i < FAMILIES; i++)
        config_add_word(text, families[i]->model_type, i, FAMILIES);
}

void family_read(const struct family *family, struct config *config, struct properties *properties)
{
    config_fields(config, family->key, &properties->architecture);
    properties->tied = config_true(config, CONFIG_TIED, family->tied);
    properties->surely_tied = properties->tied && (family->surely_tied || config_has(config, CONFIG_TIED));
    if (family->read)
        family->read(config, properties);
}

static bool is_of(const struct family_row *row, const struct architecture *a, int64_t layer)
{
    bool decoder = layer >= 0 && architecture_stack_of(a, layer) > 0;

    if (row->form & (a->gated ? IF_NOT_GATED : IF_GATED))
        return false;
    return tensor_table[row->kind].part != PART_LAYER || decoder == !!(row->form & OF_DECODER);
}

const struct family_row *family_row(const struct family *family, const struct architecture *architecture,
    enum tensor_kind kind, int64_t layer)
{
    for (const struct family_row *row = family->row; row->name; row++)
        if (row->kind == kind && is_of(row, architecture, layer))
            return row;
    return NULL;
}

static const char *prefix_of(const struct family *family, unsigned form, bool prefixed)
{
    return prefixed && !(form & OUTSIDE) ? family->prefix : "";
}

const char *family_name(const struct family *family, const struct family_row *row, bool prefixed,
    int64_t block, char name[FAMILY_NAME_SIZE])
{
    const char *prefix = prefix_of(family, row->form, prefixed), *place = strchr(row->name, '#');

    if (place)
        snprintf(name, FAMILY_NAME_SIZE, "%s%.*s%" PRId64 "%s", prefix, (int)(place - row->name), row->name,
            block, place + 1);
    else
        snprintf(name, FAMILY_NAME_SIZE, "%s%s", prefix, row->name);
    return name;
}

/* Is this the name? *block is the number at its #, or -1. */
static bool is_name(const char *pattern, const char *prefix, const char *name, int64_t *block)
{
    const char *place = strchr(pattern, '#');
    size_t length = strlen(prefix), before = place ? (size_t)(place - pattern) : 0;
    char *end;

    *block = -1;
    if (strncmp(name, prefix, length) != 0)
        return false;
    name += length;
    if (!place)
        return strcmp(name, pattern) == 0;
    if (strncmp(name, pattern, before) != 0)
        return false;
    name += before;
    bool number = name[0] >= '0' && name[0] <= '9' && !(name[0] == '0' && name[1] >= '0' && name[1] <= '9');
    long long written = number ? strtoll(name, &end, 10) : -1;
    if (written < 0 || written >= BLOCKS_MOST || strcmp(end, place + 1) != 0)
        return false;
    *block = written;
    return true;
}

const struct family_other *family_other(const struct family *family, const char *name, bool prefixed)
{
    int64_t block;

    for (const struct family_other *other = family->other; other->name; other++)
        if (is_name(other->name, prefix_of(family, other->form, prefixed), name, &block))
            return other;
    return NULL;
}

int64_t family_blocks(const struct family *family, const char *name, bool prefixed)
{
    int64_t block;

    for (const struct family_row *row = family->row; row->name; row++)
        if (is_name(row->name, prefix_of(family, row->form, prefixed), name, &block))
            return block + 1;
    for (const struct family_other *other = family->other; other->name; other++)
        if (is_name(other->name, prefix_of(family, other->form, prefixed), name, &block))
            return block + 1;
    return 0;
}

int64_t family_row_block(const struct family *family, const struct architecture *architecture,
    const char *name, bool prefixed, int64_t *block)
{
    for (const struct family_row *row = family->row; row->name; row++) {
        int64_t stack = row->form & OF_DECODER ? 1 : 0;
        if (!is_name(row->name, prefix_of(family, row->form, prefixed), name, block) || *block < 0)
            continue;
        const struct stack_form form = architecture_stack(architecture, stack);
        return form.end - form.begin;
    }
    return 0;
}

/* Appends one length of a matrix or vector. */
static int64_t add_length(const struct family_row *row, const struct architecture *a,
    enum tensor_extent extent, int64_t times, int64_t *shape)
{
    int64_t length = extent_length(a, extent), depth = architecture_depth(a);

    shape[0] = times * length;
    if (!(row->form & BY_HEADS) || (extent != EXTENT_QUERIES && extent != EXTENT_KEYS))
        return 1;
    shape[0] = length / depth;
    shape[1] = depth;
    return 2;
}

int64_t family_shape(const struct family_row *row, const struct architecture *architecture, int64_t padding,
    int64_t shape[FAMILY_RANK_MOST])
{
    const struct tensor_row *tensor = &tensor_table[row->kind];
    int64_t parts = row->parts ? row->parts : 1;

    if (tensor->rows == EXTENT_ONE)
        return add_length(row, architecture, tensor->columns, parts, shape);
    if (row->form & IN_OUT) {
        int64_t rank = add_length(row, architecture, tensor->columns, 1, shape);
        return rank + add_length(row, architecture, tensor->rows, parts, shape + rank);
    }
    int64_t rank = add_length(row, architecture, tensor->rows, parts, shape);
    shape[0] += row->form & PADDED ? padding : 0;
    return rank + add_length(row, architecture, tensor->columns, 1, shape + rank);
}
