#ifndef NORMSWEEP_DRIVER_SWEEP_YAML_H
#define NORMSWEEP_DRIVER_SWEEP_YAML_H

#include "driver/sweep/tree.h"

/*
 * Reads one YAML document: block and flow style, plain and quoted scalars. Refuses several documents, anchors
 * and aliases, tags, repeated keys, keys that are not scalars, nesting deeper than TREE_DEPTH, and text that
 * is not UTF-8; so time and memory are bounded by the length of the input. On failure -1, nothing held; the
 * message in error is without its place, which is in *fault.
 */
int yaml_read(struct node *root, const char *text, size_t size, struct place *fault, struct error *error);

/* "0.2.5": the library's version. */
const char *yaml_library(void);

#endif
