#ifndef NORMSWEEP_DRIVER_COMMANDS_PLAN_H
#define NORMSWEEP_DRIVER_COMMANDS_PLAN_H

int command_plan(int argc, char **argv);

#endif
