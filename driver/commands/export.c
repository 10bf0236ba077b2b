
#include "driver/weights/export.h"
#include "driver/commands/commands.h"
#include "driver/text/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The name of the weights up to its first point, in the current directory, which the caller frees; NULL
 * without memory. */
static char *name_folder(const char *weights)
{
    const char *slash = strrchr(weights, '/'), *name = slash ? slash + 1 : weights;

    return strndup(name, strcspn(name, "."));
}

/* "0a1b: GPT2LMHeadModel, 25600 parameters, float32" */
static void report(const struct saved *saved, const char *folder, const struct export_summary *summary)
{
    lines_print(stdout, 0, "%s: %s, %" PRId64 " parameters, %s", folder, home_table[summary->home].class,
        summary->parameters, saved->is_double ? "float64" : "float32");
}

static int write_to(const char *weights, const char *folder, struct error *error)
{
    struct export_summary summary;
    struct saved saved;

    if (saved_open(&saved, weights, error) < 0)
        return -1;
    int status = export_write(&saved, folder, &summary, error);
    if (status == 0)
        report(&saved, folder, &summary);
    saved_close(&saved);
    return status;
}

static int export_weights(const struct arguments *arguments, struct error *error)
{
    const char *weights = arguments->operand[0];
    char *named = arguments->folder ? strdup(arguments->folder) : name_folder(weights);

    if (!named)
        return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
    int status = *named ? write_to(weights, named, error)
                        : error_set(error, ERROR_INPUT,
                              "normsweep export: '%s' has no name for a folder; give -o DIR", weights);
    free(named);
    return status;
}

int command_export(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = export_weights(&arguments, &error);
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
