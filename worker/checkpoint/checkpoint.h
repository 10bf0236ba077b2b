#ifndef NORMSWEEP_WORKER_CHECKPOINT_CHECKPOINT_H
#define NORMSWEEP_WORKER_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "model/core/arena.h"
#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"
#include "model/network/network.h"
#include "worker/train/train.h"

/*
 * Checkpoints of runs: netCDF files (CDF-5) that xarray opens. FOLDER/<digest of the run>-<session>-<ticket>-
 * <step>.nc holds the whole state of the run before that step; <digest>.weights.nc holds only the final
 * weights, in the same form. A file with such a name was written completely; later damage is detected.
 */

/* The owner of checkpoints: a run, its folder, session and ticket. */
struct checkpoint_owner {
    const char *folder; /* borrowed */
    struct digest digest;
    int64_t session;
    uint64_t ticket;
    int64_t last; /* load none of a later step; 0: load any */
    bool shared; /* other runs save under this digest at the same time, each in a session of its own */
    const char *mark; /* of the coordinator: write only while it exists; NULL: always write. Borrowed */
    const struct breath *breath; /* called while files are read and written; or NULL. Borrowed */
};

/* Removes all checkpoints of a run, but not its final weights. -1: ERROR_ENVIRONMENT. */
int checkpoint_remove(const char *folder, const struct digest *digest, struct error *error);

/* Removes all parts, the remains of unfinished saves, and unless `parts_alone` the checkpoints of all runs.
 * Only for when no run is under way or to be resumed. -1: ERROR_ENVIRONMENT. */
int checkpoint_clear(const char *folder, bool parts_alone, struct error *error);

/*
 * Manages the checkpoints of the current run: when one is due, where it goes, whether saving it worked. Every
 * process that trains has one; its observer forwards to these functions.
 */
struct keeper {
    /* set once, by the process that trains */
    const char *folder; /* borrowed */
    int64_t session;
    double interval; /* seconds between two checkpoints of a run; INFINITY: only when it is stopped */
    void (*say)(void *context, const char *line); /* receives lines about unusable checkpoints; or NULL */
    void *context; /* of say */
    const char *mark; /* of the coordinator, see checkpoint.h; or NULL. Borrowed */
    const struct breath *breath; /* called while files are read and written; or NULL. Borrowed */
    struct error failed; /* the first failure to save, or to read the folder; text "": none */

    /* of the current run, set by keeper_begin, updated by the other functions */
    struct checkpoint_owner owner;
    bool has_trunk; /* keeper_share was called */
    struct digest trunk;
    bool resume; /* earlier attempts at the run may have left checkpoints */
    int64_t saved_step; /* the step of the newest checkpoint that is known to be good; -1: none */
    double saved_at; /* clock_now() when it was saved, or when the run began */
};

/* Begins a run under `ticket`. Touches no file. `resume`: there may be checkpoints of the run. */
void keeper_begin(struct keeper *keeper, const struct digest *digest, uint64_t ticket, bool resume);

/*
 * The run keeps its state for longer runs, and may carry on from that of a shorter one. `trunk` is the digest
 * that runs have in common which differ in their number of steps alone. Call it after keeper_begin.
 */
void keeper_share(struct keeper *keeper, const struct digest *trunk);

/* The folder of such states in the folder of checkpoints. They are checkpoints, whose session is their step:
 * the newest is that of the longest run. */
#define KEEPER_STATES "states"

/*
 * The answer of an observer's carry_on at `step`: save when a checkpoint is due, and before a stop, unless
 * this step is already saved or is 0. Stops the run after a failure.
 */
enum verdict keeper_verdict(const struct keeper *keeper, int64_t step, bool stop, double now);

/*
 * For the observer's functions of the same names. The observer needs no `resume` if keeper->resume is false.
 * A failure goes to keeper->failed: the machine is at fault, not the run, so the sweep ends.
 */
bool keeper_resume(struct keeper *keeper, struct snapshot *snapshot);
void keeper_save(struct keeper *keeper, const struct snapshot *snapshot);
void keeper_keep(struct keeper *keeper, const struct snapshot *snapshot);
void keeper_finish(
    struct keeper *keeper, const struct snapshot *snapshot); /* saves weights if run->save_weights */

/*
 * From where keeper_resume would let a run of so many steps carry on, after keeper_begin, and keeper_share if
 * the run keeps its state. Sets the step. Changes no file. -1: ERROR_ENVIRONMENT.
 */
enum resumption { RESUME_NONE, RESUME_CHECKPOINT, RESUME_STATE };
int keeper_look(const struct keeper *keeper, const struct run *run, int64_t last_step, int64_t *step,
    enum resumption *resumption, struct error *error);

