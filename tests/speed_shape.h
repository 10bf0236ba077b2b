#ifndef NORMSWEEP_TESTS_SPEED_SHAPE_H
#define NORMSWEEP_TESTS_SPEED_SHAPE_H

/* The shapes of tests/speed.c, and how it fails. */
#include "worker/run/run.h"

enum { LINE_SIZE = 256 };

/* Ends the process after one line. */
__attribute__((noreturn, format(printf, 1, 2))) void speed_fail(const char *format, ...);

/* A line with the names of shapes and their numbers. */
void speed_print_shapes(void);

/* A line with the vector levels, each with 1 if this processor runs it, else 0. */
void speed_print_levels(void);

/* The run of a shape, as the top of tests/speed.c says what one is; ends the process if it is none. Every
 * parameter but those of the shape stays at its default. */
struct run speed_shape(const char *shape, int64_t threads);

#endif
