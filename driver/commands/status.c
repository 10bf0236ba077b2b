
#include "driver/picture/status.h"
#include "driver/commands/commands.h"
#include "driver/commands/status_wait.h"
#include "driver/commands/status_watch.h"
#include "driver/picture/status_json.h"
#include "worker/host/clock.h"

static int print_once(const char *path, bool json, struct error *error)
{
    struct status status;

    if (status_read(&status, path, NULL, clock_now(), error) != 0)
        return -1;
    int result = json ? status_json_print(&status, error) : status_print(&status, error);
    status_release(&status);
    return result;
}

static int show(const struct arguments *arguments, struct error *error)
{
    bool wait = arguments_has(arguments, OPTION_WAIT), watch = arguments_has(arguments, OPTION_WATCH);
    bool json = arguments_has(arguments, OPTION_JSON), limit = arguments_has(arguments, OPTION_LIMIT);
    const char *path = arguments->operand[0];

    if (wait && watch)
        return error_set(error, ERROR_INPUT, "normsweep status: --watch and --wait exclude each other");
    if (limit && !wait)
        return error_set(error, ERROR_INPUT, "normsweep status: --limit goes with --wait");
    if (wait)
        return status_wait(path, limit ? arguments->limit : WAIT_LIMIT, json, error);
    return watch ? status_watch(path, json, error) : print_once(path, json, error);
}

int command_status(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = show(&arguments, &error);
    arguments_release(&arguments);
    return status < 0 ? command_fail(&error) : command_flush(status);
}
