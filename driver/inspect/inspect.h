#ifndef NORMSWEEP_DRIVER_INSPECT_INSPECT_H
#define NORMSWEEP_DRIVER_INSPECT_INSPECT_H

#include "driver/dataset/form/form.h"
#include "worker/checkpoint/checkpoint.h"

/* What is to be measured on a network. */
struct inspect_request {
    const char *tokens; /* a file of token ids; NULL: norms alone */
    bool lines; /* each of its lines is a sequence */
    bool states; /* keep the states of the first sequences */
    int64_t context; /* tokens of a window; 0: as many as the network was made for, at most 1024 */
    int32_t mask, sentinel; /* ids; -1: not given */
    int64_t threads;
};

/*
 * Measures a network: its norms in one pass over the file; with a text, also saturation, heads and loss.
 * Memory holds what lies outside the blocks and one block, twice if there is a text, and the activations of
 * one block for one batch, which is smaller where memory is short; the weights of each block are read from
 * the file for each batch. A line on stderr shows the progress if that is a terminal. On success the results
 * point into *arena, which the caller releases after them, and the file was the same all the time. -1 with
 * "<path>: why" in error, nothing to release.
 */
int inspect_network(struct inspected *inspected, struct arena *arena, struct saved *network,
    const struct inspect_request *request, struct error *error);

/* What was measured, on stdout: as a page for people; as JSON, the contents of the dataset without states as
 * xarray.Dataset.from_dict takes it, null where it is not a number. */
void inspect_print_page(const struct inspected *inspected);
void inspect_print_json(const struct inspected *inspected);

#endif
