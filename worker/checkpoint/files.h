#ifndef NORMSWEEP_WORKER_CHECKPOINT_FILES_H
#define NORMSWEEP_WORKER_CHECKPOINT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/core/error.h"

/* Whose a checkpoint is, and when it was made: its name. Newer ones have the larger session, of one session
 * the larger ticket, of one ticket the larger step. */
struct checkpoint_name {
    struct digest digest; /* of the run */
    int64_t session; /* of the dataset's session table */
    uint64_t ticket; /* of the handing-out of the run */
    int64_t step;
};

#define CHECKPOINT_NAME_SIZE 96

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

/* Gives a whole file its name, durably; 0 or an errno. `there` is not NULL for a name that is given once: set
 * where something has it, which stays as it is; the part is gone then. */
int checkpoint_put_in_place(const char *folder, const char *part, const char *path, bool *there);

/* By age: < 0 where `a` is the newer. */
int checkpoint_compare(const struct checkpoint_name *a, const struct checkpoint_name *b);

/* The file's name without its folder. Returns text. */
char *checkpoint_format(const struct checkpoint_name *name, char text[CHECKPOINT_NAME_SIZE]);

/* False: this is no checkpoint's name. */
bool checkpoint_parse(const char *text, struct checkpoint_name *name);

/* Calls `visit` for every checkpoint in a folder, in no order; a folder that is not there has none. -1:
 * ERROR_ENVIRONMENT. */
int checkpoint_walk(const char *folder, void (*visit)(void *context, const struct checkpoint_name *name),
    void *context, struct error *error);

/* Removes all checkpoints of a run, but not its final weights. -1: ERROR_ENVIRONMENT. */
int checkpoint_remove(const char *folder, const struct digest *digest, struct error *error);

/* The same of all runs, with whatever was left half-written, by anyone: where nothing runs and nothing is to
 * go on. */
int checkpoint_clear(const char *folder, struct error *error);

#endif
