#ifndef NORMSWEEP_DRIVER_COMMANDS_RUN_H
#define NORMSWEEP_DRIVER_COMMANDS_RUN_H

/*
 * Like all commands: takes the command line from its own name on (argv[0] is "run"), prints results on stdout
 * and at most one line of error on stderr, and returns the exit status.
 */
int command_run(int argc, char **argv);

#endif
