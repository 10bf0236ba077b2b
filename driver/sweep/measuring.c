/* What a sweep measures and when: `measure`, `validate`, `hessian` and their like. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* measure.steps is read like the values of an axis of this parameter. */
static const struct param measure_step_param = {
    .name = "measure.steps", .kind = PARAM_INTEGER, .axis = true, .min = 0, .max = MEASURE_NUMBER_MOST};

static int check_map(struct reader *reader, enum key key, const struct node *node)
{
    const struct key_row *row = &key_table[key];

    if (node->kind == NODE_MAP)
        return 0;
    return node_fault(reader, node, "%s: takes %s", row->name, row->form);
}

static int read_steps(struct reader *reader, const struct node *node)
{
    struct measure *measure = &reader->sweep->measure;
    struct list list;

    if (node->kind == NODE_SCALAR)
        return node_fault(reader, node, "measure.steps: takes a list");
    if (list_read(reader, &measure_step_param, node, GRID_MOST, &list) < 0)
        return -1;
    measure->steps = memory_new((size_t)list.count, sizeof(*measure->steps));
    measure->every = 0;
    measure->step_count = list.count;
    for (int64_t i = 0; i < list.count; i++)
        measure->steps[i] = list.value[i].integer;
    qsort(measure->steps, (size_t)list.count, sizeof(*measure->steps), step_compare);
    list_release(&list);
    return 0;
}

/* Says more of a word that is not a group: it is a metric, or like a group's name. Always -1. */
static int refuse_group(struct reader *reader, const struct node *node)
{
    struct nearest nearest;

    nearest_init(&nearest, node->text);
    for (int group = GROUP_ALWAYS + 1; group < GROUP_COUNT; group++)
        nearest_offer(&nearest, metric_group_names[group]);
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        if (strcmp(metric_table[metric].name, node->text) == 0)
            return node_fault(reader, node, "measure.metrics: %s is measured with %s", node->text,
                metric_group_names[metric_table[metric].group]);
    return !nearest.best ? -1
                         : node_fault(reader, node, "measure.metrics: '%s' is not a group of metrics%s",
                               text_excerpt(node->text).text, nearest_hint(&nearest).text);
}

static int read_groups(struct reader *reader, const struct node *node)
{
    enum { FIRST = GROUP_ALWAYS + 1 };
    bool *group = reader->sweep->measure.group;
    const char *words[GROUP_COUNT] = {NULL};
    int64_t word;

    if (node->kind != NODE_LIST)
        return node_fault(reader, node, "measure.metrics: takes a list");
    for (int i = FIRST; i < GROUP_COUNT; i++) {
        words[i - FIRST] = metric_group_names[i];
        group[i] = false;
    }
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *child = &node->child[i];
        if (value_word(reader, "measure.metrics", child, words, &word) < 0)
            return child->kind == NODE_SCALAR ? refuse_group(reader, child) : -1;
        if (group[FIRST + word])
            return node_fault(reader, child, "measure.metrics: %s appears twice", words[word]);
        group[FIRST + word] = true;
    }
    return 0;
}

int measure_read(struct reader *reader, const struct node *node)
{
    enum { EVERY, STEPS, METRICS };
    static const char *const words[] = {"every", "steps", "metrics", NULL};
    bool timed = false;

    if (check_map(reader, KEY_MEASURE, node) < 0)
        return -1;
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *key = &node->key[i], *value = &node->child[i];
        int64_t word;
        if (value_key(reader, "measure", key, words, &word) < 0)
            return -1;
        if (word != METRICS && timed)
            return node_fault(reader, key, "measure: give either every or steps");
        timed = timed || word != METRICS;
        int status = word == EVERY   ? value_integer(reader, "measure.every", value, 1, MEASURE_NUMBER_MOST,
                                           &reader->sweep->measure.every)
                     : word == STEPS ? read_steps(reader, value)
                                     : read_groups(reader, value);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* A number, or one of the words that stand for one. */
static int read_option(
    struct reader *reader, enum measure_option option, const char *name, const struct node *node)
{
    const struct measure_option_row *row = &measure_option_table[option];
    bool single = node->kind == NODE_SCALAR && !node_is_null(node);
    struct string words = {0};
    int64_t number;

    for (const struct measure_word *word = row->word; word->text; word++) {
        if (single && strcmp(word->text, node->text) == 0) {
            measure_set(&reader->sweep->measure, option, word->value);
            string_release(&words);
            return 0;
        }
        string_format(&words, "%s nor ", word->text);
    }
    int status = -1;
    if (single && words.length && !strpbrk(node->text, "0123456789"))
        node_fault(reader, node, "%s: '%s' is neither %san integer", name, text_excerpt(node->text).text,
            words.bytes);
    else
        status = value_integer(reader, name, node, row->least, row->most, &number);
    string_release(&words);
    if (status == 0)
        measure_set(&reader->sweep->measure, option, number);
    return status;
}

int options_read(struct reader *reader, enum key key, const struct node *node)
{
    const char *name = key_table[key].name, *words[MEASURE_OPTION_COUNT + 1] = {NULL};
    enum measure_option first = measure_option_first(name), end = measure_option_end(first);
    char full[64];

    if (!measure_option_table[first].member)
        return read_option(reader, first, name, node);
    if (check_map(reader, key, node) < 0)
        return -1;
    for (enum measure_option i = first; i < end; i++)
        words[i - first] = measure_option_table[i].member;
    for (int64_t i = 0; i < node->count; i++) {
        int64_t word;
        if (value_key(reader, name, &node->key[i], words, &word) < 0)
            return -1;
        snprintf(full, sizeof(full), "%s.%s", name, words[word]);
        if (read_option(reader, first + (enum measure_option)word, full, &node->child[i]) < 0)
            return -1;
    }
    return 0;
}

int options_check(struct reader *reader)
{
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i = measure_option_end(i)) {
        const struct measure_option_row *row = &measure_option_table[i];
        const struct spot *spot = &reader->sweep->spots->key[key_find(row->key)];
        if (spot->given && !reader->sweep->measure.group[row->group])
            return node_fault(reader, spot, "%s: without effect; measure.metrics lacks %s", row->key,
                metric_group_names[row->group]);
    }
    return 0;
}

double measure_rows_bound(const struct measure *measure, int64_t last_step)
{
    double rows = 2 + (double)measure->step_count;

    if (measure->every)
        rows += (double)(last_step / measure->every);
    if (measure->validate_every != VALIDATE_END)
        rows += (double)(last_step / measure->validate_every);
    return rows;
}
