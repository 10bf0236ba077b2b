/* normsweep show: draws the phase diagram, or a variable over two axes. */
#include "driver/commands/inside.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/output/output.h"
#include "driver/picture/picture.h"

static int draw_picture(const struct arguments *arguments, const struct view *view, struct error *error)
{
    struct picture picture = {
        .out = stdout,
        .terminal = terminal_find(stdout),
        .view = view,
        .variable = arguments->operand_count > 1 ? arguments->operand[1] : NULL,
        .at = arguments->at.text,
        .at_count = arguments->at.count,
        .over = arguments->over,
    };

    return picture_draw(&picture, error);
}

/* A picture of what another program has altered is not what was measured. A sweep that runs has passed this,
 * and changes what is looked at. */
static int warn_of_faults(const struct view *view, struct error *error)
{
    int unknown;

    if (lease_is_held(view->name, &unknown) || verify_content(view, error) == 0)
        return 0;
    if (error->status == ERROR_ENVIRONMENT)
        return -1;
    fprintf(stderr, "%s\n", error->text);
    return 0;
}

int command_show(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    struct view view;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = view_open(&view, arguments.operand[0], &error);
    if (status == 0) {
        status = draw_picture(&arguments, &view, &error);
        if (status == 0)
            status = warn_of_faults(&view, &error);
        view_close(&view);
    }
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
