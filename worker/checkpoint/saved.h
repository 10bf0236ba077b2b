#ifndef NORMSWEEP_WORKER_CHECKPOINT_SAVED_H
#define NORMSWEEP_WORKER_CHECKPOINT_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/error.h"
#include "model/network/weights.h"
#include "worker/run/run.h"

/* The final weights of a run (checkpoint_save_weights), open for reading. */
struct saved {
    const char *path; /* borrowed */
    struct run run; /* a parameter that the file lacks, from an older program, had its default */
    struct architecture architecture;
    struct weight_layout layout;
    int32_t end_of_line; /* the token; -1: the lines of the corpus have no end */
    int64_t step; /* the number of steps that the run took */
    bool is_double; /* the weights are stored as double, else as float */
    int file; /* netCDF's number */
    int status; /* of loads: netCDF's or an errno */
    struct arena arena; /* owned: of the layout */
};

/*
 * Opens a file. Its checksum, its parameters and the shapes of all weights are checked. -1 with "<path>: why"
 * in error, nothing to release.
 */
int saved_open(struct saved *saved, const char *path, struct error *error);
void saved_close(struct saved *saved);

/* Has the run this tensor? All layers of a stack have the same ones. */
bool saved_has(const struct saved *saved, enum tensor_kind kind, int64_t layer);

/* Reads a tensor that the run has, [rows, columns]; layer -1 outside the layers. -1 with "<path>: why". */
int saved_read(
    const struct saved *saved, enum tensor_kind kind, int64_t layer, double *values, struct error *error);

/*
 * The weights as those of a trained network. Values may be anything, NaN included. Loading cannot fail on the
 * way: after the last load, saved_check says whether all of them could be read. -1 with "<path>: why".
 */
struct weight_source saved_source(struct saved *saved);
int saved_check(const struct saved *saved, struct error *error);

#endif
