#ifndef NORMSWEEP_DRIVER_DATASET_INSPECTED_H
#define NORMSWEEP_DRIVER_DATASET_INSPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"
#include "model/network/weights.h"
#include "worker/run/metric.h"

/*
 * What was measured on a trained network, and a small dataset of it: names, dimensions, coordinates
 * and attributes are those of a sweep's dataset, without axes, runs and steps.
 */

/* The attribute `source` of such a file. */
#define INSPECTED_SOURCE "normsweep inspect"

/* The first states of the residual stream of each stack: see inspected_write. */
struct inspected_states {
    int64_t sequences; /* 0: none are kept */
    struct inspected_stack {
        int64_t rows, depths; /* depths: blocks and one */
        int32_t *token, *sequence; /* [rows] what a row reads, and its sequence */
        scalar *state; /* [depths][rows, C] after so many blocks */
        scalar *output; /* [rows, C] the stack's, behind a final norm where there is one */
    } stack[STACKS_MOST];
};

struct inspected {
    const char *family, *file, *text; /* names of files, without folders; text NULL: none */
    const char *note; /* what was not measured, and why, or what is suspicious; NULL: nothing */
    const struct architecture *architecture; /* of the files; borrowed, like all names */
    int64_t parameters;
    int64_t window; /* the most tokens of a sequence */
    int64_t sequences, tokens; /* measured */
    int64_t left_out; /* tokens behind the last whole window; of lines 0 */
    int64_t lines_cut; /* lines longer than a window */
    bool lines; /* each line was a sequence */
    bool has_output;
    int64_t mask, sentinel; /* ids; -1: none */

    /* The values lie like those of a measured step: see struct metric_form. */
    struct metric_form form;
    bool has[METRIC_COUNT];
    double *row; /* [form.row_size] owned */
    struct inspected_states states; /* borrowed */
};

/* Room for the values of a network, whose tensors are those of the layout; bins 0: no histograms. -1: no
 * memory. */
int inspected_init(struct inspected *inspected, const struct architecture *architecture,
    const struct weight_layout *layout, int64_t bins);
void inspected_release(struct inspected *inspected);

/* Store all values of a metric; in the second form `each` for every block of the network, where stacks may
 * have unequal numbers of blocks. */
void inspected_put(struct inspected *inspected, enum metric metric, const double *values);
void inspected_put_blocks(
    struct inspected *inspected, enum metric metric, const double *values, int64_t each);

/* The dimensions of a metric in the file; returns their number. */
int inspected_dimensions(
    const struct inspected *inspected, enum metric metric, enum metric_dimension dimension[METRIC_RANK_MOST]);

/* Has the file a dimension? */
bool inspected_has(const struct inspected *inspected, enum metric_dimension dimension);

/* One value: place [d] is its place along dimension d, for those that the metric has. False: the network has
 * no such layer or tensor. */
bool inspected_value(const struct inspected *inspected, enum metric metric, size_t index,
    int64_t place[DIMENSION_COUNT], double *value);

/* What the file says of the network and of its text, as global attributes. Those of a network have the names
 * of a sweep's parameters. */
struct inspected_attribute {
    const char *name;
    const char *text; /* NULL: it is a number */
    int64_t number;
};

enum { INSPECTED_ATTRIBUTES = 32 }; /* at most */

/* Returns their number. */
int inspected_attributes(
    const struct inspected *inspected, struct inspected_attribute attribute[INSPECTED_ATTRIBUTES]);

/* Refuses a path at which inspected_write would fail, or would replace anything but a file of its own. */
int inspected_check(const char *path, struct error *error);

/*
 * Writes the file under a temporary name, syncs and renames it. Kept states are the variables `state`
 * (position, depth, width) and `output` (position, width), beside `token` and `sequence` (position); of an
 * encoder-decoder they have the dimension `stack` in front, and a stack with fewer positions or blocks has
 * NaN, or -1, beyond its own.
 */
int inspected_write(const struct inspected *inspected, const char *path, struct error *error);

#endif
