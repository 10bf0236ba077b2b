#ifndef NORMSWEEP_DRIVER_DATASET_SESSION_H
#define NORMSWEEP_DRIVER_DATASET_SESSION_H

#include "driver/dataset/ledger.h"

/* The first row of the session table that is free; its length where none is. A netCDF status. */
int session_find(const struct view *view, int64_t *session);

/* Writes this start's row into an open file. A netCDF status. */
int session_write(const struct dataset *dataset, int file, const struct session *session);

#endif
