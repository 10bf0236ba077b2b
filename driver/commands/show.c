/* normsweep show: draws the phase diagram, or a variable over two axes. */
#include "driver/commands/inside.h"
#include "driver/picture/picture.h"

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
