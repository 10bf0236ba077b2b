#include "driver/commands/completion.h"

#include "driver/commands/commands.h"

#include <stdio.h>
#include <string.h>

/* The assembler includes the file; its path is relative to the folder where make runs. */
#define EMBED(name, path)                                                                                    \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n");                     \
    extern const char name[] __attribute__((visibility("hidden")))

EMBED(completion_bash, "docs/completion/normsweep.bash");
EMBED(completion_zsh, "docs/completion/_normsweep");

int command_completion(int argc, char **argv)
{
    static const struct {
        const char *shell;
        const char *script;
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}};
    struct arguments arguments;
    char excerpt[EXCERPT_SIZE];
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    const char *shell = arguments.operand[0];
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
        if (strcmp(shell, shells[i].shell) == 0) {
            fputs(shells[i].script, stdout);
            arguments_release(&arguments);
            return command_flush(0);
        }
    }
    error_set(&error, ERROR_INPUT, "normsweep completion: takes bash or zsh and not '%s'",
        place_excerpt(shell, excerpt));
    arguments_release(&arguments);
    return command_fail(&error);
}
