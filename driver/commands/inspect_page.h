#ifndef NORMSWEEP_DRIVER_COMMANDS_INSPECT_PAGE_H
#define NORMSWEEP_DRIVER_COMMANDS_INSPECT_PAGE_H

#include "driver/dataset/inspected.h"

/* Prints what was measured on stdout, as a page for people. */
void inspect_page_print(const struct inspected *inspected);

#endif
