#ifndef NORMSWEEP_DRIVER_SWEEP_READER_H
#define NORMSWEEP_DRIVER_SWEEP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "driver/sweep/tree.h"
#include "driver/tables/key.h"

/* Where a key or a parameter stands, if it does. */
struct spot {
    bool given;
    bool together; /* a parameter that is part of a together axis */
    struct place place;
};

struct sweep_places {
    struct spot key[KEY_COUNT];
    struct spot *param; /* [param_count] */
};

/* What the parts that read a sweep file share: what is read, and where to say what is wrong. */
struct reader {
    struct sweep *sweep; /* what is filled; its path stands before every message */
    struct error *error;
};

#define GRID_MOST 10000000 /* cells of a grid, values of a list */

/* "sweep.yaml:4:1: <format>" into the reader's error. Always -1. */
int reader_fault(struct reader *reader, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `count` zeroed items, or NULL with the error set. */
void *reader_memory(struct reader *reader, int64_t count, size_t size);

/* A string from a printf format, or NULL with the error set. */
char *reader_string(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Refuses an unknown key, with the one that it may have been. Always -1. */
int reader_unknown(struct reader *reader, const struct node *key);

/* Where a parameter stands; PLACE_DEFAULT where it does not. */
struct spot *reader_spot(const struct sweep *sweep, const struct param *param);

/* Says that a parameter stands here: refused if it stands elsewhere too. */
int reader_claim(struct reader *reader, const struct param *param, struct place place, bool together);

/* A new last axis of the sweep with room for its values, or NULL with the error set. */
struct axis *reader_axis(
    struct reader *reader, const char *name, struct place place, int64_t length, int64_t params);

#endif
