#ifndef NORMSWEEP_DRIVER_COMMANDS_INSPECT_PRINT_H
#define NORMSWEEP_DRIVER_COMMANDS_INSPECT_PRINT_H

#include "driver/dataset/inspected.h"

/* What was measured, on stdout, for scripts. */

/* Lines with tabs between the columns name, stack, layer, tensor, head and value; '-' where a column does not
 * apply. Histograms are left out. */
void inspect_print_values(const struct inspected *inspected);

/* The contents of the dataset, without states, as xarray.Dataset.from_dict takes it; null: not a number. */
void inspect_print_json(const struct inspected *inspected);

#endif