/*
 * A coordinator's mark: an empty file in the folder of checkpoints that exists as long as its workers may
 * write there. A worker that never sees the mark is on a host with another folder of that name; a worker that
 * no longer sees it has outlived its sweep. Each start has its own mark.
 */
enum { MARK_SIZE = 48 };

/* Makes the folder and the mark, whose name it writes; removes marks of dead coordinators. -1:
 * ERROR_ENVIRONMENT. */
int mark_leave(const char *folder, int64_t session, char mark[MARK_SIZE], struct error *error);

/* Waits so many seconds for a mark that cannot be seen yet. 0 once it is, or the errno of the last look. */
int mark_await(const char *folder, const char *mark, double seconds);

/* Writes the mark again if it was removed, and renews its time: cleaners of old files then spare it. */
void mark_renew(const char *folder, const char *mark);

/* Removes the mark. Does nothing for an empty name. */
void mark_remove(const char *folder, const char *mark);

/* A pattern of all marks, which dead coordinators may have left. */
#define MARK_FILES "coordinator-*.mark"

enum { SAVED_FAMILY_SIZE = 64 };

/* What the text that a network was trained on needs beside words. -1: not known. */
struct special_tokens {
    int32_t start; /* what a decoder begins with */
    int32_t end; /* what ends a source and its target */
    int32_t padding; /* has a place of its own, and is not text */
};

/* A weights file, of a run (checkpoint_save_weights) or of others (analysis/weights), open for reading. */
struct saved {
    const char *path; /* borrowed */
    char family[SAVED_FAMILY_SIZE]; /* "normsweep", or the model_type that its library has */
    bool of_run; /* a run of this program trained it */
    bool has_output; /* it has an output layer, and thus a loss */
    struct special_tokens special;
    struct architecture architecture; /* context INT32_MAX: nothing bounds the length of a text */
    struct weight_layout layout;
    bool is_double; /* the weights are stored as double, else as float */
    int file; /* netCDF's number */
    int status; /* of loads: netCDF's or an errno */
    struct stat opened; /* the file, when it was opened */
    struct arena arena; /* owned: of the layout */
};

/*
 * Opens a file. Its checksum, its architecture and the types and shapes of all weights are checked. `breath`
 * may be NULL. -1 with "<path>: why" in error, nothing to release.
 */
int saved_open(struct saved *saved, const char *path, const struct breath *breath, struct error *error);

/* The newest weights file in a folder whose run had these parameters, or NULL. The caller frees the path. */
char *saved_find(const char *folder, const struct run *run);
void saved_close(struct saved *saved);

/*
 * The weights as those of a trained network. Values may be anything, NaN included. Loading cannot fail on the
 * way: after the last load, saved_check says whether all of them could be read, from a file that was the same
 * all the time. -1 with "<path>: why".
 */
struct weight_source saved_source(struct saved *saved);
int saved_check(const struct saved *saved, struct error *error);

/* Reads a file and finds what names its weights. -1 with "<path>: why", and nothing is held. */
int start_read(struct start_weights *start, const char *path, struct error *error);

/* Does a run have another network than the file, in more than the length of texts and the precision? Then
 * `text` has all that differs: "layers is 2 there and 3 here, ...". */
enum { START_TEXT = 512 };
bool start_differs(const struct start_weights *start, const struct architecture *run, char text[START_TEXT]);

/* Puts the weights of this name into a plane, as an observer's `begin`. */
int starts_load(const struct starts *starts, int64_t name, const struct weight_layout *layout,
    scalar *weights, const struct breath *breath, struct error *error);

void starts_release(struct starts *starts);

/* The runs that have checkpoints in a folder, and their latest session; read once, when a sweep starts. */
struct checkpoint_set {
    int64_t count;
    struct digest *digest; /* [count] in order, distinct; owned */
    int64_t session; /* the latest session of any checkpoint; -1: no checkpoints */
};

/* Returns 0; or an errno, with ERROR_ENVIRONMENT set and the set empty. */
int checkpoint_set_init(struct checkpoint_set *set, const char *folder, struct error *error);
void checkpoint_set_release(struct checkpoint_set *set);

bool checkpoint_set_has(const struct checkpoint_set *set, const struct digest *digest);

/*
 * Closes a netCDF file that this process has written. Returns a netCDF status, also of the last write:
 * nc_close ignores it if its last block, which it writes only then, does not fit on the disk. Datasets are
 * closed with it, too: of the two rooms that include netcdf.h, this one is below the other.
 */
int written_close(int file);

#endif
