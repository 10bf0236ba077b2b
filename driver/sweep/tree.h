#ifndef NORMSWEEP_DRIVER_SWEEP_TREE_H
#define NORMSWEEP_DRIVER_SWEEP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text/place.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* One node of a YAML document, with its place in the file. */
struct node {
    enum node_kind kind;
    struct place place;
    bool quoted; /* a scalar in quotes or a block: always a text, even if it looks like a number */
    char *text; /* of a scalar, without NUL bytes; NULL for lists and maps */
    int64_t count;
    struct node *key; /* [count] of a map: scalars, all different; NULL otherwise */
    struct node *child; /* [count] the items of a list, the values of a map */
};

enum { TREE_DEPTH = 16 }; /* the deepest nesting of lists and maps that readers accept */

/* Makes room for one more child of a list or map, and for its key; does not change count. */
void node_grow(struct node *node);

/* The first key of a map that repeats an earlier key; NULL: there is none. */
const struct node *node_repeated_key(const struct node *map);

/* The index of a key in a map, or its count. */
int64_t node_find(const struct node *map, const char *name);

/* Gives a key a value: in the place of the one that it has, or else as the last one. Takes ownership of both.
 */
void node_put(struct node *map, struct node *key, struct node *value);

/* Removes the pair at an index. */
void node_remove(struct node *map, int64_t index);

/* Moves the value of a key out of a map, which then lacks the key; false: it has none. */
bool node_take(struct node *map, const char *key, struct node *value);

/* Sets the place of a whole tree. */
void node_move(struct node *node, struct place place);

/* Sets the file of every place in a tree; for files other than the sweep file. Borrowed. */
void node_set_file(struct node *node, const char *file);

void node_release(struct node *node);

/* Empty, ~ or null, unquoted. */
bool node_is_null(const struct node *node);

#endif
