#ifndef NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H
#define NORMSWEEP_DRIVER_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

/* Which file lies at a path, for processes of one machine; inode 0: unknown. Signed, for records of text. */
struct output_file {
    long long device, inode;
};

/*
 * The absolute path of an output, with all links followed, so that the dataset and its lease have one name
 * however they are reached. The output need not exist, nor the target of the last link. The caller frees the
 * path; NULL with errno set.
 */
char *output_resolve(const char *path);

/* The folder in which an output lies or will be created: the one in its path, or if the path is a link, that
 * of the link's target. The caller frees it; NULL: unknown. */
char *output_folder(const char *path);

/* After an errno: must the user choose another path? All other errors are the machine's. */
bool output_is_at_fault(int cause);

/* The errno with which creating a file in a folder would fail; 0: no reason is known. */
int output_folder_fault(const char *folder);

/*
 * Does the path exist? 1: yes, *kind is its file type; 0: no; -1: unknown, with errno. Only ENOENT and
 * ENOTDIR mean that it does not: a file that a server or disk hides for a moment must not be overwritten.
 */
int output_exists(const char *path, mode_t *kind);

/*
 * The path of a new file that is to be renamed to `path` once it is whole: beside it, with the number of this
 * process. Nothing is there, not even what a killed process of this number has left. Create it with O_EXCL:
 * another machine may have such a process, too. The caller frees it; NULL with errno set.
 */
char *output_fresh(const char *path);

/* Renames a new file to a path that does not exist. 0 or an errno; EEXIST: the path exists and is left alone.
 */
int output_name(const char *new, const char *path);

#endif
