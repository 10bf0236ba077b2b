#ifndef NORMSWEEP_DRIVER_SWEEP_TEXTS_H
#define NORMSWEEP_DRIVER_SWEEP_TEXTS_H

#include <stdio.h>

#include "driver/sweep/sweep.h"

/*
 * Loads the corpus and checks it against every cell that is not skipped: the text must fill a batch, and so
 * on. On failure -1; the message has the place of the key at fault.
 */
int sweep_load_corpus(const struct sweep *sweep, struct corpus *corpus, struct error *error);

/* Prints "; 2.41 % of the validation tokens are <unk>", or nothing without validation text or <unk>. */
void sweep_print_unknown(const struct corpus *corpus, FILE *out);

/*
 * The digest of one run: its parameters, the corpus's content, measure and validate. Two runs with equal
 * digests give equal numbers (with the same BLAS kernel and vector level).
 */
void sweep_run_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest);

/* The digest that runs have in common which differ only in `steps`. */
void sweep_trunk_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest);

/* The digest of everything that the numbers of all runs depend on: axes and fixed parameters, the corpus's
 * content, measure and validate. */
void sweep_digest(const struct sweep *sweep, const struct corpus *corpus, struct digest *digest);

/*
 * The steps of the dataset's `step` coordinate: the sorted union of the rows of all cells that are not
 * skipped, and their number in *count. The caller frees them. Takes a corpus from sweep_load_corpus.
 */
int64_t *sweep_steps(const struct sweep *sweep, const struct corpus *corpus, int64_t *count);

#endif
