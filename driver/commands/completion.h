#ifndef NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H
#define NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H

/* Prints a file of docs/completion, which is embedded in the program. */
int command_completion(int argc, char **argv);

#endif
