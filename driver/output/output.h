#ifndef NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H
#define NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H

#include <sys/types.h>

/*
 * The path of an output made absolute, links followed, the last one's target and the output itself not
 * necessarily there: one name for the dataset, and for its lease, whatever link leads to it. The caller's to
 * free; NULL with errno set.
 */
char *output_resolve(const char *path);

/*
 * What is at a path: 1 something (*kind its file type), 0 nothing; -1: it cannot be told,
 * errno says why. Only ENOENT and ENOTDIR mean that nothing is there: a file that a server or a disk hides
 * from us for a moment must not be written over.
 */
int output_exists(const char *path, mode_t *kind);

/* Gives a new file a name that nothing has. 0 or an errno; EEXIST: something has it, and is untouched. */
int output_name(const char *new, const char *path);

#endif
