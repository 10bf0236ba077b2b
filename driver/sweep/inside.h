#ifndef NORMSWEEP_DRIVER_SWEEP_INSIDE_H
#define NORMSWEEP_DRIVER_SWEEP_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "driver/sweep/sweep.h"

/* What the files share that read a sweep file. All functions that return int give 0, or -1 with the reader's
 * error set, unless they say something else. */

/* sweep_load from memory, for tests and the fuzzer. Messages begin with `name`; paths, also those of included
 * files, are relative to `folder`. */
int sweep_parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const char *const *settings, int setting_count, struct error *error);

/* ---- yaml.c ---- */

#define POSITION_SETTING ((struct position){.column = 1}) /* in a --set */
#define POSITION_DEFAULT ((struct position){.line = 0}) /* not given anywhere; messages point at 1:1 */

/*
 * Puts the position of a fault before the message in `error`: "sweep.yaml:12:18: ", "--set " or, for
 * POSITION_DEFAULT, "sweep.yaml:1:1: ". `file` is the sweep file. Always -1.
 */
int position_prefix(struct error *error, const char *file, struct position position);

/* The same with an ERROR_INPUT message from a printf format. */
#define position_error(error, file, position, ...)                                                           \
    (error_set(error, ERROR_INPUT, __VA_ARGS__), position_prefix(error, file, position))

struct reader {
    struct sweep *sweep; /* the result; its path is the prefix of every message */
    const char *folder; /* of the sweep file; NULL or "": the current directory */
    struct error *error;
    int files; /* that are included so far */
    size_t bytes; /* in them */
};

/* Whether and where a key or parameter is given. */
struct spot {
    bool given;
    bool together; /* a parameter that is part of a together axis */
    struct position position; /* if it is not given: where it was taken out, or POSITION_DEFAULT */
};

struct spots {
    struct spot key[KEY_COUNT];
    struct spot *param; /* [param_count] */
};

/* The spot of a parameter; of the key or parameter of this name, which exists. */
struct spot *reader_spot(const struct sweep *sweep, const struct param *param);
struct spot *reader_named(const struct sweep *sweep, const char *name);

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* One node of a YAML document, with its position in the file. */
struct node {
    enum node_kind kind;
    struct position position;
    bool quoted; /* a scalar in quotes or a block: always a text, even if it looks like a number */
    char *text; /* of a scalar, without NUL bytes; NULL for lists and maps */
    int64_t count;
    struct node *key; /* [count] of a map: scalars, all different; NULL otherwise */
    struct node *child; /* [count] the items of a list, the values of a map */
};

/* Sets the reader's error to "sweep.yaml:4:1: <format>". Always -1. */
#define reader_fault(reader, position, ...)                                                                  \
    position_error((reader)->error, (reader)->sweep->path, position, __VA_ARGS__)

/* The same at the position of a node. */
#define node_fault(reader, node, ...) reader_fault(reader, (node)->position, __VA_ARGS__)

/* Refuses an unknown key and suggests a similar one. Always -1. */
int reader_unknown(struct reader *reader, const struct node *key);

/* Where a path leads that a node has: relative to the folder of the node's file or, in a --set, to the
 * current directory. The caller frees it. */
char *reader_path(const struct reader *reader, const struct node *node, const char *path);

enum { TREE_DEPTH = 16 }; /* the deepest nesting of lists and maps that yaml_read accepts */

/*
 * Reads one YAML document: block and flow style, plain and quoted scalars. Refuses several documents, anchors
 * and aliases, tags, repeated keys, keys that are not scalars, nesting deeper than TREE_DEPTH, and text that
 * is not UTF-8; so time and memory are bounded by the length of the input. `file` and `setting`: an included
 * file, or the key of a --set, which the positions name; NULL: the sweep file. On failure nothing is held.
 */
int yaml_read(struct reader *reader, struct node *root, const char *text, size_t size, const char *file,
    const char *setting);

/* Empty, ~ or null, unquoted. */
bool node_is_null(const struct node *node);

/* The index of a key in a map, or its count. */
int64_t node_find(const struct node *map, const char *name);

/* Gives a key a value: in the place of the one that it has, or else as the last one. Takes ownership of both.
 */
void node_put(struct node *map, struct node *key, struct node *value);

/* Removes the pair at an index. */
void node_remove(struct node *map, int64_t index);

void node_release(struct node *node);

/* ---- include.c ---- */

enum { FILE_MOST = 1 << 20 }; /* bytes of a sweep file, and of all files together that it includes */

/* A file on the disk, whatever path leads to it; inode 0: a text that is in no file. */
struct file_identity {
    dev_t device;
    ino_t inode;
};

/*
 * Reads a regular file, at most one byte more than FILE_MOST. Refuses a pipe, since every rank reads the file
 * again. 0 and *text, which the caller frees, without a NUL at its end; else an errno, or REGULAR_NONE.
 */
int file_read(const char *path, char **text, size_t *size, struct file_identity *identity);

/* Reads the text of a sweep file, or of an included `file`, into a map. */
int file_parse(struct reader *reader, const char *text, size_t size, const char *file, struct node *map);

