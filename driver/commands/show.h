#ifndef NORMSWEEP_DRIVER_COMMANDS_SHOW_H
#define NORMSWEEP_DRIVER_COMMANDS_SHOW_H

int command_show(int argc, char **argv);

#endif
