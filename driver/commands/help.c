/*
 * The help command for people: explains keys of the sweep file, names of a dataset, values and commands, each
 * from the table that the program itself works by. help_json.c prints the same tables for scripts.
 *
 * A topic may be several things: `heads` is a parameter and a group of metrics, `phase` a variable and a
 * value of stop_when. All of them are explained. `completion` and `--schema` print files of docs/, which the
 * assembler includes in the program.
 */
#include "driver/commands/inside.h"

#include <math.h>
#include <string.h>

/* ---- files of docs ---- */

/* The path is relative to the folder where make runs. */
#define EMBED(name, path)                                                                                    \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n");                     \
    extern const char name[] __attribute__((visibility("hidden")))

EMBED(completion_bash, "docs/completion/normsweep.bash");
EMBED(completion_zsh, "docs/completion/_normsweep");
EMBED(sweep_schema, "docs/sweep.schema.json");

int command_completion(const struct arguments *arguments, struct error *error)
{
    const char *shell = arguments->operand[0];
    bool bash = strcmp(shell, "bash") == 0;

    if (!bash && strcmp(shell, "zsh") != 0)
        return error_set(error, ERROR_INPUT, "normsweep completion: takes bash or zsh and not '%s'",
            text_excerpt(shell).text);
    fputs(bash ? completion_bash : completion_zsh, stdout);
    return 0;
}

/* ---- keys of the sweep file ---- */

/* Prints a text in lines of up to 100 columns, indented by four blanks. */
static void print_wrapped(const char *text)
{
    int column = 0;

    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > 100) {
            puts("");
            column = 0;
        }
        column += printf("%s%.*s", column ? " " : "    ", length, text);
        text += length;
        text += strspn(text, " ");
    }
    puts("");
}

/* The values that a parameter takes: "integer >= 1", "pre | post | out". */
static void print_form(const struct param *param)
{
    if (param->kind == PARAM_BOOLEAN) {
        printf("true | false");
    } else if (param->words) {
        fputs(param->kind == PARAM_WEIGHTS ? "path | " : "", stdout);
        for (int i = 0; param->words[i]; i++)
            printf("%s%s", i ? " | " : "", param->words[i]);
        printf("%s", param->kind == PARAM_WORDS ? ", or some joined by +" : "");
    } else {
        printf(param->kind == PARAM_REAL ? "number" : "integer");
        if (isfinite(param->min))
            printf(" %s %.12g", param->min_open ? ">" : ">=", param->min);
        if (isfinite(param->max))
            printf("%s %s %.12g", isfinite(param->min) ? "," : "", param->max_open ? "<" : "<=", param->max);
    }
}

static void print_param(const struct param *param)
{
    char initial[PARAM_TEXT];

    printf("%s: ", param->name);
    print_form(param);
    printf("; default %s", param_format(param, param->initial, initial, sizeof(initial)));
    if (strcmp(param->unit, "1") != 0)
        printf("; in %s", param->unit);
    puts(param->axis ? "; may be an axis" : "");
    print_wrapped(param->help);
}

static void print_key(enum key key)
{
    const struct key_row *row = &key_table[key];

    printf("%s: %s%s%s\n", row->name, row->form, row->initial[0] ? "; default " : "", row->initial);
    print_wrapped(row->help);
}

/* Explains a parameter or another key of the sweep file. False: there is none of this name. */
static bool print_input(const char *topic)
{
    const struct param *param = param_find(topic);
    enum key key = key_find(topic);

    if (param)
        print_param(param);
    if (param && param->axis)
        puts(param->words || param->kind == PARAM_BOOLEAN
                 ? "It becomes an axis if its value is a list: [a, b, ...]"
                 : help_lists);
    if (key < KEY_COUNT)
        print_key(key);
    return param || key < KEY_COUNT;
}

/* Explains the parameters of which the topic is a value. False: there is none. */
static bool print_value(const char *topic)
{
    bool found = false, truth = strcmp(topic, "true") == 0 || strcmp(topic, "false") == 0;
    int64_t value;

    for (const struct param *param = param_table; param < param_table + param_count; param++) {
        if (param->kind == PARAM_BOOLEAN ? !truth : !param->words || !param_find_word(param, topic, &value))
            continue;
        printf("%s is a value of %s\n", topic, param->name);
        print_param(param);
        found = true;
    }
    return found;
}

/* ---- names of a dataset ---- */

static void print_metric(int metric)
{
    const struct metric_row *row = &metric_table[metric];
    const struct metric_shape_row *shape = &metric_shape_table[row->shape];
    const char *group = metric_group_names[row->group];

    printf("%s%s", row->name, shape->rank ? "(" : "");
    for (int i = 0; i < shape->rank; i++) {
        bool optional = shape->dimension[i] == DIMENSION_STACK && row->shape != METRIC_PER_STACK_OF_TWO;
        printf("%s%s%s%s", optional ? "[" : "", i ? ", " : "",
            metric_dimension_table[shape->dimension[i]].name, optional ? "]" : "");
    }
    printf("%s: %s", shape->rank ? ")" : "", row->long_name);
    printf(strcmp(row->unit, "1") == 0 ? "\n" : ", in %s\n", row->unit);
    print_wrapped(row->help);
    if (row->group == GROUP_ALWAYS)
        puts("    measured in every sweep");
    else
        printf("    measured with measure: {metrics: [%s]}%s\n", group,
            metric_group_initial[row->group] ? ", on by default" : "");
}

