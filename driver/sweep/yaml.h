#ifndef NORMSWEEP_DRIVER_SWEEP_YAML_H
#define NORMSWEEP_DRIVER_SWEEP_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text/place.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* One node of a YAML document, and where it stands. */
struct node {
    enum node_kind kind;
    struct place place;
    bool quoted; /* a scalar in quotes or a block: a text, whatever it looks like */
    char *text; /* a scalar's, without NUL bytes; NULL for lists and maps */
    int64_t count;
    struct node *key; /* [count] of a map: scalars, no two alike; NULL otherwise */
    struct node *child; /* [count] the items of a list, the values of a map */
};

/*
 * Reads one YAML document: block and flow style, plain and quoted scalars. Refused, so that no input takes
 * more time or memory than its length allows: several documents, anchors and aliases, tags, repeated keys,
 * keys that are no scalars, nesting past YAML_DEPTH levels, anything but UTF-8. On failure -1, nothing held,
 * the line in error without its place, which is in *fault.
 */
#define YAML_DEPTH 16
int yaml_read(struct node *root, const char *text, size_t size, struct place *fault, struct error *error);

/* Says of a whole tree that it stands at `place`. */
void node_move(struct node *node, struct place place);

void node_release(struct node *node);

/* "0.2.5": the library's version. */
const char *yaml_library(void);

/* Nothing, ~ or null, unquoted. */
bool node_is_null(const struct node *node);

#endif
