/*
 * Parameters and axes: a parameter that the file gives one value has it in every run, a list makes it an
 * axis, and `together` has axes whose values are labels, each of which sets several parameters.
 *
 * The first label of such an axis says which parameters it moves; the others set the same ones, and no two
 * the same values.
 */
#include "driver/sweep/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Notes the position of a parameter; refuses one that is given twice. */
static int claim(struct reader *reader, const struct param *param, struct position position, bool together)
{
    struct spot *spot = reader_spot(reader->sweep, param);
    bool decay = param == param_find("weight_decay"), timescale = param == param_find("timescale");

    if ((decay || timescale) && reader_named(reader->sweep, decay ? "timescale" : "weight_decay")->given)
        return reader_fault(reader, position,
            "%s: %s is given, too, and one follows from the other; leave one out", param->name,
            decay ? "timescale" : "weight_decay");
    if (spot->given && !spot->together && !together)
        return reader_fault(reader, position, "%s: given as a key and in weight_decay", param->name);
    if (spot->given && spot->together && together)
        return reader_fault(reader, position, "%s: given in two axes of together", param->name);
    if (spot->given)
        return reader_fault(reader, position, "%s: given both in together and on its own", param->name);
    *spot = (struct spot){true, together, position};
    return 0;
}

/* Adds an axis to the sweep, with room for `params` parameters but without values; NULL with the error set.
 */
static struct axis *new_axis(
    struct reader *reader, const char *name, struct position position, int64_t length, int64_t params)
{
    struct sweep *sweep = reader->sweep;

    if (length > GRID_MOST / sweep->cells) {
        reader_fault(reader, position, "%s: with this axis the grid has %.8g cells; the limit is %d", name,
            (double)sweep->cells * (double)length, GRID_MOST);
        return NULL;
    }
    sweep->cells *= length;
    sweep->axis = memory_grow(sweep->axis, (size_t)sweep->axis_count + 1, sizeof(*sweep->axis));
    struct axis *axis = &sweep->axis[sweep->axis_count++];
    *axis = (struct axis){.name = memory_copy(name), .length = length, .param_count = params};
    axis->param = memory_zero((size_t)params, sizeof(const struct param *));
    return axis;
}

int param_read(struct reader *reader, const struct param *param, const struct node *node)
{
    union param_value value;
    struct list list;

    /* weight_decay: {timescale: ...} is timescale: ... */
    if (param == param_find("weight_decay") && node->kind == NODE_MAP &&
        node_find(node, "timescale") < node->count)
        return node->count == 1 ? param_read(reader, param_find("timescale"), node->child)
                                : node_fault(reader, node, "weight_decay: takes nothing beside timescale");
    if (claim(reader, param, node->position, false) < 0)
        return -1;
    if (node->kind == NODE_SCALAR) {
        if (value_param(reader, param, node, &value) < 0)
            return -1;
        param_set(param, &reader->sweep->base, value);
        return 0;
    }
    if (!param->axis)
        return node_fault(reader, node, "%s: takes one value, not a list", param->name);
    if (list_read(reader, param, node, GRID_MOST, &list) < 0)
        return -1;
    struct axis *axis = new_axis(reader, param->name, node->position, list.count, 1);
    if (!axis) {
        list_release(&list);
        return -1;
    }
    axis->param[0] = param;
    axis->value = list.value;
    axis->written = list.written;
    return 0;
}

/* ---- together ---- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static int check_name(struct reader *reader, const struct node *key)
{
    static const char *const arguments[] = {"indexers", "method", "tolerance", "drop", "missing_dims"};
    const char *name = key->text;
    size_t length = strspn(name, LETTERS "_0123456789");

    const struct excerpt excerpt = text_excerpt(name);
    if (name[length] || length > TOGETHER_NAME_LONGEST || strspn(name, LETTERS) == 0)
        return node_fault(reader, key,
            "together: '%s' is not a name: use at most %d letters, digits and underscores, a letter first",
            excerpt.text, TOGETHER_NAME_LONGEST);
    if (param_find(name) || key_find(name) < KEY_COUNT)
        return node_fault(reader, key, "together: axis '%s' has the name of a key", excerpt.text);
    if (dataset_reserves(name))
        return node_fault(reader, key,
            "together: axis '%s' has the name of a variable or dimension of the dataset", excerpt.text);
    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
        if (strcmp(name, arguments[i]) == 0) /* ds.sel(method="a") would silently select nothing */
            return node_fault(reader, key,
                "together: axis '%s' has the name of an argument of xarray's sel, which could not select "
                "along it",
                excerpt.text);
    return 0;
}

static int check_body(struct reader *reader, const char *name, const struct node *body)
{
    if (body->kind != NODE_MAP)
        return node_fault(reader, body, "%s: takes {key: value, ...}", name);
    if (body->count == 0)
        return node_fault(reader, body, "%s: empty", name);
    return 0;
}

/* The parameter of a key inside a label; NULL with the error set. */
static const struct param *find_param(struct reader *reader, const struct node *key)
{
    const struct param *param = param_find(key->text);

    if (param && param->axis)
        return param;
    if (param || key_find(key->text) < KEY_COUNT)
        node_fault(reader, key, "%s: has one value in a sweep and cannot be part of together", key->text);
    else
        reader_unknown(reader, key);
    return NULL;
}

/* Reads what label number `index` sets. */
static int read_label(
    struct reader *reader, struct axis *axis, int64_t index, const struct node *key, const struct node *body)
{
    const struct excerpt here = text_excerpt(key->text);

