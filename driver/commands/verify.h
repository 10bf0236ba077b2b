#ifndef NORMSWEEP_DRIVER_COMMANDS_VERIFY_H
#define NORMSWEEP_DRIVER_COMMANDS_VERIFY_H

int command_verify(int argc, char **argv);

#endif
