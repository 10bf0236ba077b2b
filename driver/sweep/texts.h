#ifndef NORMSWEEP_DRIVER_SWEEP_TEXTS_H
#define NORMSWEEP_DRIVER_SWEEP_TEXTS_H

#include "driver/sweep/sweep.h"

/*
 * Loads the corpus and checks every cell that is not skipped against it (a text shorter than one batch, ...).
 * On failure -1 with the place of the key at fault.
 */
int sweep_load_corpus(const struct sweep *sweep, struct corpus *corpus, struct error *error);

/*
 * The digest of one run: its parameters, the corpus's content, measure and validate. Two runs of equal digest
 * give equal numbers (under one BLAS kernel and vector level).
 */
void sweep_run_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest);

/*
 * The steps of the dataset's `step` coordinate: the sorted union of the rows of all cells not skipped.
 * Allocated, the caller's to free; the count in *count. NULL: no memory. The corpus has passed
 * sweep_load_corpus.
 */
int64_t *sweep_steps(const struct sweep *sweep, const struct corpus *corpus, int64_t *count);

#endif
