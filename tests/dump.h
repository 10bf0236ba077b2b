#ifndef NORMSWEEP_TESTS_DUMP_H
#define NORMSWEEP_TESTS_DUMP_H

#include <stdint.h>

#include "model/core/batch.h"
#include "model/core/scalar.h"

/* Arrays on stdout for tests/replay.py: a line "<name> <f8|i8> <count>", then `count` numbers of 8 bytes. */

/* Prints one line on stderr and ends the process with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

void write_reals(const char *name, const double *values, int64_t count);
void write_scalars(const char *name, const scalar *values, int64_t count);
void write_integers(const char *name, const int64_t *values, int64_t count);
void write_tokens(const char *name, const int32_t *values, int64_t count);
void write_real(const char *name, double value);
void write_integer(const char *name, int64_t value);

/* As start, tokens and target, and source_start and source_tokens if it has sources; `prefix` comes before
 * each name. */
void write_batch(const char *prefix, const struct batch *batch);

#endif