/* "norms: a group of metrics, measured by default", and their names. */
static void print_group(int group)
{
    struct string names = {0};

    printf("%s: a group of metrics, measured %s\n", metric_group_names[group], help_measured(group));
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if ((int)metric_table[metric].group == group)
            string_format(&names, "%s%s", names.length ? ", " : "", metric_table[metric].name);
    print_wrapped(string_text(&names));
    string_release(&names);
}

static void print_dimension(int dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    printf("%s: %s, a dimension of metrics\n", row->name, row->long_name);
    if (row->comment[0])
        print_wrapped(row->comment);
}

static void print_nature(int nature)
{
    printf("%s: a nature of variables\n", nature_table[nature].word);
    print_wrapped(nature_table[nature].meaning);
}

static void print_run_variable(int variable)
{
    const struct run_variable_row *row = &run_variable_table[variable];
    int count;
    const char *const *words = run_variable_flags((enum run_variable)variable, &count);

    printf("%s: %s%s", row->name, row->long_name, row->type == STORED_BYTE ? ": " : ", ");
    for (int i = 0; i < count; i++)
        printf("%s%d %s", i ? ", " : "", i, words[i]);
    if (count == 0 && strcmp(row->unit, "1") != 0)
        printf("in %s", row->unit);
    else if (count == 0)
        printf(row->type == STORED_TEXT ? "a text" : "a number");
    puts("; of every run");
    print_wrapped(row->comment);
}

static void print_session_variable(int variable)
{
    const struct session_variable_row *row = &session_variable_table[variable];

    printf("%s: %s, %s; of every session, a start of the program\n", row->name, row->long_name,
        row->type == STORED_TEXT ? "a text" : "a number");
}

static void print_attribute(int attribute)
{
    printf("%s: a global attribute\n", attribute_table[attribute].name);
    print_wrapped(attribute_table[attribute].meaning);
}

/* The tables of a dataset. Each row begins with its name. */
static const struct table {
    const void *rows;
    size_t size;
    int count;
    void (*print)(int row);
} tables[] = {
#define TABLE(rows, print)                                                                                   \
    {                                                                                                        \
        rows, sizeof(*(rows)), (int)(sizeof(rows) / sizeof(*(rows))), print                                  \
    }
    TABLE(metric_group_names, print_group),
    TABLE(metric_table, print_metric),
    TABLE(metric_dimension_table, print_dimension),
    TABLE(nature_table, print_nature),
    TABLE(run_variable_table, print_run_variable),
    TABLE(session_variable_table, print_session_variable),
    TABLE(attribute_table, print_attribute),
};
enum { TABLES = (int)(sizeof(tables) / sizeof(*tables)) };

static const char *name_of(const struct table *table, int row)
{
    return *(const char *const *)((const char *)table->rows + (size_t)row * table->size);
}

/* Explains everything in a dataset that has this name: the metrics of a group, too, unless one of them has
 * the name of the group and so is what was asked for. False: there is nothing. */
static bool print_part(const char *topic)
{
    enum metric_group group = GROUP_COUNT;
    bool found = false, metric = false;

    for (const struct table *table = tables; table < tables + TABLES; table++) {
        for (int row = 0; row < table->count; row++) {
            if (strcmp(name_of(table, row), topic) != 0)
                continue;
            table->print(row);
            found = true;
            metric = metric || table->print == print_metric;
            if (table->print == print_group)
                group = (enum metric_group)row;
        }
    }
    for (int i = 0; !metric && group < GROUP_COUNT && i < METRIC_COUNT; i++)
        if (metric_table[i].group == group)
            print_metric(i);
    return found;
}

/* ---- the command ---- */

/* Refuses an unknown topic and suggests the nearest one. */
static int refuse_topic(const char *topic, struct error *error)
{
    struct nearest nearest;

    nearest_init(&nearest, topic);
    nearest_offer(&nearest, "params");
    nearest_offer(&nearest, "metrics");
    for (size_t i = 0; i < param_count; i++)
        nearest_offer(&nearest, param_table[i].name);
    for (enum key key = 0; key < KEY_COUNT; key++)
        nearest_offer(&nearest, key_table[key].name);
    for (const struct table *table = tables; table < tables + TABLES; table++)
        for (int row = 0; row < table->count; row++)
            nearest_offer(&nearest, name_of(table, row));
    return error_set(error, ERROR_INPUT, "normsweep help: unknown name '%s'%s", text_excerpt(topic).text,
        nearest.best ? nearest_hint(&nearest).text
                     : "; see normsweep help params and normsweep help metrics");
}

int command_help(const struct arguments *arguments, struct error *error)
{
    bool json = arguments_has(arguments, OPTION_JSON), schema = arguments_has(arguments, OPTION_SCHEMA);
    const char *topic = arguments->operand_count > 0 ? arguments->operand[0] : NULL;

    if (json + schema + arguments->operand_count > 1)
        return error_set(error, ERROR_INPUT, "help: --json, --schema and a topic each stand alone");
    if (json) {
        help_json();
    } else if (schema) {
        fputs(sweep_schema, stdout);
    } else if (!topic) {
        command_overview();
    } else if (strcmp(topic, "params") == 0) {
        for (size_t i = 0; i < param_count; i++)
            print_param(&param_table[i]);
        for (enum key key = 0; key < KEY_COUNT; key++)
            print_key(key);
        puts(help_lists);
    } else if (strcmp(topic, "metrics") == 0) {
        for (const struct table *table = tables; table < tables + TABLES; table++)
            for (int row = 0; row < table->count; row++)
                table->print(row);
    } else if (command_find(topic)) {
        command_page(command_find(topic));
    } else {
        bool input = print_input(topic), part = print_part(topic), value = print_value(topic);
        if (!input && !part && !value)
            return refuse_topic(topic, error);
    }
    return 0;
}
