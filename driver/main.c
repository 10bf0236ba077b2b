/*
 * Finds the command and calls it. What has to happen before anything else is here: standard streams that are
 * closed, handlers of signals, and the variables of OpenBLAS, which it reads when it is loaded.
 */
#include "driver/commands/commands.h"
#include "worker/host/host.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int (*const functions[COMMAND_COUNT])(const struct arguments *arguments, struct error *error) = {
#define X(name, ...) [COMMAND_##name] = command_##name,
    COMMANDS(X)
#undef X
};

/* Opens standard streams that are closed; otherwise a dataset could get one of their descriptors, and
 * messages would be written into it. */
static void take_streams(void)
{
    int file;

    do
        file = open("/dev/null", O_RDWR);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

static bool is_version(const char *name)
{
    return strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0;
}

/* Signal handlers come first, because an earlier signal would kill a rank. Commands that only read have
 * none and end at once. */
static void prepare_process(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool trains = strcmp(name, "run") == 0 || strcmp(name, "verify") == 0;

    if (trains)
        signals_install();
    /* Only commands that use the BLAS library; --version shows it in the same state. */
    if (!trains && strcmp(name, "plan") != 0 && strcmp(name, "inspect") != 0 && !is_version(name))
        return;
    environment_prepare(argv);
    environment_threads(1); /* matrix products are divided among a run's own threads */
}

int main(int argc, char **argv)
{
    take_streams();
    prepare_process(argc, argv);
    if (argc < 2) {
        fputs("normsweep: no command; see normsweep help\n", stderr);
        return ERROR_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (is_version(name)) {
        about();
        return command_flush(0, &(struct error){.text = ""});
    }
    const struct command *command = command_find(name);
    if (!command)
        return command_unknown(name);
    argv[1] = (char *)command->name;
    return command_call(command, functions[command - command_table], argc - 1, argv + 1);
}
