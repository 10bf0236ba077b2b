/*
 * What a file has against what the table of variables expects of it: the outline says which rows the file
 * should have, verify_variable compares one of them with the variable of its name. The message of a mismatch
 * shows both, since people repair such files by hand.
 */
#include "driver/dataset/read/inside.h"
#include "driver/tables/tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DIMENSIONS_TEXT = 256, FAULT_TEXT = 800 };

struct outline view_outline(const struct view *view)
{
    struct outline outline = {.axis_count = view->axis_count,
        .axis = view->axis,
        .step_count = view->step_count,
        .step = view->step,
        .sessions = view->sessions,
        .form = &view->form};

    /* Stacks are told apart only where there are several. */
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        outline.dimension[i] = view->form.along[i] > (i == DIMENSION_STACK ? 1 : 0);
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        outline.metric[i] = lookup_has_variable(view->file, metric_table[i].name);
    return outline;
}

int verify_fault(struct error *error, const struct view *view, const char *format, ...)
{
    char fault[FAULT_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault, sizeof(fault), format, arguments);
    va_end(arguments);
    return error_set(error, ERROR_INPUT, "%s: %s; " PROGRAM " did not write this", view->name, fault);
}

static const char *type_name(const struct view *view, nc_type type, char name[NC_MAX_NAME + 1])
{
    if (nc_inq_type(view->file, type, name, NULL) != NC_NOERR)
        snprintf(name, NC_MAX_NAME + 1, "%d", (int)type);
    return name;
}

/* "seed, learning_rate, 64 characters" */
static void join_names(char text[DIMENSIONS_TEXT], const char *name)
{
    size_t used = strlen(text);

    snprintf(text + used, DIMENSIONS_TEXT - used, "%s%s", used ? ", " : "", name);
}

static void expected_dimensions(
    const struct view *view, const struct variable *expected, char text[DIMENSIONS_TEXT])
{
    char width[64] = "characters";

    text[0] = '\0';
    for (int64_t i = 0; expected->of_cells && i < view->axis_count; i++)
        join_names(text, view->axis[i].name);
    for (int i = 0; i < expected->rank; i++)
        join_names(text, expected->dimension[i]);
    if (expected->width)
        snprintf(width, sizeof(width), "%lld characters", (long long)expected->width);
    if (expected->type == NC_CHAR)
        join_names(text, width);
}

/* The dimensions in the file; *match: they are the expected ones. */
static void found_dimensions(const struct view *view, const struct variable *expected, int count,
    const int *dimensions, char text[DIMENSIONS_TEXT], bool *match)
{
    int axes = expected->of_cells ? (int)view->axis_count : 0, rank = axes + expected->rank;
    bool texts = expected->type == NC_CHAR;

    text[0] = '\0';
    *match = count == rank + texts;
    for (int i = 0; i < count; i++) {
        char name[NC_MAX_NAME + 1] = "";
        size_t length = 0;
        nc_inq_dim(view->file, dimensions[i], name, &length);
        bool width = texts && i == count - 1;
        if (width) {
            *match = *match && (expected->width == 0 || (size_t)expected->width == length);
            snprintf(name, sizeof(name), "%zu characters", length);
        } else {
            const char *wanted = i < axes   ? view->axis[i].name
                                 : i < rank ? expected->dimension[i - axes]
                                            : "";
            *match = *match && strcmp(name, wanted) == 0;
        }
        join_names(text, name);
    }
}

int verify_variable(const struct view *view, const struct variable *expected, struct error *error)
{
    char here[NC_MAX_NAME + 1], there[NC_MAX_NAME + 1], wanted[DIMENSIONS_TEXT], found[DIMENSIONS_TEXT];
    int variable, count, dimensions[NC_MAX_VAR_DIMS];
    int status = lookup_variable(view->file, expected->name, &variable);
    nc_type type;
    bool match;

    if (status == NC_ENOTVAR)
        return verify_fault(error, view, "%s is missing", expected->name);
    if (status == NC_NOERR)
        status = nc_inq_var(view->file, variable, NULL, &type, &count, dimensions, NULL);
    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    if (type != expected->type)
        return verify_fault(error, view, "%s is of type %s and not %s", expected->name,
            type_name(view, type, there), type_name(view, expected->type, here));
    found_dimensions(view, expected, count, dimensions, found, &match);
    if (match)
        return 0;
    expected_dimensions(view, expected, wanted);
    return verify_fault(error, view, "%s is over (%s) and not over (%s)", expected->name, found, wanted);
}
