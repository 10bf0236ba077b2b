/* `refine`: which boundary a sweep looks for, in place of training its whole grid. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <string.h>

static int read_axis(struct reader *reader, const char *key, const struct node *node)
{
    const struct sweep *sweep = reader->sweep;
    struct refine *refine = &reader->sweep->refine;
    const char *name;

    if (value_text(reader, key, node, &name) < 0)
        return -1;
    const struct param *param = param_find(name);
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param);
    if (axis && axis->label)
        return node_fault(reader, node, "%s: %s changes together with other keys", key, name);
    if (!param || !param->axis || !param_is_number(param))
        return node_fault(reader, node, "%s: '%s' is not an axis of numbers", key, text_excerpt(name).text);
    if (!axis)
        return node_fault(reader, node, "%s: %s is not an axis; give it a list", key, name);
    if (param == param_find("seed"))
        return node_fault(reader, node,
            "%s: seeds have no boundary; refine: {seeds: {width: ...}} trains more of them where a mean is "
            "not known well",
            key);
    if (refine->axis_count == 1 && refine->axis[0] == axis - sweep->axis)
        return node_fault(reader, node, "%s: %s appears twice", key, name);
    refine->axis[refine->axis_count++] = axis - sweep->axis;
    return 0;
}

/* One axis, or a list of one or two. */
static int read_axes(struct reader *reader, enum refine_kind kind, const struct node *node)
{
    if (kind == REFINE_LINES)
        return read_axis(reader, "refine.axis", node);
    if (node->kind != NODE_LIST || node->count < 1 || node->count > REFINE_AXES)
        return node_fault(reader, node, "refine.axes: takes a list of one or two axes");
    for (int64_t i = 0; i < node->count; i++)
        if (read_axis(reader, "refine.axes", &node->child[i]) < 0)
            return -1;
    return 0;
}

/* A metric of the whole run that this sweep measures. */
static int read_variable(struct reader *reader, const char *key, const struct node *node, enum metric *found)
{
    const char *name;
    enum metric variable = METRIC_COUNT;
    struct nearest nearest;

    if (value_text(reader, key, node, &name) < 0)
        return -1;
    nearest_init(&nearest, name);
    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        if (metric_table[i].shape != METRIC_PER_RUN)
            continue;
        nearest_offer(&nearest, metric_table[i].name);
        if (strcmp(metric_table[i].name, name) == 0)
            variable = i;
    }
    if (variable == METRIC_COUNT)
        return node_fault(reader, node,
            "%s: '%s' is not a metric with one value per run, such as norm_growth%s", key,
            text_excerpt(name).text, nearest_hint(&nearest).text);
    enum metric_group group = metric_table[variable].group;
    if (!reader->sweep->measure.group[group])
        return node_fault(
            reader, node, "%s: measure.metrics lacks %s, which has %s", key, metric_group_names[group], name);
    *found = variable;
    return 0;
}

/* An axis other than that of seeds. */
static int read_difference(struct reader *reader, const struct node *node, struct refine_seeds *seeds)
{
    const struct sweep *sweep = reader->sweep;
    const char *name;

    if (value_text(reader, "refine.seeds.difference", node, &name) < 0)
        return -1;
    seeds->difference = axis_named(sweep->axis_count, sweep->axis, name);
    if (seeds->difference < 0 || seeds->difference == seeds->axis)
        return node_fault(reader, node, "refine.seeds.difference: '%s' is not an axis%s",
            text_excerpt(name).text, seeds->difference < 0 ? "" : " beside the seeds");
    if (sweep->axis[seeds->difference].length < 2)
        return node_fault(reader, node, "refine.seeds.difference: %s has one value", name);
    return 0;
}

static int read_seeds(struct reader *reader, const struct node *node)
{
    enum { VARIABLE, WIDTH, LEAST, MOST };
    static const char *const words[] = {"variable", "width", "least", "most", "difference", NULL};
    const struct sweep *sweep = reader->sweep;
    const struct axis *axis = axis_find(sweep->axis_count, sweep->axis, param_find("seed"));
    struct refine_seeds *seeds = &reader->sweep->refine.seeds;

    if (node->kind != NODE_MAP)
        return node_fault(reader, node,
            "refine.seeds: takes {variable: metric, width: number, least: N, most: N, difference: axis}");
    if (!axis || axis->label)
        return node_fault(reader, node, "refine.seeds: seed is not an axis of its own; give it a list");
    *seeds = (struct refine_seeds){.variable = METRIC_norm_growth,
        .least = REFINE_SEEDS_LEAST,
        .most = axis->length,
        .axis = axis - sweep->axis,
        .difference = -1};
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *key = &node->key[i], *value = &node->child[i];
        int64_t word;
        int status = value_key(reader, "refine.seeds", key, words, &word);
        if (status == 0 && word == VARIABLE)
            status = read_variable(reader, "refine.seeds.variable", value, &seeds->variable);
        else if (status == 0 && word == WIDTH)
            status = value_real(reader, "refine.seeds.width", value, &seeds->width);
        else if (status == 0 && word == LEAST)
            status = value_integer(reader, "refine.seeds.least", value, 2, INT64_MAX, &seeds->least);
        else if (status == 0 && word == MOST)
            status = value_integer(reader, "refine.seeds.most", value, 2, INT64_MAX, &seeds->most);
        else if (status == 0)
            status = read_difference(reader, value, seeds);
        if (status < 0)
            return -1;
    }
    if (!(seeds->width > 0))
        return node_fault(reader, node, "refine.seeds: lacks a width above 0");
    if (seeds->most > axis->length)
        return node_fault(reader, node, "refine.seeds.most: %" PRId64 ", but seed has %" PRId64 " values",
            seeds->most, axis->length);
    if (seeds->least > seeds->most)
        return node_fault(reader, node,
            "refine.seeds.least: %" PRId64 " is above %" PRId64 ", the seeds that a cell has at most",
            seeds->least, seeds->most);
    return 0;
}

