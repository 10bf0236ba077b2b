#ifndef NORMSWEEP_DRIVER_SWEEP_YAML_H
#define NORMSWEEP_DRIVER_SWEEP_YAML_H

#include "driver/sweep/tree.h"

/*
 * Reads one YAML document: block and flow style, plain and quoted scalars. Refused, so that no input takes
 * more time or memory than its length allows: several documents, anchors and aliases, tags, repeated keys,
 * keys that are not scalars, nesting past TREE_DEPTH levels, anything but UTF-8. On failure -1, nothing held,
 * the line in error without its place, which is in *fault.
 */
int yaml_read(struct node *root, const char *text, size_t size, struct place *fault, struct error *error);

/* "0.2.5": the library's version. */
const char *yaml_library(void);

#endif
