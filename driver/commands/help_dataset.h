#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_DATASET_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_DATASET_H

#include "driver/tables/dataset_tables.h"

/* What the help command says of a dataset. All on stdout. */

/* Words for parts of the tables; each returns its second argument. */
enum { HELP_FORM = 256, HELP_DIMENSIONS = 64, HELP_NAMES = METRIC_COUNT * 32 };
/* All that a dataset holds beside its axes: groups of metrics, metrics, what else is known of runs, sessions.
 */
void help_metrics(void);

/* The metric, group of metrics, dimension, attribute or other variable of that name. False: there is none. */
bool help_dataset(const char *topic);

typedef void help_take(void *context, const char *name, const char *help);
/* Calls take with all those names, and one line on each; some, heads for one, come twice. */
void help_each_of_dataset(help_take *take, void *context);

const char *help_dimensions(enum metric_shape shape, char text[HELP_DIMENSIONS]); /* "step[, stack], layer" */

const char *help_members(enum metric_group group, char text[HELP_NAMES]); /* "train_loss, valid_loss, ..." */

const char *help_values(enum run_variable variable, char text[HELP_NAMES]); /* "0 none, 1 growing", "in s" */

/* "1 orthogonal_updates plus 2 aligned_updates", "a number" */
const char *help_flags(enum boundary_variable variable, char text[HELP_NAMES]);

/* When a group is measured: "in every sweep". */
const char *help_measured(enum metric_group group);

#endif
