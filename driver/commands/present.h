#ifndef NORMSWEEP_DRIVER_COMMANDS_PRESENT_H
#define NORMSWEEP_DRIVER_COMMANDS_PRESENT_H

#include "driver/dataset/view.h"

/* The session of this process: with what it trains. The caller keeps both texts. `mpi` "": none. */
struct session present_session(const char *mpi, const char *host);

enum { PRESENT_TEXT = 512 };

/*
 * Was a session of a dataset trained with something else than this process has, on which a run's numbers may
 * depend? Fills `there` and `here` with what differs: "blas_kernel Haswell, vector_level avx2"; both are ""
 * if nothing does. What the dataset does not know does not differ. -1: the dataset cannot be read.
 */
int present_compare(const struct view *view, int64_t session, char there[PRESENT_TEXT],
    char here[PRESENT_TEXT], struct error *error);

#endif
