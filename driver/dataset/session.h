#ifndef NORMSWEEP_DRIVER_DATASET_SESSION_H
#define NORMSWEEP_DRIVER_DATASET_SESSION_H

#include "driver/dataset/ledger.h"

/* The first free row of the session table; its length if none is free. Returns a netCDF status. */
int session_find(const struct view *view, int64_t *session);

/* Writes this start's row into an open file. Returns a netCDF status. */
int session_write(const struct dataset *dataset, int file, const struct session *session);

#endif
