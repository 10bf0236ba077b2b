#ifndef NORMSWEEP_DRIVER_JOB_INSIDE_H
#define NORMSWEEP_DRIVER_JOB_INSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/job/job.h"
#include "driver/picture/picture.h"
#include "driver/search/search.h"

/* The result of a cell has been handed to the dataset. */
void chooser_take(struct chooser *chooser, int64_t cell, enum outcome outcome);

/* Roughly how many more cells chooser_next will give. */
double chooser_left(const struct chooser *chooser);

/*
 * Reads the norms of a run over its measured steps. `course` has room for dataset_steps values. *known false:
 * fewer than two norms were measured, the weights of the layers do not decay alike (run_even_decay), or the
 * run may have ended early. -1 with the error of the dataset.
 */
int course_read(const struct sweep *sweep, struct dataset *dataset, int64_t cell, struct course *course,
    bool *known, struct error *error);

/* Has the run a course, as far as its parameters tell? */
bool course_is_of(const struct run *run);

/* The same from `count` values that were read: of the steps, square has the norms and time has rate_sum; NaN
 * where they were not measured. Returns *known. */
bool course_make(const struct run *run, const int64_t *step, int64_t count, struct course *course);

/* Writes to `file`. Pointers in `runs` are borrowed, and what they point to may change; outcome NULL: no
 * map. NULL: no memory. */
struct progress *progress_new(
    FILE *file, const struct terminal *terminal, int workers, const struct picture_runs *runs, double now);
void progress_free(struct progress *progress);

/* Follows changes of the terminal's size. Only if the output ends up on this process's own terminal. */
void progress_follow(struct progress *progress);

/* Call when outcomes of the map have changed. */
void progress_remap(struct progress *progress);

/* Draws if due: a few times a second on a terminal, otherwise every 30 s. */
void progress_show(struct progress *progress, const struct tally *tally, double now);

/* The pace of the sweep; call it about once a second, after the first progress_show. */
struct pace progress_pace(struct progress *progress, const struct tally *tally, double now);

/*
 * The progress display of an open dataset, with a map of its grid on a terminal. *growth: norm_growth [cells]
 * of the runs that have ended, NaN: unknown, which the map shows and the caller keeps up to date and frees
 * after the display; NULL without a map, or if it cannot be read: the map then lacks earlier starts. NULL: no
 * memory.
 */
struct progress *display_new(
    const struct sweep *sweep, const struct dataset *dataset, int workers, double now, double **growth);

/* Orders that a worker holds besides the one it trains, at most. With many of them, runs of milliseconds do
 * not wait for a coordinator that sleeps between messages or syncs results to the disk, which may take a
 * tenth of a second. The makespan does not grow; the rules for that are in driver/schedule/assignment.c. */
enum { JOB_ORDERS_AHEAD = 15 };

/* The job begins with so many workers; runs that are left to train, as far as is known. */
void events_sweep_begun(struct job *job, int workers, int64_t runs_left);

/* A worker trains a run from a step on; 0: from its start. */
void events_run_begun(
    struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step);

/* A run has a result, which is not committed yet. */
void events_run_ended(struct job *job, int worker, int64_t cell, const struct result *result);

/* A run that was under way is pending again. */
void events_run_returned(struct job *job, int worker, int64_t cell);

#endif
