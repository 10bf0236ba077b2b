#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_H

#include <stdbool.h>

#include "driver/tables/dataset_tables.h"
#include "driver/text/nearest.h"

/* Inside the help command: how it prints, and what it says of a dataset. All on stdout. */

/* Text in lines of up to 100 columns, each behind four blanks. */
void help_wrapped(const char *text);

/* Text in lines of up to 120 columns. */
void help_paragraph(const char *text);

/* A row of a Markdown table. */
void help_row(const char *const *cells, int count);

/* One table of the reference as Markdown, or with NULL all of them as a page. An exit status: 2 for a name
 * that none has, which is then said. */
int help_markdown(const char *name);

/* The forms in which a sweep file may give a list. */
void help_lists(void);

/* All that a dataset holds beside its axes: groups of metrics, metrics, what else is known of runs, sessions.
 */
void help_metrics(void);

/* The metric, group of metrics, dimension, attribute or other variable of that name. False: there is none. */
bool help_dataset(const char *topic);

/* Calls take with all those names, and one line on each; some, heads for one, come twice. */
typedef void help_take(void *context, const char *name, const char *help);
void help_each_of_dataset(help_take *take, void *context);

/* Words for parts of the tables; each returns its second argument. */
enum { HELP_FORM = 256, HELP_DIMENSIONS = 64, HELP_NAMES = METRIC_COUNT * 32 };
const char *help_form(
    const struct param *param, char text[HELP_FORM]); /* "integer >= 1", "pre | post | out" */
const char *help_dimensions(enum metric_shape shape, char text[HELP_DIMENSIONS]); /* "step, layer" */
const char *help_members(enum metric_group group, char text[HELP_NAMES]); /* "train_loss, valid_loss, ..." */
const char *help_values(enum run_variable variable, char text[HELP_NAMES]); /* "0 none, 1 growing", "in s" */

/* When a group is measured: "in every sweep". */
const char *help_measured(enum metric_group group);

#endif
