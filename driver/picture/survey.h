#ifndef NORMSWEEP_DRIVER_PICTURE_SURVEY_H
#define NORMSWEEP_DRIVER_PICTURE_SURVEY_H

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

/*
 * The state of a sweep, read from its dataset alone: outcomes, runs under way, times. Reads a few numbers per
 * cell, and rows only of runs under way.
 */
struct survey_run {
    int64_t cell;
    int64_t last_step; /* of the complete run; -1: unknown */
    int64_t step; /* of its last row; 0: no row yet */
    double loss; /* at that step; NaN: unknown */
    double heard; /* when that row was first seen, on the clock of `now` */
    char host[STRING_SHORT];
};

struct survey {
    int64_t cells;
    signed char *outcome; /* [cells] as in the file */
    double *growth; /* [cells] norm_growth, NaN: unknown */
    double *phase; /* [cells] enum phase as a number */
    int64_t count[OUTCOME_COUNT]; /* running runs count as pending if no process holds the dataset */
    int64_t runs, ended; /* skipped cells do not count as runs */
    int64_t running;
    struct survey_run *run; /* [running] sorted by cell */
    double speed, seconds; /* tokens per second and duration, means over ended runs; NaN: none ended */
    int64_t session; /* the last one that was started; -1: none */
    double age; /* seconds since it began; NaN: unknown */
    double left, rate; /* written by the last session: seconds to the end, tokens per second; NaN: unknown */
    double
        expected; /* written by the last session: runs in all, if a search chooses among them; NaN: unknown */
};

/*
 * `held`: a process writes the dataset, or may. `before`: an earlier survey of the same dataset, which knows
 * when each run's last row was first seen; NULL: none. `now`: seconds on any clock. The view must outlive the
 * survey. -1: an error, nothing to release.
 */
int survey_make(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error);

/* The number of runs that will have been trained in the end: `runs`, or while a search chooses among them,
 * its estimate. */
double survey_expected(const struct survey *survey);

/* Also accepts a survey that is all zeros. */
void survey_release(struct survey *survey);

#endif
