#ifndef NORMSWEEP_DRIVER_RANKS_DESCRIPTORS_H
#define NORMSWEEP_DRIVER_RANKS_DESCRIPTORS_H

#include "model/core/error.h"

/*
 * Raises this process's limit of file descriptors, which mpirun inherits, if it is too low for `workers`
 * workers, `spares` spares and a coordinator on this machine. -1 with a message in error: the limit cannot be
 * raised that far.
 */
int descriptors_reserve(int workers, int spares, struct error *error);

#endif
