#ifndef NORMSWEEP_DRIVER_COMMANDS_RUN_H
#define NORMSWEEP_DRIVER_COMMANDS_RUN_H

/*
 * The commands of the program. Each takes the command line from its own name on (argv[0] is "run"), prints
 * its results on stdout and its one line of failure on stderr, and returns the exit status.
 */
int command_run(int argc, char **argv);

#endif
