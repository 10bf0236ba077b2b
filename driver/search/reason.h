#ifndef NORMSWEEP_DRIVER_SEARCH_REASON_H
#define NORMSWEEP_DRIVER_SEARCH_REASON_H

#include <stddef.h>

#include "driver/search/search.h"

/* Why a cell is left out: "not needed: norm_growth crosses 1 between weight_decay 0.01 and
 * 0.012". Returns text. */
char *search_reason(const struct search *search, int64_t cell, char *text, size_t size);

#endif
