#ifndef NORMSWEEP_DRIVER_STATUS_STATUS_H
#define NORMSWEEP_DRIVER_STATUS_STATUS_H

#include <stdbool.h>

#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/picture/picture.h"
#include "driver/tables/tables.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"
#include "worker/checkpoint/checkpoint.h"

/* How the runs of earlier lines were named, all zeros at first: a display that is drawn again keeps to the
 * shortest names that it has needed, as long as its width is the same. */
struct run_naming {
    enum naming naming;
    int columns;
};

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

/* The state of a sweep, which the command `status` prints. */
struct status {
    struct view view;
    struct survey survey;
    bool held; /* a process writes the dataset, or may */
    char *fault; /* what run would refuse; NULL: nothing */
    char *folder; /* of `saved`; NULL: the sweep is not stopped */
    struct checkpoint_set saved; /* runs that were under way; the next start resumes them */
    double written; /* seconds since the last write; NaN: unknown */
};

/* Reads the dataset at a path; `before` and `now` as in survey_make. -1: an error, nothing to release. */
int status_read(
    struct status *status, const char *path, const struct survey *before, double now, struct error *error);

/* The same for the process that holds the lease, once it trains nothing any more: the dataset counts as free.
 */
int status_read_own(struct status *status, const char *path, double now, struct error *error);
void status_release(struct status *status);

/* Are there runs that have not ended, and a process that may train them? */
bool status_is_going(const struct status *status);

/* Prints the status on stdout as plain lines. -1: some could not be read, and are not printed. */
int status_print(const struct status *status, struct error *error);

/* "path": the absolute path of a dataset, which need not exist; NULL: unknown. */
void status_json_path(struct json_writer *writer, const char *path);

/* The whole object and a line feed, written at once to stdout. */
int status_json_print(const struct status *status, struct error *error);

/* "counts": {"pending": 3, ...}: cells by outcome. */
void status_json_counts(struct json_writer *writer, const int64_t count[OUTCOME_COUNT]);

/* "session": an object, with the texts of a session of the dataset. `age`: seconds since its start. *cause
 * becomes an errno if a text could not be read. */
void status_json_session(
    struct json_writer *writer, const struct view *view, int64_t session, double age, int *cause);

/* Prints the state of a sweep as lines that fit the canvas. `naming`: of the runs in the picture before. */
void status_picture(
    FILE *out, const struct status *status, const struct canvas *canvas, struct run_naming *naming);

/*
 * The display of a job on stderr, or NULL; created when the job begins. On a terminal it is a block of lines
 * that is redrawn in place: the map of the grid if there is room, a line for each worker that fits, and a
 * line for the sweep. Elsewhere it is a plain line every 30 s.
 */
struct display {
    struct progress *progress; /* NULL: the job has not begun */
    double *growth; /* [cells] norm_growth for the map, NaN: unknown; NULL: all unknown */
};

/* Draws what happens in a job. The display is {0} at first, and borrowed. */
struct job_observer display_observer(struct display *display);

#endif
