#ifndef NORMSWEEP_DRIVER_JOB_PROGRESS_H
#define NORMSWEEP_DRIVER_JOB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/dataset/dataset.h"
#include "driver/picture/picture.h"
#include "driver/terminal/terminal.h"

/*
 * The progress display of a sweep. On a terminal it is a block of lines that is redrawn in place: the map
 * of the grid if there is room, a line for each worker that fits, and a line for the sweep. Elsewhere it is a
 * plain line every 30 s.
 */
struct progress;

/*
 * The terminal of stderr. mpirun hides it from its ranks, so the launcher passes it in the environment
 * variable SCREEN_VARIABLE, in the form of terminal_format.
 */
#define SCREEN_VARIABLE "NORMSWEEP_SCREEN"
struct terminal progress_terminal(void);

/* Counts of runs of the whole sweep. */
struct tally {
    int64_t runs; /* that are trained, as far as is known */
    int64_t to_come; /* that a search will probably choose besides */
    int64_t done, diverged, failed, running;
    double
        cost_left; /* of runs that have not ended, and those to come, in the unit of progress_begin's cost */
};

/* Writes to `file`. Pointers in `runs` are borrowed, and what they point to may change; outcome NULL: no
 * map. NULL: no memory. */
struct progress *progress_new(
    FILE *file, const struct terminal *terminal, int workers, const struct picture_runs *runs, double now);
void progress_free(struct progress *progress);

/* Follows changes of the terminal's size. Only if the output ends up on this process's own terminal. */
void progress_follow(struct progress *progress);

/* Worker 0 to workers - 1 begins the run of a cell, of this cost. The first step that it reports is where
 * the run resumes; the work before it does not count for the pace. */
void progress_begin(struct progress *progress, int worker, int64_t cell, double cost);
void progress_step(struct progress *progress, int worker, int64_t step, int64_t last_step, int64_t tokens);
void progress_loss(struct progress *progress, int worker, int64_t step, double loss);
void progress_end(struct progress *progress, int worker);

/* From now on the display says that runs are saved and the sweep stops; the first time at once. */
void progress_stop(struct progress *progress);

/* Call when outcomes of the map have changed. */
void progress_remap(struct progress *progress);

/* Draws if due: a few times a second on a terminal, otherwise every 30 s. */
void progress_show(struct progress *progress, const struct tally *tally, double now);

/* The pace of the sweep; call it about once a second, after the first progress_show. */
struct pace progress_pace(struct progress *progress, const struct tally *tally, double now);

/* Erases the block, so that other output can take its place. */
void progress_clear(struct progress *progress);

#endif
