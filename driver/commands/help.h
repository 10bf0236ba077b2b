#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_H

#include <stdbool.h>

#include "driver/commands/help_dataset.h"
#include "driver/tables/dataset_tables.h"
#include "driver/text/nearest.h"

/* Inside the help command: how it prints, and what it says of a dataset. All on stdout. */

/* The forms in which a sweep file may give a list. */
void help_lists(void);

const char *help_form(
    const struct param *param, char text[HELP_FORM]); /* "integer >= 1", "pre | post | out" */

int command_help(int argc, char **argv);

#endif
