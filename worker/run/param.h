#ifndef NORMSWEEP_WORKER_RUN_PARAM_H
#define NORMSWEEP_WORKER_RUN_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"

struct run;

enum param_kind { PARAM_INTEGER, PARAM_REAL, PARAM_BOOLEAN, PARAM_WORD };

/* A value of any parameter: integer also holds booleans (0, 1) and the index of a word. */
union param_value {
    int64_t integer;
    double real;
};

struct param {
    const char *name; /* the YAML key, axis and netCDF variable */
    size_t offset; /* in struct run */
    enum param_kind kind;
    bool cost; /* does a step's time or memory depend on it? */
    bool axis; /* may it be an axis? */
    bool min_open; /* the value must be above min */
    bool max_open; /* the value must be below max */
    double min, max; /* -INFINITY, INFINITY: no bound */
    const char *const *words; /* of a PARAM_WORD, in the order of its enum, NULL at the end */
    union param_value initial;
    const char *unit; /* "1" if none */
    const char *long_name; /* for axes and legends */
    const char *help; /* one sentence, in lower case, without a full stop */
};

/* The table: param_count rows in the order of struct run's fields. */
extern const struct param param_table[];
extern const size_t param_count;

/* The row of a key, or NULL. */
const struct param *param_find(const char *name);

union param_value param_get(const struct param *param, const struct run *run);
void param_set(const struct param *param, struct run *run, union param_value value);

/* Writes a value as in a sweep file ("0.001", "true", "pre"), in the shortest form that reads back the same.
 * Returns text. */
char *param_format(const struct param *param, union param_value value, char *text, size_t size);

/* Checks a value against the bounds of its row: 0, or -1 with "weight_decay: -0.1 is below 0" in error. */
int param_check(const struct param *param, union param_value value, struct error *error);

#endif
