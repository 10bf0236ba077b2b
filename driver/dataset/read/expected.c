/*
 * What a file has against what the table of variables expects of it: the outline says which rows the file
 * should have, verify_variable compares one of them with the variable of its name. The message of a mismatch
 * shows both, since people repair such files by hand.
 */
#include "driver/dataset/read/inside.h"

#include <stdarg.h>

enum { DIMENSIONS_TEXT = 256, FAULT_TEXT = 800 };

struct outline view_outline(const struct view *view)
{
    struct outline outline = {.axis_count = view->axis_count,
        .axis = view->axis,
        .base = &view->base,
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

/* "seed, learning_rate, 64 characters"; a length of 0 is any. */
static void join_dimension(char text[DIMENSIONS_TEXT], const struct file_dimension *dimension)
{
    size_t used = strlen(text);
    const char *comma = used ? ", " : "";

    if (dimension->name)
        snprintf(text + used, DIMENSIONS_TEXT - used, "%s%s", comma, dimension->name);
    else if (dimension->length)
        snprintf(
            text + used, DIMENSIONS_TEXT - used, "%s%lld characters", comma, (long long)dimension->length);
    else
        snprintf(text + used, DIMENSIONS_TEXT - used, "%scharacters", comma);
}

int verify_variable(const struct view *view, const struct outline *outline, const struct variable *expected,
    int *variable, struct error *error)
{
    char here[NC_MAX_NAME + 1], there[NC_MAX_NAME + 1], wanted[DIMENSIONS_TEXT] = "",
                                                        found[DIMENSIONS_TEXT] = "";
    int count, dimensions[NC_MAX_VAR_DIMS];
    int status = lookup_variable(view->file, expected->name, variable);
    struct file_dimension shape[DIMENSIONS_MAX];
    nc_type type;

    if (status == NC_ENOTVAR)
        return verify_fault(error, view, "%s is missing", expected->name);
    if (status == NC_NOERR)
        status = nc_inq_var(view->file, *variable, NULL, &type, &count, dimensions, NULL);
    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    if (type != expected->type)
        return verify_fault(error, view, "%s is of type %s and not %s", expected->name,
            type_name(view, type, there), type_name(view, expected->type, here));
    int rank = variable_shape(outline, expected, shape);
    bool match = count == rank;
    for (int i = 0; i < count; i++) {
        struct file_dimension other = {.name = here};
        size_t length = 0;
        here[0] = '\0';
        nc_inq_dim(view->file, dimensions[i], here, &length);
        other.length = (int64_t)length;
        if (type == NC_CHAR && i == count - 1) {
            other.name = NULL;
            match = match && (expected->width == 0 || expected->width == other.length);
        } else {
            match = match && strcmp(here, shape[i].name) == 0;
        }
        join_dimension(found, &other);
    }
    for (int i = 0; i < rank; i++)
        join_dimension(wanted, &shape[i]);
    return match ? 0
                 : verify_fault(
                       error, view, "%s is over (%s) and not over (%s)", expected->name, found, wanted);
}
