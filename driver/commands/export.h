#ifndef NORMSWEEP_DRIVER_COMMANDS_EXPORT_H
#define NORMSWEEP_DRIVER_COMMANDS_EXPORT_H

int command_export(int argc, char **argv);

#endif
