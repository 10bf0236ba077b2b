#ifndef NORMSWEEP_DRIVER_JOB_DRAW_H
#define NORMSWEEP_DRIVER_JOB_DRAW_H

#include <stdint.h>

/*
 * Draws `wanted` of `count` cells: keeps them at the start of `cell` [count], in ascending order. Each cell
 * has a random number, which follows from the seed, and those with the smallest are drawn; so equal seeds
 * draw equal cells, more wanted cells include the fewer, and a cell more in the list replaces one at most.
 * Returns their number, `wanted` or `count`; -1: no memory.
 */
int64_t draw_cells(int64_t *cell, int64_t count, int64_t wanted, uint64_t seed);

#endif
