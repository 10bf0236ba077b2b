#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_H

#include <stdbool.h>

#include "driver/commands/help_dataset.h"
#include "driver/tables/dataset_tables.h"
#include "driver/text/nearest.h"

/* Prints the forms of a list in a sweep file on stdout. */
void help_lists(void);

/* The values that a parameter takes: "integer >= 1", "pre | post | out". Returns text. */
const char *help_form(const struct param *param, char text[HELP_FORM]);

int command_help(int argc, char **argv);

#endif
