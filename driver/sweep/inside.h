#ifndef NORMSWEEP_DRIVER_SWEEP_INSIDE_H
#define NORMSWEEP_DRIVER_SWEEP_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "driver/sweep/sweep.h"
#include "driver/sweep/tree.h"
#include "driver/tables/key.h"

/* What the files that read a sweep file share. */

/* ---- include.c: files ---- */

enum { FILE_MOST = 1 << 20 }; /* bytes of a sweep file, and of all files together that it includes */

/* A file on the disk, whatever path leads to it; inode 0: a text that is in no file. */
struct file_identity {
    dev_t device;
    ino_t inode;
};

bool file_is_same(const struct file_identity *a, const struct file_identity *b);

/*
 * Reads a regular file, at most one byte more than FILE_MOST. Refuses a pipe, since every rank reads the file
 * again. 0 and *text, which the caller frees, without a NUL at its end; else an errno, or REGULAR_NONE.
 */
int file_read(const char *path, char **text, size_t *size, struct file_identity *identity);

/* ---- reader.c ---- */

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

/* ---- settings.c ---- */

/*
 * Applies `--set key=value` settings, in their order, to the map of a sweep file. The value is any YAML; it
 * replaces the value of a key that the file has, a new key goes last, null removes the key. `include`: only
 * those of the key `include`, which come before the files are included; else all others, which come after.
 */
int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include);

/* ---- include.c ---- */

/*
 * Lays the keys of a sweep file's map over those of the files that its key `include` names, and removes that
 * key. A key has its whole value from the file that includes the others, and else from the last one that has
 * it; it keeps its place among the keys of the first. null takes out a key of the files that a file includes.
 * `output` of an included file is left out: each sweep has a dataset of its own. The files are kept in the
 * sweep. `identity`: of the sweep file, which must not be included again. -1 with the reader's error set.
 */
int include_expand(struct reader *reader, struct node *root, const struct file_identity *identity);

/* ---- list.c ---- */

/* The values that a sweep file gives to one parameter. */
struct list {
    int64_t count;
    union param_value *value; /* [count] */
    struct place *written; /* [count] the place of each; NULL if a rule such as range made the values */
};

/* Does the node give several values: a list, or a rule such as {range: [a, b]}? */
bool list_is(const struct node *node);

/*
 * Reads `[a, b]`, `{range: [a, b]}` (integers, both ends included), `{range: [a, b], points: n}` (evenly
 * spaced), `{log: [a, b], points: n}` (evenly spaced in the logarithm); the last three may have `plus:
 * [...]`. Computed values are rounded to 12 significant digits; both ends are exact. Numbers and truth values
 * ascend strictly; they descend if the whole list does, or the rule without `plus`. Words keep their order.
 * Refuses more than `most` values and equal values. On failure -1, nothing held.
 */
int list_read(struct reader *reader, const struct param *param, const struct node *node, int64_t most,
    struct list *list);

void list_release(struct list *list);

/* Sorts values of a parameter in ascending order. */
void list_sort(const struct param *param, union param_value *value, int64_t count);

/* ---- skip.c ---- */

/* Reads `skip: [{key: value}]` and marks the cells to skip. Call it after all axes have been read. */
int skip_read(struct reader *reader, const struct node *node);

/* ---- consistent.c ---- */

/* Checks that keys fit together: that the corpus uses every given key, and that every cell that is not
 * skipped is a valid run. */
int consistent_check(struct reader *reader);

#endif
