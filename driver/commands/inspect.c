/*
 * normsweep inspect: the measurements of a sweep, on a network that others have trained.
 *
 * All files and options are checked before anything is measured; values are checked by the first pass.
 */
#include "driver/commands/commands.h"
#include "driver/commands/inspect_measure.h"
#include "driver/commands/inspect_page.h"
#include "driver/commands/inspect_print.h"
#include "driver/output/mapped_file.h"
#include "driver/text/lines.h"
#include "worker/host/processors.h"

#include <stdlib.h>
#include <string.h>

/* The last part of the first `length` bytes of a path, clean. The caller frees it; NULL: no memory. */
static char *last_part(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t begin = length;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return lines_clean(strndup(path + begin, length - begin));
}

static char *name_of(const char *path)
{
    return last_part(path, strlen(path));
}

/* The name of a network: the folder's, if the path has one, where the name of the file is that of all. */
static char *name_of_weights(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash || strncmp(slash, "/model.safetensors", strlen("/model.safetensors")) != 0)
        return name_of(path);
    return last_part(path, (size_t)(slash - path));
}

/* Options that contradict each other, and an output that could not be written. */
static int check_output(const struct arguments *arguments, struct error *error)
{
    if (arguments_has(arguments, OPTION_VALUES) && arguments_has(arguments, OPTION_JSON))
        return error_set(error, ERROR_INPUT, "normsweep inspect: give --values or --json, not both");
    if (arguments_has(arguments, OPTION_STATES) && !arguments->output)
        return error_set(error, ERROR_INPUT, "normsweep inspect: --states needs -o OUT.nc, too");
    return arguments->output ? inspected_check(arguments->output, error) : 0;
}

static void print(const struct inspected *inspected, const struct arguments *arguments)
{
    if (arguments_has(arguments, OPTION_JSON))
        inspect_print_json(inspected);
    else if (!arguments_has(arguments, OPTION_VALUES))
        inspect_page_print(inspected);
    else
        inspect_print_values(inspected);
    if (inspected->note && arguments_has(arguments, OPTION_VALUES))
        fprintf(stderr, "normsweep inspect: %s\n", inspected->note);
}

/* Writes the file first: what is printed then says that all is done. */
static int tell(struct inspected *inspected, const struct arguments *arguments, struct error *error)
{
    char *file = name_of_weights(arguments->operand[0]);
    char *text = arguments->tokens ? name_of(arguments->tokens) : NULL;
    int status = 0;

    inspected->file = file;
    inspected->text = text;
    if (!file || (arguments->tokens && !text))
        status = error_set(error, ERROR_ENVIRONMENT, "%s: no memory", arguments->operand[0]);
    if (status == 0 && arguments->output)
        status = inspected_write(inspected, arguments->output, error);
    if (status == 0)
        print(inspected, arguments);
    free(file);
    free(text);
    return status;
}

static int inspect(struct trained *trained, const struct arguments *arguments, struct error *error)
{
    int64_t threads = arguments->threads ? arguments->threads : processors_count();
    struct inspected inspected;
    struct inspect_text text;
    struct arena arena;

    if (inspect_text_read(&text, trained, arguments, error) < 0)
        return -1;
    int status = inspect_measure(
        &inspected, &arena, trained, &text, threads, arguments_has(arguments, OPTION_STATES), error);
    if (status == 0) {
        status = trained_check(trained, error);
        if (status == 0)
            status = tell(&inspected, arguments, error);
        inspected_release(&inspected);
        arena_release(&arena);
    }
    inspect_text_release(&text);
    return status;
}

static int inspect_files(const struct arguments *arguments, struct error *error)
{
    struct trained trained;

    if (check_output(arguments, error) < 0 ||
        trained_open(&trained, arguments->operand[0], arguments->heads, error) < 0)
        return -1;
    int status = inspect(&trained, arguments, error);
    trained_close(&trained);
    return status;
}

int command_inspect(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    mapped_file_guard();
    status = inspect_files(&arguments, &error);
    mapped_file_unguard();
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
