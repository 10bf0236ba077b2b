#ifndef NORMSWEEP_DRIVER_JOB_PROGRESS_H
#define NORMSWEEP_DRIVER_JOB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/dataset/write.h"
#include "driver/picture/diagram.h"
#include "driver/terminal/terminal.h"

/*
 * How a sweep goes, for people: on a terminal a block of lines that is drawn anew, the map of the grid as far
 * as there is room, one line for each worker that fits and one for the sweep; elsewhere a plain line now and
 * then.
 */
struct progress;

/*
 * The terminal of stderr. A rank's is hidden by mpirun: its launcher hands it over as SCREEN_VARIABLE, as
 * terminal_format has it.
 */
#define SCREEN_VARIABLE "NORMSWEEP_SCREEN"
struct terminal progress_terminal(void);

/* The sweep as a whole. */
struct tally {
    int64_t runs; /* skipped cells left out */
    int64_t done, diverged, failed, running;
    double cost_left; /* of the runs that have not ended, in the unit of progress_begin's cost */
};

/* Writes to `file`. What `runs` points to is borrowed and may change; outcomes NULL: there is no map. NULL:
 * no memory. */
struct progress *progress_new(
    FILE *file, const struct terminal *terminal, int workers, const struct diagram_runs *runs, double now);
void progress_free(struct progress *progress);

/* The file is this process's own terminal, or is printed there: keeps to its size as that changes. */
void progress_follow(struct progress *progress);

/* Worker 0 .. workers - 1 begins the run of a cell, which costs `cost`. Its first step tells where it goes on
 * from: what lies before that was done by others. */
void progress_begin(struct progress *progress, int worker, int64_t cell, double cost, double now);
void progress_step(
    struct progress *progress, int worker, int64_t step, int64_t last_step, int64_t tokens, double now);
void progress_loss(struct progress *progress, int worker, int64_t step, double loss);
void progress_end(struct progress *progress, int worker);

/* The map's outcomes have changed. */
void progress_remap(struct progress *progress);

/* Draws when it is time to: a few times a second on a terminal, else every 30 s. */
void progress_show(struct progress *progress, const struct tally *tally, double now);

/* How fast the sweep goes, after the first progress_show; to be asked about every second. */
struct pace progress_pace(struct progress *progress, const struct tally *tally, double now);

/* Takes the block away, so that something else can be written. */
void progress_clear(struct progress *progress);

#endif
