#include "driver/commands/status.h"

#include "driver/commands/commands.h"
#include "driver/commands/status_watch.h"
#include "driver/picture/status.h"
#include "worker/host/clock.h"

static int print_once(const char *path, struct error *error)
{
    struct status status;

    if (status_read(&status, path, NULL, clock_now(), error) != 0)
        return -1;
    int result = status_print(&status, error);
    status_release(&status);
    return result;
}

int command_status(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = arguments_has(&arguments, OPTION_WATCH) ? status_watch(arguments.operand[0], &error)
                                                     : print_once(arguments.operand[0], &error);
    arguments_release(&arguments);
    return status < 0 ? command_fail(&error) : command_flush(status);
}
