#ifndef NORMSWEEP_DRIVER_DATASET_EXTEND_EXTEND_H
#define NORMSWEEP_DRIVER_DATASET_EXTEND_EXTEND_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * A sweep with more `steps` than the dataset at its output, whose runs have kept states to carry on from. The
 * dataset becomes OUT.nc.<its steps>.old, and the files of its runs, but not the states, go to the folder
 * OUT.nc.<its steps>.old.d. So no dataset is ever replaced, as OUT.nc.old is by --fresh.
 */
struct grown_steps {
    int64_t old_steps; /* `steps` of the dataset; 0: the sweep has not grown */
    int64_t runs, kept; /* runs of the sweep; those that have a state to carry on from */
};

/* The name that the dataset at a path gets; with 0 steps, that which --fresh gives it. The caller frees it;
 * NULL: no memory. */
char *set_aside_name(const char *path, int64_t old_steps);

/* A run fails after so many deaths of its workers without a checkpoint in between. */
enum { DEATHS_MOST = 3 };

/* What to do with an existing output. */
struct dataset_options {
    bool fresh; /* rename it to OUT.nc.old and create a new one */
    bool retry_failed; /* make failed runs pending */
    const struct output_file *known; /* refuse a missing output, and another file; NULL: this start has not
                                      * opened it before */
};

/* Maps cells of an existing file to cells of the sweep. */
struct match {
    int64_t axis_count; /* of the file */
    int64_t *to[AXES_MAX]; /* [length of the file's axis] index along the sweep's axis; owned */
    int64_t stride[AXES_MAX]; /* of the sweep's axis, in cells; 0 if it is now a fixed parameter */
    int64_t base; /* cells: offset by axes whose parameters are fixed in the file */
    int64_t old_steps; /* the file's fixed `steps`, if the sweep has more and its runs carry on from kept
                        * states, so that nothing is copied; else 0 */
    bool identity; /* every cell keeps its number, and none is new */
};

/*
 * The cell of an open dataset that holds the run of each cell of the sweep, -1: none. Sets *kept_cell to
 * [cells], which the caller frees. The dataset, which verify_content has accepted, holds the whole sweep or a
 * part of it, or, none of its runs, a shorter one. -1: it holds something else, or memory is lacking; the
 * message is that of `run`.
 */
int match_cells(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **kept_cell, struct error *error);

/*
 * What a start finds at its output, and what it would do there. `run` makes the plan and executes it,
 * `run --dry-run` prints it, `plan` reads which runs have ended.
 */

enum start_fate {
    START_MAKES, /* there is no file, so that one is made */
    START_CONTINUES, /* the file is continued as it is */
    START_REWRITES, /* a new file with all that the old one holds takes its place */
    START_SETS_ASIDE, /* the file becomes OUT.nc.old, and a new one is made */
    START_GROWS, /* the file becomes that of a shorter sweep, and a new one is made: see struct grown_steps */
};

/* Why a file does not fit the sweep as it is, though all that it holds does. */
enum rewrite {
    REWRITE_CELLS,
    REWRITE_STEPS,
    REWRITE_LENGTHS,
    REWRITE_TEXT,
    REWRITE_SESSIONS,
    REWRITE_OFFSETS,
    REWRITE_COUNT
};

struct start_plan {
    const char *name; /* of the output, as given; borrowed */
    char *path; /* absolute, links followed */
    enum start_fate fate;
    bool rewrite[REWRITE_COUNT]; /* with START_REWRITES, one at least */
    struct grown_steps grown; /* with START_GROWS */
    struct layout layout; /* of the file that the start has in the end */
    struct view view; /* of the file that is continued or rewritten, else closed */
    struct match match; /* of its cells */
    int64_t session; /* row of the session table */
    double zero; /* clock_now() at the sweep's beginning, that of its first session */
    double additions; /* bytes that others have added to it; NaN: unknown */
    int64_t cells; /* of the sweep */
    int64_t *kept_cell; /* [cells] the cell of the file that holds the same run; -1: none does */
    signed char *before; /* [cells] the outcome in the file; pending if none holds the run */
    signed char *outcome; /* [cells] that with which the start begins: see dataset_outcomes */
};

/*
 * Decides, and writes nothing. The sweep and the corpus are borrowed until start_plan_release. On failure -1
 * with the error of the start, and nothing held: ERROR_INPUT if the output cannot be written, is not a
 * dataset of this program, or holds another sweep; ERROR_ENVIRONMENT for I/O.
 */
int start_plan_make(struct start_plan *plan, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct dataset_options *options, struct error *error);

/* Does it: afterwards the file at the path is complete, and has the plan's layout. On failure -1, and the
 * file is as it was. */
int start_plan_execute(struct start_plan *plan, struct error *error);

void start_plan_release(struct start_plan *plan);

/* "the text of the sweep file has changed" */
extern const char *const rewrite_words[REWRITE_COUNT];

/* The file that this start has opened is gone, between its steps or at its end. `another`: a
 * file is at the path, but not the one that this start has opened. Always -1, with the error set. */
int dataset_gone(const char *name, bool another, struct error *error);

#endif
