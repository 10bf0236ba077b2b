/* What `inspect` prints for scripts. */
#include "driver/inspect/inside.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <stdio.h>

static const char *word_along(enum metric_dimension dimension, int64_t place)
{
    return metric_dimension_table[dimension].word(place);
}

static bool has_dimension(const struct inspected *inspected, enum metric metric, enum metric_dimension wanted)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = inspected_dimensions(inspected, metric, dimension);

    for (int i = 0; i < rank; i++)
        if (dimension[i] == wanted)
            return true;
    return false;
}

/* ---- lines for scripts ---- */

static void print_row(
    const struct inspected *inspected, enum metric metric, const int64_t *place, double value)
{
    char layer[24] = "-", head[24] = "-";
    const char *stack = "-", *tensor = "-";

    if (has_dimension(inspected, metric, DIMENSION_STACK))
        stack = word_along(DIMENSION_STACK, place[DIMENSION_STACK]);
    if (has_dimension(inspected, metric, DIMENSION_LAYER))
        snprintf(layer, sizeof(layer), "%" PRId64, place[DIMENSION_LAYER]);
    if (has_dimension(inspected, metric, DIMENSION_TENSOR))
        tensor = word_along(DIMENSION_TENSOR, place[DIMENSION_TENSOR]);
    if (has_dimension(inspected, metric, DIMENSION_HEAD))
        snprintf(head, sizeof(head), "%" PRId64, place[DIMENSION_HEAD]);
    printf("%s\t%s\t%s\t%s\t%s\t%.10g\n", metric_table[metric].name, stack, layer, tensor, head, value);
}

void inspect_print_values(const struct inspected *inspected)
{
    int64_t place[DIMENSION_COUNT];
    double value;

    puts("name\tstack\tlayer\ttensor\thead\tvalue");
    printf("parameters\t-\t-\t-\t-\t%" PRId64 "\n", inspected->parameters);
    if (inspected->tokens)
        printf("tokens\t-\t-\t-\t-\t%" PRId64 "\n", inspected->tokens);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (!inspected->has[metric] || has_dimension(inspected, metric, DIMENSION_BIN))
            continue;
        for (size_t i = 0; i < metric_values(metric, &inspected->form); i++)
            if (inspected_value(inspected, metric, i, place, &value))
                print_row(inspected, metric, place, value);
    }
}

/* ---- JSON ---- */

static void print_attributes(const struct inspected *inspected)
{
    struct inspected_attribute attribute[INSPECTED_ATTRIBUTES];
    int count = inspected_attributes(inspected, attribute);

    fputs("  \"attrs\": {", stdout);
    for (int i = 0; i < count; i++) {
        printf("%s\n    \"%s\": ", i ? "," : "", attribute[i].name);
        if (attribute[i].text)
            json_put_text(stdout, attribute[i].text);
        else
            printf("%" PRId64, attribute[i].number);
    }
    puts("\n  },");
}

static void print_dimension_names(int rank, const enum metric_dimension *dimension)
{
    fputs("\"dims\": [", stdout);
    for (int i = 0; i < rank; i++)
        printf("%s\"%s\"", i ? ", " : "", metric_dimension_table[dimension[i]].name);
    fputs("], \"data\": ", stdout);
}

/* `count` values over these dimensions, as nested lists. */
static void print_nested(const double *values, const struct metric_form *form, int rank,
    const enum metric_dimension *dimension, size_t count)
{
    if (rank == 0) {
        json_put_real(stdout, *values);
        return;
    }
    size_t length = (size_t)form->along[dimension[0]], step = count / length;
    putchar('[');
    for (size_t i = 0; i < length; i++) {
        fputs(i ? ", " : "", stdout);
        print_nested(values + i * step, form, rank - 1, dimension + 1, step);
    }
    putchar(']');
}

static void print_coordinate(const struct inspected *inspected, enum metric_dimension dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    printf("\"%s\": {", row->name);
    print_dimension_names(1, &dimension);
    putchar('[');
    for (int64_t i = 0; i < inspected->form.along[dimension]; i++) {
        fputs(i ? ", " : "", stdout);
        if (row->word)
            json_put_text(stdout, row->word(i));
        else if (row->is_real)
            json_put_real(stdout, row->number(i));
        else
            printf("%.0f", row->number(i));
    }
    fputs("]}", stdout);
}

static void print_coordinates(const struct inspected *inspected)
{
    const char *separator = "";

    fputs("  \"coords\": {", stdout);
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        if (!inspected_has(inspected, i))
            continue;
        printf("%s\n    ", separator);
        print_coordinate(inspected, i);
        separator = ",";
    }
    puts("\n  },");
}

static void print_variable(const struct inspected *inspected, enum metric metric)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = inspected_dimensions(inspected, metric, dimension);

    printf("\"%s\": {", metric_table[metric].name);
    print_dimension_names(rank, dimension);
    print_nested(inspected->row + inspected->form.offset[metric], &inspected->form, rank, dimension,
        metric_values(metric, &inspected->form));
    putchar('}');
}

void inspect_print_json(const struct inspected *inspected)
{
    const char *separator = "";

    puts("{");
    print_attributes(inspected);
    print_coordinates(inspected);
    fputs("  \"data_vars\": {", stdout);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (!inspected->has[metric])
            continue;
        printf("%s\n    ", separator);
        print_variable(inspected, metric);
        separator = ",";
    }
    puts("\n  }\n}");
}
