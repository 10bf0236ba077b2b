/* Stands in for what is not there yet; weak, so that the real thing takes its place. */
#include "driver/commands.h"
#include "driver/dataset.h"

__attribute__((weak)) int command_run(int argc, char **argv)
{
    struct arguments arguments;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    arguments_release(&arguments);
    fputs("normsweep: not there yet\n", stderr);
    return ERROR_ENVIRONMENT;
}
__attribute__((weak)) int command_status(int argc, char **argv)
{
    return command_run(argc, argv);
}
__attribute__((weak)) int command_show(int argc, char **argv)
{
    return command_run(argc, argv);
}
