#ifndef NORMSWEEP_DRIVER_RANKS_DESCRIPTORS_H
#define NORMSWEEP_DRIVER_RANKS_DESCRIPTORS_H

#include "model/core/error.h"

/*
 * Makes sure that mpirun can open what `workers` workers and a coordinator on this machine need: raises this
 * process's limit of file descriptors, which mpirun inherits, where it is too low. -1 and one line: it cannot
 * be raised so far.
 */
int descriptors_reserve(int workers, struct error *error);

#endif
