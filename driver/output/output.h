#ifndef NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H
#define NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H

#include <sys/types.h>

/*
 * The path of an output made absolute, links followed, the last one's target and the output itself not
 * necessarily there: one name for the dataset, and for its lease, whatever link leads to it. The caller's to
 * free; NULL with errno set.
 */
char *output_resolve(const char *path);

/* The folder that holds an output, or is to: as the path names it, or where a link at the path leads. The
 * caller's to free; NULL: it cannot be told. */
char *output_folder(const char *path);

/* Why nothing can be made in a folder: an errno; 0: nothing is seen to be in the way. */
int output_folder_fault(const char *folder);

/*
 * What is at a path: 1 something (*kind its file type), 0 nothing; -1: it cannot be told,
 * errno says why. Only ENOENT and ENOTDIR mean that nothing is there: a file that a server or a disk hides
 * from us for a moment must not be written over.
 */
int output_exists(const char *path, mode_t *kind);

/* Gives a new file a name that nothing has. 0 or an errno; EEXIST: something has it, and is untouched. */
int output_name(const char *new, const char *path);

#endif
