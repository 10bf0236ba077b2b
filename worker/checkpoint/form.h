#ifndef NORMSWEEP_WORKER_CHECKPOINT_FORM_H
#define NORMSWEEP_WORKER_CHECKPOINT_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "model/core/breath.h"
#include "worker/train/train.h"

/*
 * The form of a checkpoint as a netCDF file. Weights, moments and what the instruments keep have one variable
 * per kind of tensor, with a leading dimension `layer` for tensors of layers; matrices are [out, in]. The
 * rows so far lie over `step`, as in the metric table. Position, times, parameters and everything that
 * numbers depend on are attributes.
 *
 * A weights file has the weights alone, and says what network they are: docs/formats.md has this form, in
 * which analysis/weights writes networks of others, too.
 */

/* The version of the form, and the two kinds of files, as the attributes format_version and title have them.
 */
enum { FORM_VERSION = 10 };
#define FORM_TITLE_CHECKPOINT "checkpoint of a run"
#define FORM_TITLE_WEIGHTS "weights of a network"
#define FORM_FAMILY_RUN "normsweep" /* the attribute `family` of a run's weights */

/*
 * Writes a file without its seal, only the weights if `weights_alone`. Syncs large contents piece by piece,
 * with a breath between pieces. Returns a netCDF status or an errno; on failure a file may be left.
 */
int form_write(const char *path, const struct digest *digest, const struct snapshot *snapshot,
    bool weights_alone, const struct breath *breath);

/*
 * Reads a file whose seal was checked. Returns 0, or a netCDF status or an errno, when the snapshot holds
 * anything. For a file of another run, format, BLAS kernel, vector level or scalar it returns 0, sets `unfit`
 * to the reason, and leaves the snapshot unchanged; otherwise `unfit` is "".
 */
int form_read(const char *path, const struct digest *digest, struct snapshot *snapshot,
    const struct breath *breath, char *unfit, size_t size);

/* The same checks without reading the contents: sets only the step. */
int form_look(const char *path, const struct digest *digest, int64_t *step, char *unfit, size_t size);

#endif
