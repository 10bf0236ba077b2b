#ifndef NORMSWEEP_DRIVER_STATUS_STATUS_H
#define NORMSWEEP_DRIVER_STATUS_STATUS_H

#include <stdbool.h>

#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/picture/picture.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"

/* A run under way. */
struct survey_run {
    int64_t cell;
    int64_t last_step; /* of the complete run; -1: unknown */
    int64_t step; /* of its last row; 0: no row yet */
    double loss; /* at that step; NaN: unknown */
    double heard; /* when that row was first seen, on the clock of `now` */
    char host[STRING_SHORT];
};

/*
 * What `status` finds out about a sweep, from its dataset alone. It reads a few numbers per cell, and rows
 * only of runs under way. survey_fields of inside.h says how each of these is shown.
 */
struct survey {
    struct view view; /* with the bytes of all parts */
    bool held; /* a process writes the dataset, or may */
    const char *state; /* in one word: see survey_state of survey.c */
    char *title, *notes; /* NULL: none */
    char *fault; /* what run would refuse; NULL: nothing */
    char *missing; /* the numbers of parts that are not there, "2, 3 of 8"; NULL: none, or it is no folder */
    char *folder; /* of the runs that are saved; NULL: the sweep is not stopped */
    int64_t saved; /* runs that were under way, which the next start resumes; -1: it is not stopped */
    double written; /* seconds since the last write; NaN: unknown */
    signed char *outcome; /* [cells] as in the file; running runs are pending if no process holds it */
    double *growth; /* [cells] norm_growth, NaN: unknown */
    double *phase; /* [cells] enum phase as a number */
    int64_t count[OUTCOME_COUNT];
    int64_t runs, ended; /* skipped cells do not count as runs */
    int64_t expected; /* runs that will have been trained in the end, while a search chooses: its estimate */
    int64_t running;
    struct survey_run *run; /* [running] sorted by cell */
    double mean_seconds, mean_rate; /* duration and tokens per second, over ended runs; NaN: none ended */
    int64_t sessions, session; /* their number; the row of the last one in the view; -1: none */
    char **reason; /* [cells] of parts: why a run failed, NULL: it has not; NULL: see the view */
    double age; /* seconds since the last one began; NaN: unknown */
    double left, rate; /* written by the last session: seconds to the end, tokens per second; NaN: unknown */
};

/*
 * Reads the dataset at a path, or all parts in a folder (first.parts) as one dataset; its view is then that
 * of the part that began last, and runs of parts that are not there yet are pending. `before`: an earlier
 * survey of it, which knows when each run's last row was first seen; NULL: none. `now`: seconds on any clock.
 * -1: an error, nothing to release.
 */
int survey_read(
    struct survey *survey, const char *path, const struct survey *before, double now, struct error *error);

/* The number of parts into which the sweep in a folder is divided, by the names of its files, I-of-N.nc; 0:
 * it is not a folder with parts. -1: files of different N. */
int survey_parts(const char *path, struct error *error);

/* Checks that a part which begins in a folder is of the same sweep and division as those that are there: the
 * first one that can be read. division: as in ATTRIBUTE_PART. 0, or -1 with the error set. */
int survey_check_division(const char *path, const char *division, struct error *error);

/* Does a process hold the dataset, or one of the parts? As lease_is_held. */
bool survey_is_held(const char *path, int *unknown);

/* Surveys one dataset that a process holds, or may, or that no process does: that of the process that has the
 * lease counts as free once it trains nothing any more. Else as survey_read. */
int survey_make(struct survey *survey, const char *path, bool held, const struct survey *before, double now,
    struct error *error);
void survey_release(struct survey *survey);

/* Are there runs that have not ended, and a process that may train them? */
bool survey_is_going(const struct survey *survey);

/* Prints the survey on stdout as plain lines, -1: some could not be read, and are not printed; or with `json`
 * as one object and a line feed, written at once. */
int survey_print(const struct survey *survey, bool json, struct error *error);

/* "path": the absolute path of a dataset, which need not exist; NULL: unknown. */
void status_json_path(struct json_writer *writer, const char *path);

/* "counts": {"pending": 3, ...}: cells by outcome. */
void status_json_counts(struct json_writer *writer, const int64_t count[OUTCOME_COUNT]);

/* "session": an object, with the texts of a session of the dataset. `age`: seconds since its start. *cause
 * becomes an errno if a text could not be read. */
void status_json_session(
    struct json_writer *writer, const struct view *view, int64_t session, double age, int *cause);

/* How the runs of earlier lines were named, all zeros at first: a screen that is drawn again keeps to the
 * shortest names that it has needed, as long as its width is the same. */
struct run_naming {
    enum naming naming;
    int columns;
};

/* Prints the survey as lines that fit the canvas. `naming`: of the runs in the screen before. */
void survey_screen(
    FILE *out, const struct survey *survey, const struct canvas *canvas, struct run_naming *naming);

/*
 * The display of a job on stderr, created when the job begins. On a terminal it is a block of lines that is
 * redrawn in place: the map of the grid if there is room, a line for each worker that fits, and a line for
 * the sweep. Elsewhere it is a plain line every 30 s.
 */
struct display {
    struct canvas canvas; /* file NULL: the job has not begun; rows 0: plain lines */
    bool follows; /* the terminal's size */
    struct picture_runs runs; /* borrowed pointers, whose values change; outcome NULL: no map */
    double *growth; /* [cells] norm_growth for the map, NaN: unknown; NULL: all unknown */
    char *map; /* its lines; NULL: none */
    int map_rows, map_columns; /* the size that they were made for */
    bool map_changed; /* since the last drawing */
    double map_next; /* time of the next drawing of the map, at the earliest */
    int workers;
    struct run_line *line; /* [workers] */
    struct run_naming naming;
    struct meter *worker, all; /* [workers]; all are read at once, so that the rates of workers add up */
    bool stopping, news; /* news: this is not shown yet */
};

/* Draws what happens in a job. The display is {0} at first, and borrowed. */
struct job_observer display_observer(struct display *display);

#endif
