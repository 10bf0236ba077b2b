#ifndef NORMSWEEP_WORKER_CHECKPOINT_VISIT_H
#define NORMSWEEP_WORKER_CHECKPOINT_VISIT_H

#include <netcdf.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/breath.h"
#include "worker/train/train.h"

/*
 * Visits of dimensions, attributes and variables for the walk in form.c: each visit defines, writes or reads,
 * depending on the pass.
 */
#ifdef SCALAR_DOUBLE
#define SCALAR_NC NC_DOUBLE
#else
#define SCALAR_NC NC_FLOAT
#endif

/*
 * Those of the metrics come first, with their numbers there. `input` is as long as `width`: a variable cannot
 * have one dimension twice.
 */
enum dimension {
#define X(NAME, ...) NAME,
    METRIC_DIMENSIONS(X)
#undef X
        VOCABULARY,
    POSITION,
    WIDTH,
    INPUT,
    KEYS, /* of all heads, if they are fewer than those of the queries; else `width` */
    HEAD_WIDTH,
    HEADS,
    FEEDFORWARD,
    BUCKETS,
    BLOCK, /* of all stacks, if there are two; else `layer` */
    MEASURED_STEP,
    TENSOR_LETTER,
    FACTOR,
    DIMENSIONS
};

enum pass { DEFINE, PUT, GET };

struct form {
    enum pass pass;
    int file;
    int status; /* the first failure, a netCDF status or an errno; later visits do nothing */
    const char *path; /* borrowed */
    const struct breath *breath; /* or NULL; borrowed */
    size_t moved; /* bytes since the last breath */
    const struct snapshot *snapshot;
    int64_t length[DIMENSIONS]; /* 0: not in this file */
    int dimension[DIMENSIONS];
};

/* DEFINE: defines the dimensions that have a length. GET: checks that the file has the same lengths. */
void visit_dimensions(struct form *form);

/* The length of a dimension in the file, 0 without such a dimension. */
int64_t find_length(const struct form *form, enum dimension dimension);

/* Visit global attributes. Texts are only written, in the pass DEFINE; numbers are also read back. */
void visit_text(struct form *form, const char *name, const char *text);
void visit_integer(struct form *form, const char *name, int64_t *value);
void visit_real(struct form *form, const char *name, double *value);

enum { RANK_MOST = METRIC_RANK_MOST };

/* The description of a variable. */
struct array {
    const char *name;
    nc_type type;
    int rank;
    enum dimension dimension[RANK_MOST];
    const char *long_name, *unit, *encoding; /* or NULL */
};

/* DEFINE: defines the variable. Other passes move its parts by move_part. */
void define_array(struct form *form, const struct array *array);

/* PUT, GET: moves a part of an array between the file and memory. */
void move_part(
    struct form *form, const struct array *array, const size_t *start, const size_t *count, void *values);

/* Visits an array that has the same layout in memory and in the file; skips it if a dimension has length 0.
 */
void visit_array(struct form *form, const struct array *array, void *values);

#endif
