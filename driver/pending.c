/* Stands in for what is not there yet; weak, so that the real thing takes its place. */
#include "driver/commands.h"
#include "driver/dataset.h"

__attribute__((weak)) int command_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 3;
}
__attribute__((weak)) int command_plan(int argc, char **argv)
{
    return command_run(argc, argv);
}
__attribute__((weak)) int command_status(int argc, char **argv)
{
    return command_run(argc, argv);
}
__attribute__((weak)) int command_show(int argc, char **argv)
{
    return command_run(argc, argv);
}
__attribute__((weak)) bool dataset_reserves(const char *name)
{
    static const char *const names[] = {"outcome", "phase", "last_step", "diverged_step", "step", "layer",
        "tensor", "seconds", "session", "attempts", "host", "reason"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (__builtin_strcmp(names[i], name) == 0)
            return true;
    return false;
}
