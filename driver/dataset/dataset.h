#ifndef NORMSWEEP_DRIVER_DATASET_DATASET_H
#define NORMSWEEP_DRIVER_DATASET_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/longer.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * The dataset is the ledger of a sweep: a CDF-5 file that is laid out and filled completely before it gets
 * its name, then written in place; dataset.c explains the order of writes, with which it survives a crash at
 * any moment.
 */
struct dataset;

/* A run fails after so many deaths of its workers without a checkpoint in between. */
enum { DEATHS_MOST = 3 };

/* One row of the session table, which describes one start of the program. Texts are borrowed. */
struct session {
    const char *version, *commit, *compiler, *blas, *blas_kernel, *vector_level, *mpi, *host;
};

/* What to do with an existing output. */
struct dataset_options {
    bool fresh; /* rename it to OUT.nc.old and create a new one */
    bool retry_failed; /* make failed runs pending */
    const struct output_file *known; /* refuse a missing output, and another file; NULL: this start has not
                                      * opened it before */
};

/*
 * Opens the sweep's output for writing: creates it, or continues a file of the same sweep, or extends a file
 * if the axes have gained values (writes a new file beside it, syncs and renames it; keeps finished runs).
 * Running cells become pending; those without a checkpoint in the output's folder count a death. The sweep is
 * borrowed until dataset_close, the corpus and the session only for this call. Without a session (NULL), for
 * callers that run nothing, no row of the session table is used. On failure -1: ERROR_INPUT if the output
 * cannot be written, is not a dataset of this program, or holds a different sweep (the message names every
 * difference); ERROR_ENVIRONMENT for I/O.
 */
int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error);

/* Has dataset_open set the file of a shorter sweep aside, because steps has grown? Borrowed. */
const struct longer *dataset_longer(const struct dataset *dataset);

/* Drops everything that is not in the file yet, after another process has taken over the output. */
void dataset_forget(struct dataset *dataset);

/* Syncs and closes; takes NULL. Drops results that wait for a commit; their runs stay running. */
int dataset_close(struct dataset *dataset, struct error *error);

/* The outcome of every cell [sweep->cells], kept up to date by the calls below. Borrowed. */
const signed char *dataset_outcomes(const struct dataset *dataset);

/* Makes everything written visible to readers, without a sync. Call it at least every 2 s. */
int dataset_flush(struct dataset *dataset, struct error *error);

#endif
