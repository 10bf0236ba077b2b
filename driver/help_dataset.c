/* What the help command says of a dataset, from the tables that lay it out. */
#include "driver/help.h"

#include "driver/dataset_tables.h"

#include <stdio.h>
#include <string.h>

enum { DIMENSIONS_SIZE = 64 };

/* "step, layer" */
static const char *metric_dimensions(enum metric_shape shape, char text[DIMENSIONS_SIZE])
{
    const struct metric_shape_row *row = &metric_shape_table[shape];
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < row->rank; i++)
        used += (size_t)snprintf(text + used, DIMENSIONS_SIZE - used, "%s%s", i ? ", " : "",
            metric_dimension_table[row->dimension[i]].name);
    return text;
}

void help_metrics_markdown(void)
{
    char name[80], dimensions[DIMENSIONS_SIZE], meaning[1024];

    puts("| variable | over | unit | measured with | meaning |\n|---|---|---|---|---|");
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &metric_table[metric];
        snprintf(name, sizeof(name), "`%s`", row->name);
        snprintf(meaning, sizeof(meaning), "%s: %s", row->long_name, row->help);
        help_row((const char *[]){name, metric_dimensions(row->shape, dimensions), row->unit,
                     metric_group_names[row->group], meaning},
            5);
    }
}

static void print_metric(enum metric metric)
{
    const struct metric_row *row = &metric_table[metric];
    char dimensions[DIMENSIONS_SIZE];

    metric_dimensions(row->shape, dimensions);
    printf("%s%s%s%s: %s, in %s; measured with %s\n", row->name, dimensions[0] ? "(" : "", dimensions,
        dimensions[0] ? ")" : "", row->long_name, row->unit, metric_group_names[row->group]);
    help_wrapped(row->help);
}

/* "norms: a group of metrics, measured by default", and their names. */
static void print_group(enum metric_group group)
{
    char names[METRIC_COUNT * 32] = "";

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t used = strlen(names);
        if (metric_table[metric].group == group)
            snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", metric_table[metric].name);
    }
    printf("%s: a group of metrics, measured %s\n", metric_group_names[group],
        group == GROUP_ALWAYS         ? "in every sweep"
        : metric_group_initial[group] ? "unless measure names others alone"
                                      : "where measure names it");
    help_wrapped(names);
}

static void print_dimension(enum metric_dimension dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    printf("%s: %s, a dimension of metrics\n", row->name, row->long_name);
    if (row->comment[0])
        help_wrapped(row->comment);
}

/* ": 0 none, 1 growing, ...", ", in s" or ", a text" */
static void print_values(enum run_variable variable)
{
    const struct run_variable_row *row = &run_variable_table[variable];
    int count;
    const char *const *words = run_variable_flags(variable, &count);

    for (int i = 0; i < count; i++)
        printf("%s%d %s", i ? ", " : ": ", i, words[i]);
    if (row->type == STORED_TEXT)
        printf(", a text");
    else if (count == 0)
        printf(", in %s", row->unit);
}

static void print_run_variable(enum run_variable variable)
{
    const struct run_variable_row *row = &run_variable_table[variable];

    printf("%s: %s", row->name, row->long_name);
    print_values(variable);
    printf("; of every run\n");
    help_wrapped(row->comment);
}

void help_metrics(void)
{
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        print_group(group);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        print_metric(metric);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        print_dimension(dimension);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        print_run_variable(variable);
}

static bool is_metric(const char *name)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (strcmp(metric_table[metric].name, name) == 0)
            return true;
    return false;
}

/* A group with the metrics in it; its line alone where its name is that of a metric, which was asked for. */
static void print_whole_group(enum metric_group group)
{
    print_group(group);
    if (is_metric(metric_group_names[group]))
        return;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_table[metric].group == group)
            print_metric(metric);
}

/* Is the topic that name? Then it is known. */
static bool matches(const char *topic, const char *name, bool *known)
{
    bool same = strcmp(topic, name) == 0;

    *known = *known || same;
    return same;
}

bool help_dataset(const char *topic)
{
    bool known = false;

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (matches(topic, metric_table[metric].name, &known))
            print_metric(metric);
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        if (matches(topic, metric_group_names[group], &known))
            print_whole_group(group);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        if (matches(topic, metric_dimension_table[dimension].name, &known))
            print_dimension(dimension);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        if (matches(topic, run_variable_table[variable].name, &known))
            print_run_variable(variable);
    return known;
}

void help_offer_dataset(struct nearest *nearest)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        nearest_offer(nearest, metric_table[metric].name);
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        nearest_offer(nearest, metric_group_names[group]);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        nearest_offer(nearest, metric_dimension_table[dimension].name);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        nearest_offer(nearest, run_variable_table[variable].name);
}
