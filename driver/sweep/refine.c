/* `refine`: which boundary a sweep looks for, in place of training its whole grid. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <string.h>

/* The sweep's axis of this name. */
static int64_t axis_named(const struct sweep *sweep, const char *name)
{
    int64_t i = 0;

    while (i < sweep->axis_count && strcmp(sweep->axis[i].name, name) != 0)
        i++;
    return i;
}

static int refuse_axis(struct reader *reader, const char *key, const struct node *node)
{
    const struct param *param = param_find(node->text);
    char excerpt[EXCERPT_SIZE];

    if (param && reader_spot(reader->sweep, param)->together)
        return reader_fault(
            reader, node->position, "%s: %s changes together with other keys", key, param->name);
    if (param && param->axis && param_is_number(param))
        return reader_fault(
            reader, node->position, "%s: %s is not an axis; give it a list", key, param->name);
    return reader_fault(reader, node->position, "%s: '%s' is not an axis of numbers", key,
        place_excerpt(node->text, excerpt));
}

static int read_refined_axis(struct reader *reader, const char *key, const struct node *node)
{
    struct refine *refine = &reader->sweep->refine;
    const char *name;

    if (value_text(reader, key, node, &name) < 0)
        return -1;
    int64_t axis = axis_named(reader->sweep, name);
    if (axis == reader->sweep->axis_count || reader->sweep->axis[axis].label ||
        !param_is_number(reader->sweep->axis[axis].param[0]))
        return refuse_axis(reader, key, node);
    if (refine->axis_count == 1 && refine->axis[0] == axis)
        return reader_fault(reader, node->position, "%s: %s appears twice", key, name);
    refine->axis[refine->axis_count++] = axis;
    return 0;
}

static int read_refined_axes(struct reader *reader, const struct node *node)
{
    const char *key = "refine.axes";

    if (node->kind != NODE_LIST || node->count < 1 || node->count > REFINE_AXES)
        return reader_fault(reader, node->position, "%s: takes a list of one or two axes", key);
    for (int64_t i = 0; i < node->count; i++)
        if (read_refined_axis(reader, key, &node->child[i]) < 0)
            return -1;
    return 0;
}

/* The metric of the whole run of this name; METRIC_COUNT: there is none. */
static enum metric metric_named(const char *name, struct nearest *nearest)
{
    enum metric found = METRIC_COUNT;

    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        if (metric_table[i].shape != METRIC_PER_RUN)
            continue;
        nearest_offer(nearest, metric_table[i].name);
        if (strcmp(metric_table[i].name, name) == 0)
            found = i;
    }
    return found;
}

/* A metric of the whole run that this sweep measures. */
static int read_variable(struct reader *reader, const struct node *node)
{
    const char *key = "refine.variable", *name;
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;

    if (value_text(reader, key, node, &name) < 0)
        return -1;
    nearest_init(&nearest, name);
    enum metric variable = metric_named(name, &nearest);
    if (variable == METRIC_COUNT)
        return reader_fault(reader, node->position,
            "%s: '%s' is not a metric with one value per run, such as norm_growth%s", key,
            place_excerpt(name, excerpt), nearest_hint(&nearest, hint));
    enum metric_group group = metric_table[variable].group;
    if (!reader->sweep->measure.group[group])
        return reader_fault(reader, node->position, "%s: measure.metrics lacks %s, which has %s", key,
            metric_group_names[group], name);
    reader->sweep->refine.variable = variable;
    return 0;
}

static int read_coarse(struct reader *reader, const struct node *node)
{
    int64_t *coarse = &reader->sweep->refine.coarse;

    if (value_integer(reader, "refine.coarse", node, 1, coarse) < 0)
        return -1;
    if (*coarse > REFINE_COARSE_MOST || (*coarse & (*coarse - 1)) != 0)
        return reader_fault(reader, node->position, "refine.coarse: %" PRId64 " is not a power of 2 up to %d",
            *coarse, REFINE_COARSE_MOST);
    return 0;
}

enum refine_word { AXIS, AXES, VARIABLE, AT, COARSE };

static int read_word(
    struct reader *reader, enum refine_word word, const struct node *key, const struct node *value)
{
    struct refine *refine = &reader->sweep->refine;

    switch (word) {
    case AXIS:
    case AXES:
        if (refine->kind != REFINE_NONE)
            return reader_fault(reader, key->position, "refine: give either axis or axes");
        refine->kind = word == AXIS ? REFINE_LINES : REFINE_CELLS;
        return word == AXIS ? read_refined_axis(reader, "refine.axis", value)
                            : read_refined_axes(reader, value);
    case VARIABLE:
        return read_variable(reader, value);
    case AT:
        return value_real(reader, "refine.at", value, &refine->at);
    case COARSE:
        break;
    }
    return read_coarse(reader, value);
}

int refine_read(struct reader *reader, const struct node *node)
{
    static const char *const words[] = {"axis", "axes", "variable", "at", "coarse", NULL};
    struct refine *refine = &reader->sweep->refine;
    const struct node *coarse = NULL;
    bool has_value = false;

    if (node->kind != NODE_MAP)
        return reader_fault(reader, node->position, "refine: takes %s", key_table[KEY_REFINE].form);
    *refine = (struct refine){.variable = METRIC_norm_growth, .at = 1, .coarse = REFINE_COARSE};
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *key = &node->key[i];
        int64_t word;
        if (value_key(reader, "refine", key, words, &word) < 0 ||
            read_word(reader, (enum refine_word)word, key, &node->child[i]) < 0)
            return -1;
        if (word == COARSE)
            coarse = key;
        has_value = has_value || word == AT;
    }
    if (refine->kind == REFINE_NONE)
        return reader_fault(reader, node->position, "refine: lacks axis, or axes");
    if (!has_value && refine->variable != METRIC_norm_growth)
        return reader_fault(reader, node->position, "refine: lacks at, the value that %s crosses",
            metric_table[refine->variable].name);
    if (coarse && refine->kind == REFINE_LINES)
        return reader_fault(reader, coarse->position, "refine.coarse: without effect; it goes with axes");
    return 0;
}
