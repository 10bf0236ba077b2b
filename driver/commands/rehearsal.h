#ifndef NORMSWEEP_DRIVER_COMMANDS_REHEARSAL_H
#define NORMSWEEP_DRIVER_COMMANDS_REHEARSAL_H

#include "driver/commands/arguments.h"
#include "driver/ranks/starter.h"

/*
 * `run --dry-run`: goes through the checks of a start in their order, and prints what the start would do with
 * the dataset and with each kind of run, on which workers. Writes no file and takes no lease. Returns an exit
 * status: that of the error that `run` would end with; 0 if it would train something; else that with which it
 * would end at once.
 */
int rehearsal(const struct arguments *arguments, const struct starter *starter);

#endif
