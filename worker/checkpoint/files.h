#ifndef NORMSWEEP_WORKER_CHECKPOINT_FILES_H
#define NORMSWEEP_WORKER_CHECKPOINT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/digest.h"
#include "model/core/error.h"

/*
 * The name of a checkpoint: its run and its age. Newer ones have a larger session; in one session, a larger
 * ticket; for one ticket, a larger step.
 */
struct checkpoint_name {
    struct digest digest; /* of the run */
    int64_t session; /* row of the dataset's session table */
    uint64_t ticket; /* of the order under which a worker trains the run */
    int64_t step;
};

#define CHECKPOINT_NAME_SIZE 96

/* A checkpoint of one run in a folder, or the remains of an unfinished save. */
struct checkpoint_file {
    struct checkpoint_name name;
    bool part; /* it has PART_SUFFIX: it is being written, or the save did not finish */
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

/* FOLDER/NAME, which the caller frees; NULL without memory. */
char *checkpoint_files_path(const struct checkpoint_files *files, int64_t index);

/* Ignores errors: a file that cannot be removed does no harm. */
void checkpoint_files_remove(const struct checkpoint_files *files, int64_t index);

/*
 * Durably renames the complete file `part` to `path`; 0 or an errno. If `there` is not NULL, an existing file
 * at `path` stays, *there says whether there is one, and `part` is removed.
 */
int checkpoint_put_in_place(const char *folder, const char *part, const char *path, bool *there);

/* Compares by age: < 0 if `a` is newer. */
int checkpoint_compare(const struct checkpoint_name *a, const struct checkpoint_name *b);

/* Writes the file's name without its folder. Returns text. */
char *checkpoint_format(const struct checkpoint_name *name, char text[CHECKPOINT_NAME_SIZE]);

/* False if the text is not the name of a checkpoint. */
bool checkpoint_parse(const char *text, struct checkpoint_name *name);

/* Calls `visit` for every checkpoint in a folder, which may be missing, in no order. -1: ERROR_ENVIRONMENT.
 */
int checkpoint_walk(const char *folder, void (*visit)(void *context, const struct checkpoint_name *name),
    void *context, struct error *error);

/* Removes all checkpoints of a run, but not its final weights. -1: ERROR_ENVIRONMENT. */
int checkpoint_remove(const char *folder, const struct digest *digest, struct error *error);

/* Removes the checkpoints of all runs and all parts. Only for when no run is under way or to be resumed. */
int checkpoint_clear(const char *folder, struct error *error);

/* Likewise, but only the parts: the remains of unfinished saves. */
int checkpoint_clear_parts(const char *folder, struct error *error);

#endif
