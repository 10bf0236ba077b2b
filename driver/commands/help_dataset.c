/* What the help command says of a dataset, from the tables that lay it out. */
#include "driver/commands/help_dataset.h"
#include "driver/commands/help.h"
#include "driver/commands/help_text.h"
#include "driver/tables/dataset_tables.h"

#include <stdio.h>
#include <string.h>

const char *help_dimensions(enum metric_shape shape, char text[HELP_DIMENSIONS])
{
    const struct metric_shape_row *row = &metric_shape_table[shape];
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < row->rank; i++) {
        bool optional = row->dimension[i] == DIMENSION_STACK && shape != METRIC_PER_STACK_OF_TWO;
        used += (size_t)snprintf(text + used, HELP_DIMENSIONS - used, "%s%s%s",
            optional ? "[, "
            : i      ? ", "
                     : "",
            metric_dimension_table[row->dimension[i]].name, optional ? "]" : "");
    }
    return text;
}

const char *help_members(enum metric_group group, char text[HELP_NAMES])
{
    size_t used = 0;

    text[0] = '\0';
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_table[metric].group == group)
            used += (size_t)snprintf(
                text + used, HELP_NAMES - used, "%s%s", used ? ", " : "", metric_table[metric].name);
    return text;
}

const char *help_measured(enum metric_group group)
{
    if (group == GROUP_ALWAYS)
        return "in every sweep";
    return metric_group_initial[group] ? "unless measure names only other groups" : "if measure names it";
}

const char *help_values(enum run_variable variable, char text[HELP_NAMES])
{
    const struct run_variable_row *row = &run_variable_table[variable];
    int count;
    const char *const *words = run_variable_flags(variable, &count);
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, HELP_NAMES - used, "%s%d %s", i ? ", " : "", i, words[i]);
    if (count == 0 && strcmp(row->unit, "1") != 0)
        snprintf(text, HELP_NAMES, "in %s", row->unit);
    else if (count == 0)
        snprintf(text, HELP_NAMES, row->type == STORED_TEXT ? "a text" : "a number");
    return text;
}

static void print_metric(enum metric metric)
{
    const struct metric_row *row = &metric_table[metric];
    char dimensions[HELP_DIMENSIONS];

    help_dimensions(row->shape, dimensions);
    printf("%s%s%s%s: %s", row->name, dimensions[0] ? "(" : "", dimensions, dimensions[0] ? ")" : "",
        row->long_name);
    printf(strcmp(row->unit, "1") == 0 ? "\n" : ", in %s\n", row->unit);
    help_wrapped(row->help);
    if (row->group == GROUP_ALWAYS)
        printf("    measured %s\n", help_measured(row->group));
    else
        printf("    measured with measure: {metrics: [%s]}%s\n", metric_group_names[row->group],
            metric_group_initial[row->group] ? ", on by default" : "");
}

/* "norms: a group of metrics, measured by default", and their names. */
static void print_group(enum metric_group group)
{
    char names[HELP_NAMES];

    printf("%s: a group of metrics, measured %s\n", metric_group_names[group], help_measured(group));
    help_wrapped(help_members(group, names));
}

static void print_dimension(enum metric_dimension dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    printf("%s: %s, a dimension of metrics\n", row->name, row->long_name);
    if (row->comment[0])
        help_wrapped(row->comment);
}

static void print_nature(enum nature nature)
{
    printf("%s: a nature of variables\n", nature_table[nature].word);
    help_wrapped(nature_table[nature].meaning);
}

static void print_run_variable(enum run_variable variable)
{
    const struct run_variable_row *row = &run_variable_table[variable];
    char values[HELP_NAMES];

    help_values(variable, values);
    printf("%s: %s%s%s; of every run\n", row->name, row->long_name, row->type == STORED_BYTE ? ": " : ", ",
        values);
    help_wrapped(row->comment);
}

const char *help_flags(enum boundary_variable variable, char text[HELP_NAMES])
{
    size_t used = 0;

    snprintf(text, HELP_NAMES, "a number");
    if (boundary_variable_table[variable].type != STORED_BYTE)
        return text;
    for (int i = 0; i < PREDICTION_COUNT; i++)
        used += (size_t)snprintf(text + used, HELP_NAMES - used, "%s%d %s", i ? " plus " : "", 1 << i,
            boundary_prediction_table[i].word);
    return text;
}

