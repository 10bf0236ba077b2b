#ifndef NORMSWEEP_WORKER_CHECKPOINT_VISIT_H
#define NORMSWEEP_WORKER_CHECKPOINT_VISIT_H

#include <netcdf.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/breath.h"
#include "worker/train/train.h"

/*
 * How the walk of checkpoint_form.c visits dimensions, attributes and variables: each visit defines, writes
 * or reads, as the pass has it.
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
    FEEDFORWARD,
    MEASURED_STEP,
    TENSOR_LETTER,
    FACTOR,
    DIMENSIONS
};

enum pass { DEFINE, PUT, GET };

struct form {
    enum pass pass;
    int file;
    int status; /* the first failure, netCDF's or an errno; nothing is done after it */
    const char *path; /* borrowed */
    const struct breath *breath; /* or NULL; borrowed */
    size_t moved; /* bytes since the last breath */
    const struct snapshot *snapshot;
    int64_t length[DIMENSIONS]; /* 0: not in this file */
    int dimension[DIMENSIONS];
};

/* DEFINE: those that have a length. GET: they must be as long in the file. */
void visit_dimensions(struct form *form);

/* The length of a dimension of the file, 0 where it has no such one. */
int64_t find_length(const struct form *form, enum dimension dimension);

/* Global attributes. A text is only defined, a number read back too. */
void visit_text(struct form *form, const char *name, const char *text);
void visit_integer(struct form *form, const char *name, int64_t *value);
void visit_real(struct form *form, const char *name, double *value);

enum { RANK_MOST = METRIC_RANK_MOST };

/* What a variable is. */
struct array {
    const char *name;
    nc_type type;
    int rank;
    enum dimension dimension[RANK_MOST];
    const char *long_name, *unit, *encoding; /* or NULL */
};

/* DEFINE: the variable. Else nothing: its parts are moved one by one. */
void define_array(struct form *form, const struct array *array);

/* PUT, GET: a part of an array between the file and memory. */
void move_part(
    struct form *form, const struct array *array, const size_t *start, const size_t *count, void *values);

/* An array that lies in memory as it does in the file; none where a dimension has no length. */
void visit_array(struct form *form, const struct array *array, void *values);

#endif
