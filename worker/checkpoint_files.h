#ifndef NORMSWEEP_WORKER_CHECKPOINT_FILES_H
#define NORMSWEEP_WORKER_CHECKPOINT_FILES_H

#include "worker/checkpoint.h"

/* The checkpoints of one run in a folder, and what saves of it have left half-done. */
struct checkpoint_file {
    struct checkpoint_name name;
    bool part; /* it still has the name under which it was written */
};

struct checkpoint_files {
    const char *folder; /* borrowed */
    int64_t count, size;
    struct checkpoint_file *file; /* newest first; owned */
};

#define PART_SUFFIX ".part"
#define WEIGHTS_SUFFIX ".weights.nc"

/* -1: ERROR_ENVIRONMENT. */
int checkpoint_files_list(
    struct checkpoint_files *files, const char *folder, const struct digest *digest, struct error *error);
void checkpoint_files_release(struct checkpoint_files *files);

/* FOLDER/NAME, allocated, the caller's to free; NULL: no memory. */
char *checkpoint_files_path(const struct checkpoint_files *files, int64_t index);

/* One that is gone already, or cannot be removed now, is nobody's loss. */
void checkpoint_files_remove(const struct checkpoint_files *files, int64_t index);

/* Gives a whole file its name, durably; 0 or an errno. */
int checkpoint_put_in_place(const char *folder, const char *part, const char *path);

/* By age: < 0 where `a` is the newer. */
int checkpoint_compare(const struct checkpoint_name *a, const struct checkpoint_name *b);

#endif
