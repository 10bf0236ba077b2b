#ifndef NORMSWEEP_WORKER_CHECKPOINT_SAVED_H
#define NORMSWEEP_WORKER_CHECKPOINT_SAVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "model/core/arena.h"
#include "model/core/error.h"
#include "model/network/weights.h"

enum { SAVED_FAMILY_SIZE = 64 };

/* What the text that a network was trained on needs beside words. -1: not known. */
struct special_tokens {
    int32_t start; /* what a decoder begins with */
    int32_t end; /* what ends a source and its target */
    int32_t padding; /* has a place of its own, and is not text */
};

/* A weights file, of a run (checkpoint_save_weights) or of others (analysis/weights), open for reading. */
struct saved {
    const char *path; /* borrowed */
    char family[SAVED_FAMILY_SIZE]; /* "normsweep", or the model_type that its library has */
    bool of_run; /* a run of this program trained it */
    bool has_output; /* it has an output layer, and thus a loss */
    struct special_tokens special;
    struct architecture architecture; /* context INT32_MAX: nothing bounds the length of a text */
    struct weight_layout layout;
    bool is_double; /* the weights are stored as double, else as float */
    int file; /* netCDF's number */
    int status; /* of loads: netCDF's or an errno */
    struct stat opened; /* the file, when it was opened */
    struct arena arena; /* owned: of the layout */
};

/*
 * Opens a file. Its checksum, its architecture and the types and shapes of all weights are checked. -1 with
 * "<path>: why" in error, nothing to release.
 */
int saved_open(struct saved *saved, const char *path, struct error *error);
void saved_close(struct saved *saved);

/*
 * The weights as those of a trained network. Values may be anything, NaN included. Loading cannot fail on the
 * way: after the last load, saved_check says whether all of them could be read, from a file that was the same
 * all the time. -1 with "<path>: why".
 */
struct weight_source saved_source(struct saved *saved);
int saved_check(const struct saved *saved, struct error *error);

#endif
