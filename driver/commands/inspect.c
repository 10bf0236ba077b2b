/*
 * normsweep show: draws the phase diagram of a dataset, or a variable over two axes; and normsweep inspect:
 * the measurements of a sweep, on the weights of a trained network.
 *
 * Of inspect, all files and options are checked before anything is measured; values are checked by the first
 * pass. Networks of others come as files of analysis/weights, which knows their families.
 */
#include "driver/inspect/inspect.h"
#include "driver/commands/inside.h"
#include "driver/picture/picture.h"
#include "worker/checkpoint/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int command_show(const struct arguments *arguments, struct error *error)
{
    struct view view;
    int unknown;

    if (view_open(&view, arguments->operand[0], error) != 0)
        return -1;
    struct picture picture = {
        .out = stdout,
        .terminal = terminal_find(stdout),
        .view = &view,
        .variable = arguments->operand_count > 1 ? arguments->operand[1] : NULL,
        .at = arguments->at.text,
        .at_count = arguments->at.count,
        .over = arguments->over,
    };
    int status = picture_draw(&picture, error);
    /* A picture of what another program has altered is not what was measured. A sweep that runs has passed
     * this, and changes what is looked at. */
    if (status == 0 && !lease_is_held(view.name, &unknown) && verify_content(&view, error) != 0) {
        if (error->status == ERROR_ENVIRONMENT)
            status = -1;
        else
            fprintf(stderr, "%s\n", error->text);
    }
    view_close(&view);
    return status;
}

/* ---- inspect ---- */

/* The last part of a file's path, clean. The caller frees it. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return lines_clean(memory_copy(slash ? slash + 1 : path));
}

/* Options that contradict each other, and an output that could not be written. */
static int check_options(const struct arguments *arguments, struct error *error)
{
    static const enum option of_text[] = {
        OPTION_LINES, OPTION_MASK, OPTION_SENTINEL, OPTION_STATES, OPTION_CONTEXT};

    for (size_t i = 0; !arguments->tokens && i < sizeof(of_text) / sizeof(*of_text); i++)
        if (arguments_has(arguments, of_text[i]))
            return error_set(error, ERROR_INPUT,
                "normsweep inspect: --%s needs a text; give --tokens IDS, too",
                option_table[of_text[i]].word);
    if (arguments_has(arguments, OPTION_STATES) && !arguments->output)
        return error_set(error, ERROR_INPUT, "normsweep inspect: --states needs -o OUT.nc, too");
    return arguments->output ? inspected_check(arguments->output, error) : 0;
}

static int inspect(struct saved *network, const struct arguments *arguments, struct error *error)
{
    const struct inspect_request request = {
        .tokens = arguments->tokens,
        .lines = arguments_has(arguments, OPTION_LINES),
        .states = arguments_has(arguments, OPTION_STATES),
        .context = arguments->context,
        .mask = arguments_has(arguments, OPTION_MASK) ? arguments->mask : -1,
        .sentinel = arguments_has(arguments, OPTION_SENTINEL) ? arguments->sentinel : -1,
        .threads = arguments->threads ? arguments->threads : processors_count(),
    };
    struct inspected inspected;
    struct arena arena;
    int status = 0;

    if (inspect_network(&inspected, &arena, network, &request, error) < 0)
        return -1;
    char *file = name_of(network->path), *text = arguments->tokens ? name_of(arguments->tokens) : NULL;
    inspected.file = file;
    inspected.text = text;
    if (arguments->output) /* first: what is printed then says that all is done */
        status = inspected_write(&inspected, arguments->output, error);
    if (status == 0 && arguments_has(arguments, OPTION_JSON))
        inspect_print_json(&inspected);
    else if (status == 0)
        inspect_print_page(&inspected);
    free(file);
    free(text);
    inspected_release(&inspected);
    arena_release(&arena);
    return status;
}

/* Names the command that makes a weights file of a network in another form: a folder, or one of its files. */
static int refuse_foreign(const char *path, struct error *error)
{
    static const char *const ends[] = {".safetensors", ".bin", ".json", ".pt", ".pth"};
    size_t length = strlen(path);
    struct stat found;
    bool foreign = stat(path, &found) == 0 && S_ISDIR(found.st_mode);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        foreign =
            foreign || (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0);
    if (!foreign)
        return 0;
    return error_set(error, ERROR_INPUT,
        "%s: not a weights file; convert it: analysis/weights import '%s' -o NET.weights.nc", path, path);
}

/* The weights of the run of a dataset that --at names, or of its only one. The caller frees the path; NULL
 * with the error set. */
static char *weights_at(const struct arguments *arguments, struct error *error)
{
    char label[LABEL_SIZE], *path = NULL;
    struct view view;

    if (view_open(&view, arguments->operand[0], error) != 0)
        return NULL;
    const struct choice_of_cells choice = {.name = view.name,
        .option = "--at",
        .axis_count = view.axis_count,
        .axis = view.axis,
        .base = &view.base,
        .text = arguments->at.text,
        .count = arguments->at.count};
    int64_t cell = selection_cell(&choice, error);
    char *folder = folder_of(view.name);
    if (cell >= 0 && folder) {
        struct run run;
        grid_run(view.axis_count, view.axis, &view.base, cell, &run);
        path = saved_find(folder, &run);
        if (!path)
            error_set(error, ERROR_INPUT,
                "%s: no weights of %s; a sweep with save_weights: true keeps those of each run that is done",
                folder, label_named(view.axis_count, view.axis, cell, NAMING_WHOLE, label));
    }
    free(folder);
    view_close(&view);
    return path;
}

int command_inspect(const struct arguments *arguments, struct error *error)
{
    const char *path = arguments->operand[0];
    char *found = NULL;
    struct saved network;
    struct error ignored;

    if (check_options(arguments, error) < 0)
        return -1;
    if (arguments->at.count == 0 && refuse_foreign(path, error) < 0)
        return -1;
    if (arguments->at.count > 0 || view_check(path, &ignored) == 0)
        path = found = weights_at(arguments, error);
    int status = path ? saved_open(&network, path, NULL, error) : -1;
    if (status == 0) {
        status = inspect(&network, arguments, error);
        saved_close(&network);
    }
    free(found);
    return status;
}
