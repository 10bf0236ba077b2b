#ifndef NORMSWEEP_DRIVER_SWEEP_INCLUDE_H
#define NORMSWEEP_DRIVER_SWEEP_INCLUDE_H

#include "driver/sweep/file.h"
#include "driver/sweep/reader.h"

/*
 * Lays the keys of a sweep file's map over those of the files that its key `include` names, and removes that
 * key. A key has its whole value from the file that includes the others, and else from the last one that has
 * it; it keeps its place among the keys of the first. null takes out a key of the files that a file includes.
 * `output` of an included file is left out: each sweep has a dataset of its own. The files are kept in the
 * sweep. `identity`: of the sweep file, which must not be included again. -1 with the reader's error set.
 */
int include_expand(struct reader *reader, struct node *root, const struct file_identity *identity);

#endif
