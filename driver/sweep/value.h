#ifndef NORMSWEEP_DRIVER_SWEEP_VALUE_H
#define NORMSWEEP_DRIVER_SWEEP_VALUE_H

#include "driver/sweep/inside.h"

/*
 * Read one value from one node; messages name it `key`. Numbers are decimal in every locale: 1e-3, .5, -2,
 * 1E+6; an integer may have any of these forms (1e6) if its value is exact. Refused: NaN and infinity,
 * numbers that a double cannot hold, leading zeros (octal in YAML 1.1), hexadecimal, underscores, numbers in
 * quotes, lists and maps. All return 0, or -1 with the reader's error set.
 */
int value_real(struct reader *reader, const char *key, const struct node *node, double *value);
int value_integer(
    struct reader *reader, const char *key, const struct node *node, int64_t least, int64_t *value);

/* Any scalar as text, borrowed from the node. */
int value_text(struct reader *reader, const char *key, const struct node *node, const char **text);

/* The index of the node's word in `words`, which ends with NULL. */
int value_word(struct reader *reader, const char *key, const struct node *node, const char *const *words,
    int64_t *index);

/* The same for a key of a mapping `map`: null is a wrong word like any other. */
int value_key(struct reader *reader, const char *map, const struct node *node, const char *const *words,
    int64_t *index);

/* A value of a parameter, checked against its bounds. */
int value_param(
    struct reader *reader, const struct param *param, const struct node *node, union param_value *value);

/* A value of a parameter from a computed number, likewise checked. */
int value_from_real(struct reader *reader, const struct param *param, struct place place, double number,
    union param_value *value);
int value_from_integer(struct reader *reader, const struct param *param, struct place place, int64_t number,
    union param_value *value);

bool param_is_number(const struct param *param);

/* Negative, 0 or positive, as a is below, equal to or above b. */
int value_compare(const struct param *param, union param_value a, union param_value b);

#endif
