#ifndef NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H
#define NORMSWEEP_DRIVER_OUTPUT_MAPPED_FILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "model/core/error.h"

/*
 * A regular file, mapped into memory for reading. If another process truncates the file, a read ends this
 * process with SIGBUS, so this is for commands that only read, between mapped_file_guard and
 * mapped_file_unguard.
 */
struct mapped_file {
    const unsigned char *bytes; /* NULL: the file is empty, or not open */
    size_t size;
    struct stat state; /* when it was opened */
    char *line; /* what is said if it was truncated; owned */
    struct mapped_file *next; /* of those that are open: it stays where it is */
};

/* On failure -1, "<path>: why" in error, nothing held. */
int mapped_file_open(struct mapped_file *file, const char *path, struct error *error);
void mapped_file_close(struct mapped_file *file);

/* Is the file as it was when it was opened from this path? Another file that has taken its name is no change:
 * the old one stays mapped. -1 with "<path>: changed while it was read" in error. */
int mapped_file_check(const struct mapped_file *file, const char *path, struct error *error);

/*
 * Until mapped_file_unguard, a read of what another process has cut off ends this process with the line
 * "<path>: changed while it was read" and ERROR_ENVIRONMENT, in any thread. Open and close files in one
 * thread, while no other reads them.
 */
void mapped_file_guard(void);
void mapped_file_unguard(void);

#endif
