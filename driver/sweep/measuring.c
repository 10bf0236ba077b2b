#include "driver/sweep/measuring.h"

#include "driver/sweep/list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MOST 1e12 /* the same as of the parameter `steps` */

/* measure.steps is read like the values of an axis. */
static const struct param step_param = {
    .name = "measure.steps", .kind = PARAM_INTEGER, .axis = true, .min = 0, .max = STEP_MOST};

static int check_map(struct reader *reader, const char *name, const struct node *node, const char *form)
{
    if (node->kind == NODE_MAP)
        return 0;
    return reader_fault(reader, node->place, "%s: takes {%s}", name, form);
}

static int read_interval(struct reader *reader, const char *key, const struct node *node, int64_t *steps)
{
    if (value_integer(reader, key, node, 1, steps) < 0)
        return -1;
    if ((double)*steps > STEP_MOST)
        return reader_fault(reader, node->place, "%s: %" PRId64 " is above %g", key, *steps, STEP_MOST);
    return 0;
}

static int read_steps(struct reader *reader, const struct node *node)
{
    struct measure *measure = &reader->sweep->measure;
    struct list list;

    if (!list_is(node))
        return reader_fault(reader, node->place, "measure.steps: takes a list");
    if (list_read(reader, &step_param, node, GRID_MOST, &list) < 0)
        return -1;
    measure->steps = reader_memory(reader, list.count, sizeof(*measure->steps));
    if (measure->steps) {
        measure->every = 0;
        measure->step_count = list.count;
        for (int64_t i = 0; i < list.count; i++)
            measure->steps[i] = list.value[i].integer;
        qsort(measure->steps, (size_t)list.count, sizeof(*measure->steps), step_compare);
    }
    list_release(&list);
    return measure->steps ? 0 : -1;
}

static int read_group(struct reader *reader, const struct node *node)
{
    bool *group = reader->sweep->measure.group;
    const char *words[GROUP_COUNT] = {NULL};
    int64_t index;

    for (int i = GROUP_ALWAYS + 1; i < GROUP_COUNT; i++)
        words[i - GROUP_ALWAYS - 1] = metric_group_names[i];
    if (value_word(reader, "measure.metrics", node, words, &index) < 0)
        return -1;
    if (group[GROUP_ALWAYS + 1 + index])
        return reader_fault(reader, node->place, "measure.metrics: %s appears twice", words[index]);
    group[GROUP_ALWAYS + 1 + index] = true;
    return 0;
}

static int read_groups(struct reader *reader, const struct node *node)
{
    if (node->kind != NODE_LIST)
        return reader_fault(reader, node->place, "measure.metrics: takes a list");
    for (int i = 0; i < GROUP_COUNT; i++)
        reader->sweep->measure.group[i] = i == GROUP_ALWAYS;
    for (int64_t i = 0; i < node->count; i++)
        if (read_group(reader, &node->child[i]) < 0)
            return -1;
    return 0;
}

int measure_read(struct reader *reader, const struct node *node)
{
    enum { EVERY, STEPS, METRICS };
    static const char *const words[] = {"every", "steps", "metrics", NULL};
    bool timed = false;

    if (check_map(reader, "measure", node, "every: N or steps: [N, ...], metrics: [...]") < 0)
        return -1;
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *key = &node->key[i], *value = &node->child[i];
        int64_t word;
        if (value_key(reader, "measure", key, words, &word) < 0)
            return -1;
        if (word != METRICS && timed)
            return reader_fault(reader, key->place, "measure: give either every or steps");
        timed = timed || word != METRICS;
        int status = word == EVERY
                         ? read_interval(reader, "measure.every", value, &reader->sweep->measure.every)
                     : word == STEPS ? read_steps(reader, value)
                                     : read_groups(reader, value);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* A positive integer, or the one word that has a special meaning. */
static int read_or_word(struct reader *reader, const char *key, const struct node *node, const char *word,
    int64_t meaning, int64_t *value)
{
    char excerpt[EXCERPT_SIZE];

    if (node->kind == NODE_SCALAR && strcmp(node->text, word) == 0) {
        *value = meaning;
        return 0;
    }
    if (node->kind == NODE_SCALAR && !node_is_null(node) && !strpbrk(node->text, "0123456789"))
        return reader_fault(reader, node->place, "%s: '%s' is neither %s nor an integer", key,
            place_excerpt(node->text, excerpt), word);
    return read_interval(reader, key, node, value);
}

int validate_read(struct reader *reader, const struct node *node)
{
    static const char *const words[] = {"every", "tokens", NULL};
    struct measure *measure = &reader->sweep->measure;

    if (check_map(reader, "validate", node, "every: end or N, tokens: N or all") < 0)
        return -1;
    for (int64_t i = 0; i < node->count; i++) {
        const struct node *value = &node->child[i];
        int64_t word;
        if (value_key(reader, "validate", &node->key[i], words, &word) < 0)
            return -1;
        int status = word == 0 ? read_or_word(reader, "validate.every", value, "end", VALIDATE_END,
                                     &measure->validate_every)
                               : read_or_word(reader, "validate.tokens", value, "all", VALIDATE_ALL,
                                     &measure->validate_tokens);
        if (status < 0)
            return -1;
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
