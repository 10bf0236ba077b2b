#ifndef NORMSWEEP_DRIVER_SWEEP_READER_H
#define NORMSWEEP_DRIVER_SWEEP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "driver/sweep/tree.h"
#include "driver/tables/key.h"

/* Whether and where a key or parameter is given. */
struct spot {
    bool given;
    bool together; /* a parameter that is part of a together axis */
    struct place place; /* if it is not given: where it was taken out, or PLACE_DEFAULT */
};

struct sweep_places {
    struct spot key[KEY_COUNT];
    struct spot *param; /* [param_count] */
};

/* What the files that read a sweep file share. */
struct reader {
    struct sweep *sweep; /* the result; its path is the prefix of every message */
    const char *folder; /* of the sweep file; NULL or "": the current directory */
    struct error *error;
};

#define GRID_MOST 10000000 /* cells of a grid, values of a list */

/* Sets the reader's error to "sweep.yaml:4:1: <format>". Always -1. */
int reader_fault(struct reader *reader, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where a path leads that a node has: relative to the folder of the node's file or, in a --set, to the
 * current directory. The caller frees it. */
char *reader_path(const struct reader *reader, const struct node *node, const char *path);

/* Refuses an unknown key and suggests a similar one. Always -1. */
int reader_unknown(struct reader *reader, const struct node *key);

/* The spot of a parameter. */
struct spot *reader_spot(const struct sweep *sweep, const struct param *param);

/* The spot of the key or parameter of this name, which exists. */
const struct spot *reader_named(const struct sweep *sweep, const char *name);

/* Notes where a key is taken out, so that a message about its lack points there. The key exists. */
void reader_take_out(struct reader *reader, const char *name, struct place place);

/* Notes the place of a parameter; refuses one that is given twice. */
int reader_claim(struct reader *reader, const struct param *param, struct place place, bool together);

/* Adds an axis to the sweep, with room for `params` parameters but without values; NULL with the error set.
 */
struct axis *reader_axis(
    struct reader *reader, const char *name, struct place place, int64_t length, int64_t params);

#endif