/*
 * Lays the keys of a sweep file's map over those of the files that its key `include` names, and removes that
 * key. A key has its whole value from the file that includes the others, and else from the last one that has
 * it; it keeps its place among the keys of the first. null takes out a key of the files that a file includes.
 * `output` of an included file is left out: each sweep has a dataset of its own. The files are kept in the
 * sweep. `identity`: of the sweep file, which must not be included again.
 */
int include_expand(struct reader *reader, struct node *root, const struct file_identity *identity);

/*
 * Applies `--set key=value` settings, in their order, to the map of a sweep file. The value is any YAML; it
 * replaces the value of a key that the file has, a new key goes last, null removes the key. `include`: only
 * those of the key `include`, which come before the files are included; else all others, which come after.
 */
int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include);

/* ---- values.c ---- */

/*
 * Read one value from one node; messages name it `key`. Numbers are decimal in every locale: 1e-3, .5, -2,
 * 1E+6; an integer may have any of these forms (1e6) if its value is exact. Refused: NaN and infinity,
 * numbers that a double cannot hold, leading zeros (octal in YAML 1.1), hexadecimal, underscores, numbers in
 * quotes, lists and maps.
 */
int value_truth(struct reader *reader, const char *key, const struct node *node, bool *value);
int value_real(struct reader *reader, const char *key, const struct node *node, double *value);
int value_integer(struct reader *reader, const char *key, const struct node *node, int64_t least,
    int64_t most, int64_t *value);

/* Any scalar as text, borrowed from the node. */
int value_text(struct reader *reader, const char *key, const struct node *node, const char **text);

/* The index of the node's word in `words`, which ends with NULL. */
int value_word(struct reader *reader, const char *key, const struct node *node, const char *const *words,
    int64_t *index);

/* The same for a key of a map, which is named `map`: null is a wrong word like any other. */
int value_key(struct reader *reader, const char *map, const struct node *node, const char *const *words,
    int64_t *index);

/* A value of a parameter, checked against its bounds. */
int value_param(
    struct reader *reader, const struct param *param, const struct node *node, union param_value *value);

bool param_is_number(const struct param *param);

/* The values that a sweep file gives to one parameter. */
struct list {
    int64_t count;
    union param_value *value; /* [count] */
    struct position *written; /* [count] the position of each; NULL if a rule such as range made the values */
};

/*
 * Reads one value, `[a, b]`, `{range: [a, b]}` (integers, both ends included), `{range: [a, b], points: n}`
 * (evenly spaced), or `{log: [a, b], points: n}` (evenly spaced in the logarithm); the rules may have `plus:
 * [...]`. Computed values are rounded to 12 significant digits; both ends are exact. Numbers and truth values
 * ascend strictly; they descend if the whole list does, or the rule without `plus`. Words keep their order.
 * Refuses more than `most` values and equal values. On failure nothing is held.
 */
int list_read(struct reader *reader, const struct param *param, const struct node *node, int64_t most,
    struct list *list);

/* Sorts the values in ascending order, and leaves their positions. */
void list_sort(const struct param *param, struct list *list);

void list_release(struct list *list);

/* ---- axes.c ---- */

/* Reads a value of a parameter, which holds for the whole sweep, or a list or rule, which makes it an axis.
 */
int param_read(struct reader *reader, const struct param *param, const struct node *node);

/* Reads `together: {axis: {label: {key: value}}}` and adds each axis to the sweep, in order. */
int together_read(struct reader *reader, const struct node *node);

/* ---- measuring.c ---- */

/* Read `measure: {every | steps, metrics}`, and a key of MEASURE_OPTIONS, into the sweep's struct measure. */
int measure_read(struct reader *reader, const struct node *node);
int options_read(struct reader *reader, enum key key, const struct node *node);

/* Refuses options of groups that are not measured; after all keys are read. */
int options_check(struct reader *reader);

#define ROWS_MOST 10000000 /* measured steps of a run */

/* An upper bound on the measured steps of a run that ends at `last_step`, without counting them one by one.
 */
double measure_rows_bound(const struct measure *measure, int64_t last_step);

/* ---- refine.c, skip.c: keys that are read after all others ---- */

/* Reads `refine: {axis: NAME, variable: METRIC, at: NUMBER}`, or `axes: [NAME, NAME]` and `coarse: N`. */
int refine_read(struct reader *reader, const struct node *node);

/* Reads `skip: [{key: value}]` and marks the cells to skip. */
int skip_read(struct reader *reader, const struct node *node);

/* ---- consistent.c ---- */

/* Checks that keys fit together: that the corpus uses every given key, and that every cell that is not
 * skipped is a valid run. */
int consistent_check(struct reader *reader);

/* What runs have in common that have the same sweep_trunk_digest: one run, which cannot be trained. */
struct run sweep_trunk(const struct run *run);

/* The position of a parameter's value in a cell if the file spells the value out, else the position of its
 * key. */
struct position cell_position(const struct sweep *sweep, const int64_t *index, const struct param *param);

#endif
