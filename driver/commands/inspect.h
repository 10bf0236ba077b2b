#ifndef NORMSWEEP_DRIVER_COMMANDS_INSPECT_H
#define NORMSWEEP_DRIVER_COMMANDS_INSPECT_H

int command_inspect(int argc, char **argv);

#endif
