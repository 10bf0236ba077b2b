#ifndef NORMSWEEP_DRIVER_PICTURE_SURVEY_H
#define NORMSWEEP_DRIVER_PICTURE_SURVEY_H

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

/*
 * How a sweep stands, from its dataset alone: outcomes, runs under way, times. What is read is a few numbers
 * for each cell, and rows of the runs under way alone.
 */
struct survey_run {
    int64_t cell;
    int64_t last_step; /* of the whole run; -1: not known */
    int64_t step; /* of its last row; 0 before it has any */
    double loss; /* there; NaN: not known */
    double heard; /* when that row was first seen, on the clock of `now` */
    char host[STRING_SHORT];
};

struct survey {
    int64_t cells;
    signed char *outcome; /* [cells] as the file has them */
    double *growth; /* [cells] norm_growth, NaN where it is not known */
    int64_t count[OUTCOME_COUNT]; /* runs that nobody is left to end are pending */
    int64_t runs, ended; /* skipped cells are no runs */
    int64_t running;
    struct survey_run *run; /* [running] by cell; none where nobody holds the dataset */
    double speed, seconds; /* tokens per second and duration, means over ended runs; NaN: there are none */
    double age; /* seconds since the last session began, NaN: not known */
    double left, rate; /* seconds until the end and tokens per second of all workers, as the last session has
                        * written them; NaN: not known */
};

/*
 * `held`: a process writes the dataset, or may. `before`: an earlier survey of it, which tells since when
 * runs have been where they are; NULL: there is none. `now`: seconds on any clock. The view outlives the
 * survey. On failure -1, nothing held.
 */
int survey_make(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error);

/* Takes one that is all zeros, too. */
void survey_release(struct survey *survey);

/* The last session's row in the session table, or -1. */
int64_t survey_session(const struct view *view);

#endif
