#ifndef NORMSWEEP_DRIVER_COMMANDS_CHECK_H
#define NORMSWEEP_DRIVER_COMMANDS_CHECK_H

int command_check(int argc, char **argv);

#endif
