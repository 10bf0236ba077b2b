/* What `inspect` prints: a page for people, and the dataset as JSON. */
#include "driver/inspect/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The columns of the table by layer; those by head are shown as the mean over the heads. */
static const struct {
    enum metric metric, final; /* METRIC_COUNT: none */
    const char *title;
    const char *format;
} columns[] = {
    {METRIC_layer_norm, METRIC_COUNT, "norm", "%12.5g"},
    {METRIC_saturation, METRIC_saturation_final, "saturation", "%12.5f"},
    {METRIC_hard_saturation, METRIC_hard_saturation_final, "hard", "%12.5f"},
    {METRIC_positions_attended, METRIC_COUNT, "positions", "%12.4g"},
    {METRIC_fraction_attended, METRIC_COUNT, "fraction", "%12.4f"},
    {METRIC_share_above_one, METRIC_COUNT, "above one", "%12.4f"},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static double whole(const struct inspected *inspected, enum metric metric)
{
    return *measured_values(&inspected->measured, metric);
}

static bool has_stacks(const struct inspected *inspected)
{
    return inspected->form.along[DIMENSION_STACK] > 1;
}

static void print_head(const struct inspected *inspected)
{
    const struct architecture *a = inspected->architecture;

    printf("%-12s%s, %s", "network", inspected->family, param_find("network")->words[a->network]);
    for (int64_t stack = 0; stack < architecture_stacks(a); stack++) {
        const struct stack_form form = architecture_stack(a, stack);
        printf("%s%" PRId64, stack ? " + " : ", ", form.end - form.begin);
    }
    printf(" layers, width %" PRId64 ", %" PRId64 " heads, feed-forward %" PRId64 "\n", a->width, a->heads,
        a->feedforward);
    printf("%-12s%" PRId64 ", vocabulary %" PRId64 "\n", "parameters", inspected->parameters, a->vocabulary);
    printf("%-12slayers %.6g, embeddings %.6g, output ", "norms", whole(inspected, METRIC_param_norm),
        whole(inspected, METRIC_embedding_norm));
    if (whole(inspected, METRIC_output_norm) > 0)
        printf("%.6g", whole(inspected, METRIC_output_norm));
    else
        printf("%s", inspected->has_output ? "tied" : "none");
    printf(", everything %.6g\n", whole(inspected, METRIC_total_norm));
}

static void print_text(const struct inspected *inspected)
{
    if (!inspected->tokens)
        return;
    printf("%-12s%s, %" PRId64 " tokens in %" PRId64 " sequence%s of at most %" PRId64, "text",
        inspected->text, inspected->tokens, inspected->sequences, inspected->sequences == 1 ? "" : "s",
        inspected->window);
    if (inspected->lines_cut)
        printf("; %" PRId64 " line%s cut", inspected->lines_cut, inspected->lines_cut == 1 ? "" : "s");
    if (inspected->left_out == 1)
        printf("; the last token left out");
    else if (inspected->left_out)
        printf("; the last %" PRId64 " tokens left out", inspected->left_out);
    putchar('\n');
    if (inspected->has[METRIC_valid_loss])
        printf("%-12s%.5g nats, accuracy %.2f %%, entropy of the predicted words %.4g nats\n", "loss",
            whole(inspected, METRIC_valid_loss), 100 * whole(inspected, METRIC_accuracy),
            whole(inspected, METRIC_predicted_entropy));
    if (inspected->note)
        printf("%-12s%s\n", "note", inspected->note);
}

/* Where a row begins: the stack, if there are several. */
static void print_stack(const struct inspected *inspected, int64_t stack)
{
    if (has_stacks(inspected))
        printf("%-10s", metric_dimension_table[DIMENSION_STACK].word(stack));
}

/* Values by head are shown as their mean. */
static void print_layer(const struct inspected *inspected, int64_t stack, int64_t layer)
{
    int64_t layers = inspected->form.along[DIMENSION_LAYER], stacks = inspected->form.along[DIMENSION_STACK];

    print_stack(inspected, stack);
    printf("%5" PRId64, layer);
    for (int i = 0; i < COLUMNS; i++) {
        if (!inspected->has[columns[i].metric])
            continue;
        int64_t each = (int64_t)metric_values(columns[i].metric, &inspected->form) / (stacks * layers);
        const double *values =
            measured_values(&inspected->measured, columns[i].metric) + (stack * layers + layer) * each;
        double sum = 0;
        for (int64_t k = 0; k < each; k++)
            sum += values[k];
        printf(columns[i].format, sum / (double)each);
    }
    putchar('\n');
}

/* The output of a stack. */
static void print_final(const struct inspected *inspected, int64_t stack)
{
    print_stack(inspected, stack);
    printf("%5s", "final");
    for (int i = 0; i < COLUMNS && inspected->has[columns[i].metric]; i++) {
        if (columns[i].final == METRIC_COUNT)
            printf("%12s", "");
        else
            printf(columns[i].format, measured_values(&inspected->measured, columns[i].final)[stack]);
        if (columns[i].metric == METRIC_hard_saturation)
            break;
    }
    putchar('\n');
}

void inspect_print_page(const struct inspected *inspected)
{
    const struct architecture *a = inspected->architecture;

    print_head(inspected);
    print_text(inspected);
    printf("\n%s%5s", has_stacks(inspected) ? "stack     " : "", "layer");
    for (int i = 0; i < COLUMNS; i++)
        if (inspected->has[columns[i].metric])
            printf("%12s", columns[i].title);
    putchar('\n');
    for (int64_t stack = 0; stack < architecture_stacks(a); stack++) {
        const struct stack_form form = architecture_stack(a, stack);
        for (int64_t layer = 0; layer < form.end - form.begin; layer++)
            print_layer(inspected, stack, layer);
        if (inspected->has[METRIC_saturation_final])
            print_final(inspected, stack);
    }
}

/* ---- JSON ---- */

/* The values of a variable from its dimension number `from` on, as nested lists. */
static void put_values(struct json_writer *writer, const char *name, const struct variable *variable,
    int from, const double **next)
{
    if (from == variable->rank) {
        json_writer_real(writer, name, *(*next)++);
        return;
    }
    INVARIANT(from < METRIC_RANK_MOST, "%s: dimension %d", variable->name, from);
    json_writer_open(writer, name, '[');
    for (int64_t i = 0; i < variable->length[from]; i++)
        put_values(writer, NULL, variable, from + 1, next);
    json_writer_close(writer, ']');
}

static void put_coordinate(struct json_writer *writer, const struct variable *variable)
{
    const struct metric_dimension_row *dimension = &metric_dimension_table[variable->which];

    json_writer_open(writer, "data", '[');
    for (int64_t i = 0; i < variable->length[0]; i++) {
        if (dimension->word)
            json_writer_text(writer, NULL, dimension->word(i));
        else if (dimension->is_real)
            json_writer_real(writer, NULL, dimension->number(i));
        else
            json_writer_whole(writer, NULL, (int64_t)dimension->number(i));
    }
    json_writer_close(writer, ']');
}

/* All variables of a kind, as one object. */
static void put_variables(
    struct json_writer *writer, const char *name, const struct inspected *inspected, enum variable_kind kind)
{
    json_writer_open(writer, name, '{');
    for (int id = 0; id < inspected->variables; id++) {
        const struct variable *variable = &inspected->variable[id];
        if (variable->kind != kind)
            continue;
        json_writer_open(writer, variable->name, '{');
        json_writer_open(writer, "dims", '[');
        for (int i = 0; i < variable->rank; i++)
            json_writer_text(writer, NULL, variable->dimension[i]);
        json_writer_close(writer, ']');
        if (kind == VARIABLE_METRIC) {
            const double *next = measured_values(&inspected->measured, (enum metric)variable->which);
            put_values(writer, "data", variable, 0, &next);
        } else {
            put_coordinate(writer, variable);
        }
        json_writer_close(writer, '}');
    }
    json_writer_close(writer, '}');
}

void inspect_print_json(const struct inspected *inspected)
{
    struct inspected_attribute attribute[INSPECTED_ATTRIBUTES];
    int count = inspected_attributes(inspected, attribute);
    struct json_writer writer = {.out = stdout};

    json_writer_open(&writer, NULL, '{');
    json_writer_open(&writer, "attrs", '{');
    for (int i = 0; i < count; i++) {
        if (attribute[i].text)
            json_writer_text(&writer, attribute[i].name, attribute[i].text);
        else
            json_writer_whole(&writer, attribute[i].name, attribute[i].number);
    }
    json_writer_close(&writer, '}');
    put_variables(&writer, "coords", inspected, VARIABLE_COORDINATE);
    put_variables(&writer, "data_vars", inspected, VARIABLE_METRIC);
    json_writer_close(&writer, '}');
    putchar('\n');
}