static void print_boundary_variable(enum boundary_variable variable)
{
    const struct boundary_variable_row *row = &boundary_variable_table[variable];
    char values[HELP_NAMES];

    printf("%s: %s, %s; over %s\n", row->name, row->long_name, help_flags(variable, values),
        boundary_over_text(row->over));
    if (row->comment[0])
        help_wrapped(row->comment);
}

static void print_session_variable(enum session_variable variable)
{
    const struct session_variable_row *row = &session_variable_table[variable];

    printf("%s: %s, %s; of every session, a start of the program\n", row->name, row->long_name,
        row->type == STORED_TEXT ? "a text" : "a number");
}

static void print_attribute(const struct attribute_row *row)
{
    printf("%s: a global attribute\n", row->name);
    help_wrapped(row->meaning);
}

void help_metrics(void)
{
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        print_group(group);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        print_metric(metric);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        print_dimension(dimension);
    for (enum nature nature = 0; nature < NATURE_COUNT; nature++)
        print_nature(nature);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        print_run_variable(variable);
    for (enum boundary_variable variable = 0; variable < BOUNDARY_VARIABLE_COUNT; variable++)
        print_boundary_variable(variable);
    for (enum session_variable variable = 0; variable < SESSION_VARIABLE_COUNT; variable++)
        print_session_variable(variable);
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        print_attribute(&attribute_table[i]);
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
static bool topic_matches(const char *topic, const char *name, bool *known)
{
    bool same = strcmp(topic, name) == 0;

    *known = *known || same;
    return same;
}

bool help_dataset(const char *topic)
{
    bool known = false;

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (topic_matches(topic, metric_table[metric].name, &known))
            print_metric(metric);
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        if (topic_matches(topic, metric_group_names[group], &known))
            print_whole_group(group);
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        if (topic_matches(topic, metric_dimension_table[dimension].name, &known))
            print_dimension(dimension);
    for (enum nature nature = 0; nature < NATURE_COUNT; nature++)
        if (topic_matches(topic, nature_table[nature].word, &known))
            print_nature(nature);
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        if (topic_matches(topic, run_variable_table[variable].name, &known))
            print_run_variable(variable);
    for (enum boundary_variable variable = 0; variable < BOUNDARY_VARIABLE_COUNT; variable++)
        if (topic_matches(topic, boundary_variable_table[variable].name, &known))
            print_boundary_variable(variable);
    for (enum session_variable variable = 0; variable < SESSION_VARIABLE_COUNT; variable++)
        if (topic_matches(topic, session_variable_table[variable].name, &known))
            print_session_variable(variable);
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        if (topic_matches(topic, attribute_table[i].name, &known))
            print_attribute(&attribute_table[i]);
    return known;
}

void help_each_of_dataset(help_take *take, void *context)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        take(context, metric_table[metric].name, metric_table[metric].long_name);
    for (enum metric_group group = 0; group < GROUP_COUNT; group++)
        take(context, metric_group_names[group], "a group of metrics");
    for (enum metric_dimension dimension = 0; dimension < DIMENSION_COUNT; dimension++)
        take(context, metric_dimension_table[dimension].name, metric_dimension_table[dimension].long_name);
    for (enum nature nature = 0; nature < NATURE_COUNT; nature++)
        take(context, nature_table[nature].word, "a nature of variables");
    for (enum run_variable variable = 0; variable < RUN_VARIABLE_COUNT; variable++)
        take(context, run_variable_table[variable].name, run_variable_table[variable].long_name);
    for (enum boundary_variable variable = 0; variable < BOUNDARY_VARIABLE_COUNT; variable++)
        take(context, boundary_variable_table[variable].name, boundary_variable_table[variable].long_name);
    for (enum session_variable variable = 0; variable < SESSION_VARIABLE_COUNT; variable++)
        take(context, session_variable_table[variable].name, session_variable_table[variable].long_name);
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        take(context, attribute_table[i].name, attribute_table[i].meaning);
}
