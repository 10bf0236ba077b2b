#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_H

int command_status(int argc, char **argv);

#endif