/* Keys that do not fit together. */
static int check(struct reader *reader, const struct node *node, const struct node *coarse,
    const struct node *at_once, bool has_value)
{
    struct refine *refine = &reader->sweep->refine;
    struct refine_seeds *seeds = &refine->seeds;
    int64_t variable = node_find(node, "variable"), at = node_find(node, "at");

    if (refine->kind == REFINE_NONE && seeds->most > 0) {
        if (variable < node->count || at < node->count)
            return node_fault(reader, &node->key[variable < node->count ? variable : at],
                "refine.%s: without effect; it goes with axis, or axes",
                variable < node->count ? "variable" : "at");
        refine->kind = REFINE_SEEDS;
        refine->variable = seeds->variable; /* for the phase that runs of a cell share */
    }
    if (refine->kind == REFINE_NONE)
        return node_fault(reader, node, "refine: lacks axis, axes or seeds");
    if (refine->kind != REFINE_SEEDS && !has_value && refine->variable != METRIC_norm_growth)
        return node_fault(
            reader, node, "refine: lacks at, the value that %s crosses", metric_table[refine->variable].name);
    if (coarse && refine->kind != REFINE_CELLS)
        return node_fault(reader, coarse, "refine.coarse: without effect; it goes with axes");
    if (at_once && refine->kind == REFINE_CELLS && seeds->most == 0)
        return node_fault(reader, at_once, "refine.at_once: without effect; it goes with axis");
    for (int i = 0; seeds->most > 0 && i < refine->axis_count; i++)
        if (refine->axis[i] == seeds->difference)
            return node_fault(reader, node, "refine.seeds: %s is an axis along which refine searches",
                reader->sweep->axis[refine->axis[i]].name);
    return 0;
}

int refine_read(struct reader *reader, const struct node *node)
{
    enum { AXIS, AXES, VARIABLE, AT, COARSE, SEEDS };
    static const char *const words[] = {"axis", "axes", "variable", "at", "coarse", "seeds", "at_once", NULL};
    struct refine *refine = &reader->sweep->refine;
    const struct node *coarse = NULL, *at_once = NULL;
    bool has_value = false;

    if (node->kind != NODE_MAP)
        return node_fault(reader, node, "refine: takes %s", key_table[KEY_REFINE].form);
    *refine = (struct refine){.variable = METRIC_norm_growth, .at = 1, .coarse = REFINE_COARSE, .at_once = 1};
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *key = &node->key[i], *value = &node->child[i];
        int64_t word;
        int status = value_key(reader, "refine", key, words, &word);
        if (status == 0 && word <= AXES && refine->kind != REFINE_NONE) {
            status = node_fault(reader, key, "refine: give either axis or axes");
        } else if (status == 0 && word <= AXES) {
            refine->kind = word == AXIS ? REFINE_LINES : REFINE_CELLS;
            status = read_axes(reader, refine->kind, value);
        } else if (status == 0 && word == VARIABLE) {
            status = read_variable(reader, "refine.variable", value, &refine->variable);
        } else if (status == 0 && word == AT) {
            status = value_real(reader, "refine.at", value, &refine->at);
            has_value = true;
        } else if (status == 0 && word == COARSE) {
            int64_t *width = &refine->coarse;
            status = value_integer(reader, "refine.coarse", value, 1, INT64_MAX, width);
            if (status == 0 && (*width > REFINE_COARSE_MOST || (*width & (*width - 1)) != 0))
                status = node_fault(reader, value, "refine.coarse: %" PRId64 " is not a power of 2 up to %d",
                    *width, REFINE_COARSE_MOST);
            coarse = key;
        } else if (status == 0 && word == SEEDS) {
            status = read_seeds(reader, value);
        } else if (status == 0) {
            status = value_integer(reader, "refine.at_once", value, 1, REFINE_AT_ONCE_MOST, &refine->at_once);
            at_once = key;
        }
        if (status < 0)
            return -1;
    }
    return check(reader, node, coarse, at_once, has_value);
}