    axis->label[index] = memory_copy(key->text);
    if (!key->text[0])
        return node_fault(reader, key, "%s: an empty label", axis->name);
    if (strlen(key->text) > TOGETHER_LABEL_LONGEST)
        return node_fault(reader, key, "%s: label '%s' is longer than %d bytes", axis->name, here.text,
            TOGETHER_LABEL_LONGEST);
    for (const unsigned char *byte = (const unsigned char *)key->text; *byte; byte++)
        if (*byte < 0x20 || *byte == 0x7f)
            return node_fault(reader, key, "%s: a control character in label '%s'", axis->name, here.text);
    if (check_body(reader, key->text, body) < 0)
        return -1;
    const struct excerpt first = text_excerpt(axis->label[0]);
    for (int64_t i = 0; i < body->count; i++) {
        const struct param *param = find_param(reader, &body->key[i]);
        if (!param)
            return -1;
        int64_t p = axis_row(axis, param), slot = p * axis->length + index;
        if (p < 0)
            return node_fault(reader, &body->key[i], "%s: '%s' sets %s, which '%s' does not", axis->name,
                here.text, param->name, first.text);
        if (value_param(reader, param, &body->child[i], &axis->value[slot]) < 0)
            return -1;
        axis->written[slot] = body->child[i].position;
    }
    for (int64_t p = 0; p < axis->param_count; p++)
        if (node_find(body, axis->param[p]->name) == body->count)
            return node_fault(reader, key, "%s: '%s' does not set %s, which '%s' sets", axis->name, here.text,
                axis->param[p]->name, first.text);
    return 0;
}

/* Reads one axis: its name, and the map of its labels. Two labels that set the same values would train every
 * run twice. */
static int read_labels(struct reader *reader, const struct node *key, const struct node *labels)
{
    if (check_name(reader, key) < 0 || check_body(reader, key->text, labels) < 0 ||
        check_body(reader, text_excerpt(labels->key[0].text).text, &labels->child[0]) < 0)
        return -1;
    const struct node *first = &labels->child[0]; /* says which parameters the axis has */
    struct axis *axis = new_axis(reader, key->text, key->position, labels->count, first->count);
    if (!axis)
        return -1;
    size_t values = (size_t)(axis->param_count * axis->length);
    axis->label = memory_zero((size_t)axis->length + 1, sizeof(*axis->label)); /* ends with NULL */
    axis->value = memory_zero(values, sizeof(*axis->value));
    axis->written = memory_zero(values, sizeof(*axis->written));
    for (int64_t i = 0; i < first->count; i++) {
        axis->param[i] = find_param(reader, &first->key[i]);
        if (!axis->param[i] || claim(reader, axis->param[i], first->child[i].position, true) < 0)
            return -1;
    }
    for (int64_t i = 0; i < labels->count; i++)
        if (read_label(reader, axis, i, &labels->key[i], &labels->child[i]) < 0)
            return -1;
    int64_t *sorted = memory_sorted(axis->length, axis_compare, axis);
    int status = 0;
    for (int64_t i = 1; i < axis->length && status == 0; i++)
        if (axis_compare(axis, sorted[i - 1], sorted[i]) == 0)
            status = node_fault(reader, &labels->key[sorted[i]], "%s: '%s' and '%s' set the same values",
                axis->name, text_excerpt(axis->label[sorted[i - 1]]).text,
                text_excerpt(axis->label[sorted[i]]).text);
    free(sorted);
    return status;
}

int together_read(struct reader *reader, const struct node *node)
{
    if (check_body(reader, "together", node) < 0)
        return -1;
    for (int64_t i = 0; i < node->count; i++)
        if (read_labels(reader, &node->key[i], &node->child[i]) < 0)
            return -1;
    return 0;
}

/* ---- axes that have been read ---- */

int axis_compare(const void *context, int64_t a, int64_t b)
{
    const struct axis *axis = context;
    int order = 0;

    for (int64_t p = 0; p < axis->param_count && order == 0; p++) {
        const union param_value *value = &axis->value[p * axis->length];
        order = value_compare(axis->param[p], value[a], value[b]);
    }
    return order;
}

int64_t axis_row(const struct axis *axis, const struct param *param)
{
    for (int64_t i = 0; i < axis->param_count; i++)
        if (axis->param[i] == param)
            return i;
    return -1;
}

int64_t axis_named(int64_t count, const struct axis *axis, const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (strcmp(axis[i].name, name) == 0)
            return i;
    return -1;
}

const struct axis *axis_find(int64_t count, const struct axis *axis, const struct param *param)
{
    for (int64_t i = 0; i < count; i++)
        if (axis_row(&axis[i], param) >= 0)
            return &axis[i];
    return NULL;
}

bool axis_derives(int64_t count, const struct axis *axis, const struct run *base, const struct param *param)
{
    return param->offset == offsetof(struct run, weight_decay) &&
           (base->timescale > 0 || axis_find(count, axis, param_find("timescale")));
}

int64_t axis_index(int64_t count, const struct axis *axis, int64_t number, int64_t cell)
{
    for (int64_t i = count - 1; i > number; i--)
        cell /= axis[i].length;
    return cell % axis[number].length;
}

void axis_release(struct axis *axis)
{
    for (int64_t i = 0; axis->label && i < axis->length; i++)
        free(axis->label[i]);
    free(axis->label);
    free(axis->name);
    free(axis->param);
    free(axis->value);
    free(axis->written);
}
