#ifndef NORMSWEEP_DRIVER_SWEEP_FILE_H
#define NORMSWEEP_DRIVER_SWEEP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { FILE_MOST = 1 << 20 }; /* bytes of a sweep file, and of all files together that it includes */

/* A file on the disk, whatever path leads to it; inode 0: a text that is in no file. */
struct file_identity {
    dev_t device;
    ino_t inode;
};

bool file_is_same(const struct file_identity *a, const struct file_identity *b);

/*
 * Reads a regular file, at most one byte more than FILE_MOST. Refuses a pipe, since every rank reads the file
 * again. 0 and *text, which the caller frees, without a NUL at its end; else an errno, or REGULAR_NONE.
 */
int file_read(const char *path, char **text, size_t *size, struct file_identity *identity);

#endif
