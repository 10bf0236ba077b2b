#ifndef NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H
#define NORMSWEEP_DRIVER_COMMANDS_COMPLETION_H

/* Prints a file of docs/completion, as it was when the program was built. */
int command_completion(int argc, char **argv);

#endif
