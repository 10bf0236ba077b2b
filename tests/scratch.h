#ifndef NORMSWEEP_TESTS_SCRATCH_H
#define NORMSWEEP_TESTS_SCRATCH_H

#include "tests/test.h"

/* Files that tests make, in TMPDIR or /tmp, and what becomes of their processes. */

enum { SCRATCH_PATH = 64 };

/* Makes an empty file, or a folder, and writes its path. */
void scratch_file(char path[SCRATCH_PATH]);
void scratch_folder(char path[SCRATCH_PATH]);

/* Removes a folder with its files; it must not have folders, or with all that is in it. */
void scratch_remove(const char *folder);
void scratch_remove_all(const char *folder);

/* Makes a file that holds these bytes alone, or a text. */
void put_bytes(const char *path, const void *bytes, size_t size);
void put_text(const char *path, const char *text);

/* The bytes of a file and a NUL behind them, for the caller to free. NULL and 0: there is no file. */
char *get_bytes(const char *path, size_t *size);

bool file_exists(const char *path);

/* Counts, or removes, the files whose names end so, but for those whose names begin with '.'. */
int count_files(const char *folder, const char *suffix);
void remove_files(const char *folder, const char *suffix);

/*
 * What act(context) returns in a process of its own, from 0 to 255, or minus the number of the signal that
 * ends it.
 */
int in_child(int (*act)(void *context), void *context);

#endif
