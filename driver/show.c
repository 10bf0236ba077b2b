/* normsweep show: the phase diagram, or any variable. */
#include "driver/commands.h"
#include "driver/picture.h"
#include "driver/view.h"

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
        status = arguments.operand_count > 1 ? field_show(&view, arguments.operand[1], &error)
                                             : diagram_show(&view, &error);
        view_close(&view);
    }
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
