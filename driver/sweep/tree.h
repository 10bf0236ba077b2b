#ifndef NORMSWEEP_DRIVER_SWEEP_TREE_H
#define NORMSWEEP_DRIVER_SWEEP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text/place.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* One node of a document, of YAML, and where it stands. */
struct node {
    enum node_kind kind;
    struct place place;
    bool quoted; /* a scalar in quotes or a block: a text, whatever it looks like */
    char *text; /* a scalar's, without NUL bytes; NULL for lists and maps */
    int64_t count;
    struct node *key; /* [count] of a map: scalars, no two alike; NULL otherwise */
    struct node *child; /* [count] the items of a list, the values of a map */
};

enum { TREE_DEPTH = 16 }; /* lists and maps within one another that readers take */

/* Room for one more child of a list or map, and for its key; count stays as it is. -1: no memory. */
int node_grow(struct node *node);

/* The first key of a map that stands there before, NULL: none does. -1: no memory. */
int node_repeated_key(const struct node *map, const struct node **repeated);

/* Says of a whole tree that it stands at `place`. */
void node_move(struct node *node, struct place place);

void node_release(struct node *node);

/* Nothing, ~ or null, unquoted. */
bool node_is_null(const struct node *node);

#endif
