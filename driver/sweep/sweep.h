#ifndef NORMSWEEP_DRIVER_SWEEP_SWEEP_H
#define NORMSWEEP_DRIVER_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/sweep/refine.h"
#include "driver/text/place.h"
#include "model/core/error.h"
#include "model/corpora/corpus.h"
#include "worker/run/measure.h"
#include "worker/run/run.h"

/* One axis of the grid: one parameter, or the parameters that a `together` axis changes together. */
struct axis {
    char *name; /* the parameter's key, or the together axis's own name */
    int64_t length;
    char **label; /* [length] and a final NULL, of a together axis; NULL otherwise */
    int64_t param_count; /* 1 for a plain axis */
    const struct param **param; /* [param_count] */
    union param_value *value; /* [param_count][length] */
    struct place place;
    struct place *written; /* [param_count][length] the place of each value; NULL: a rule made them */
};

enum { NOTES_LONGEST = 1 << 16 }; /* bytes */

/* Frees what an axis holds. */
void axis_release(struct axis *axis);

/* A file that a sweep file includes. */
struct included {
    char *path; /* as it was opened; places point at it */
    char *name; /* as it is written in the file that includes it */
    char *text; /* [size] */
    size_t size;
};

/* A sweep file, read, checked and laid out as a grid. Plain data once loaded. */
struct sweep {
    char *path; /* as given; the prefix of every message */
    char *text; /* the whole YAML text, with included files and --set settings as comments at its end */
    struct included *included; /* [included_count] all files that are included, each once */
    int included_count;
    char *title, *output; /* title: "" if not given; output: relative to the current directory */
    char *notes; /* "" if not given; at most NOTES_LONGEST bytes */
    struct run base; /* the parameters that are not axes */
    struct corpus_source source; /* paths resolved against the file's folder; owned by the sweep */
    char *train_path, *valid_path; /* of pairs, the targets */
    char *train_source_path, *valid_source_path; /* of pairs; NULL otherwise */
    struct measure measure;
    double checkpoint_minutes;
    int64_t axis_count;
    struct axis *axis; /* in the order of the file; values of numbers in a strict one, see list.h */
    int64_t cells; /* the product of the axes' lengths */
    uint64_t *skip; /* one bit for each cell, set if the cell is skipped; NULL: none is */
    int64_t skipped; /* number of skipped cells */
    struct refine refine; /* which of the others are trained */
    struct sweep_places *places; /* opaque: the place of each key */
};

/*
 * Reads a sweep file and the files that it includes, applies the `--set key=value` settings, and checks
 * everything that does not need the texts. On failure -1, nothing held, and one line such as
 * "sweep.yaml:12:18: weight_decay: -0.1 is below 0" in error.
 */
int sweep_load(struct sweep *sweep, const char *path, const char *const *settings, int setting_count,
    struct error *error);

/* The same from memory, for tests and the fuzzer. Messages begin with `name`; paths, also those of included
 * files, are relative to `folder`. */
int sweep_parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const char *const *settings, int setting_count, struct error *error);

void sweep_release(struct sweep *sweep);

#endif
