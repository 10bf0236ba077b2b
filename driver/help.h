#ifndef NORMSWEEP_DRIVER_HELP_H
#define NORMSWEEP_DRIVER_HELP_H

#include <stdbool.h>

#include "driver/nearest.h"

/* Inside the help command: how it prints, and what it says of a dataset. All on stdout. */

/* Text in lines of up to 100 columns, each behind four blanks. */
void help_wrapped(const char *text);

/* A row of a Markdown table. */
void help_row(const char *const *cells, int count);

/* All that a dataset holds over its grid: the groups of metrics, the metrics, what else is known of a run. */
void help_metrics(void);
void help_metrics_markdown(void);

/* The metric, group of metrics, dimension or variable of a run of that name. False: there is none. */
bool help_dataset(const char *topic);

/* Offers all those names. */
void help_offer_dataset(struct nearest *nearest);

#endif
