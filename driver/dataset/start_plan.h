#ifndef NORMSWEEP_DRIVER_DATASET_START_PLAN_H
#define NORMSWEEP_DRIVER_DATASET_START_PLAN_H

#include "driver/dataset/inside.h"

/*
 * What a start finds at its output, and what it would do there. `run` makes the plan and executes it,
 * `run --dry-run` prints it, `plan` reads which runs have ended.
 */

enum start_fate {
    START_MAKES, /* there is no file, so that one is made */
    START_CONTINUES, /* the file is continued as it is */
    START_REWRITES, /* a new file with all that the old one holds takes its place */
    START_SETS_ASIDE, /* the file becomes OUT.nc.old, and a new one is made */
    START_LENGTHENS, /* the file becomes that of a shorter sweep, and a new one is made: see struct longer */
};

/* Why a file does not fit the sweep as it is, though all that it holds does. */
enum rewrite {
    REWRITE_CELLS,
    REWRITE_STEPS,
    REWRITE_LENGTHS,
    REWRITE_TEXT,
    REWRITE_SESSIONS,
    REWRITE_PLACES,
    REWRITE_COUNT
};

struct start_plan {
    const char *name; /* of the output, as given; borrowed */
    char *path; /* absolute, links followed */
    enum start_fate fate;
    bool rewrite[REWRITE_COUNT]; /* with START_REWRITES, one at least */
    struct longer longer; /* with START_LENGTHENS */
    struct layout layout; /* of the file that the start has in the end */
    struct view view; /* of the file that is continued or rewritten, else closed */
    struct mapping mapping; /* of its cells */
    int64_t session; /* row of the session table */
    double foreign; /* bytes that others have added to it; NaN: unknown */
    int64_t cells; /* of the sweep */
    int64_t *place; /* [cells] the cell of the file that holds the same run; -1: none does */
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

#endif
