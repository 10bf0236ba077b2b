#ifndef NORMSWEEP_DRIVER_SWEEP_VALUE_H
#define NORMSWEEP_DRIVER_SWEEP_VALUE_H

#include "driver/sweep/reader.h"

/*
 * Single values out of single nodes. `key` is what messages call them. Numbers are decimal in every locale:
 * 1e-3, .5, -2, 1E+6; an integer may be written as any of them (1e6) where nothing is lost. Refused: NaN and
 * infinity, what a double cannot hold, leading zeros (YAML 1.1 takes them for octal), hexadecimal,
 * underscores, numbers in quotes, and lists and maps where one value belongs. All return 0, or -1 with the
 * reader's error set.
 */
int value_real(struct reader *reader, const char *key, const struct node *node, double *value);
int value_integer(
    struct reader *reader, const char *key, const struct node *node, int64_t least, int64_t *value);

/* Any scalar as text. Borrowed from the node. */
int value_text(struct reader *reader, const char *key, const struct node *node, const char **text);

/* The index of a word in a list that ends with NULL. */
int value_word(struct reader *reader, const char *key, const struct node *node, const char *const *words,
    int64_t *index);

/* A value of a parameter, its bounds checked. */
int value_param(
    struct reader *reader, const struct param *param, const struct node *node, union param_value *value);

/* A value of a parameter from a number that a list came to. */
int value_from_real(struct reader *reader, const struct param *param, struct place place, double number,
    union param_value *value);
int value_from_integer(struct reader *reader, const struct param *param, struct place place, int64_t number,
    union param_value *value);

bool param_is_number(const struct param *param);

/* The order of two values of one parameter. */
int value_compare(const struct param *param, union param_value a, union param_value b);

#endif
