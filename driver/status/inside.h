#ifndef NORMSWEEP_DRIVER_STATUS_INSIDE_H
#define NORMSWEEP_DRIVER_STATUS_INSIDE_H

#include <stdbool.h>

#include "driver/status/status.h"

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

/*
 * The state in one word. running: a process holds the dataset, to train or to begin or end the sweep; no
 * process does otherwise. altered: there is a fault. stopped: runs are left. failed: all runs have ended, and
 * some failed. complete: all have ended, and none failed.
 */
const char *status_state(const struct status *status);

/*
 * The state of a sweep for scripts. docs/status.schema.json describes the object; a change that existing
 * readers could trip over raises STATUS_JSON_VERSION.
 */
enum { STATUS_JSON_VERSION = 1 };

/*
 * The phase diagram of a running sweep. It is redrawn after changes, but so rarely that drawing takes less
 * than 1 % of the time, however large the grid is. When the terminal changes size it is redrawn at once,
 * because lines made for a larger terminal would push the workers' lines off a smaller one.
 */
struct live_map {
    struct picture_runs runs; /* borrowed pointers; outcome NULL: no map */
    char *text; /* the lines; NULL: none */
    int rows, columns; /* the size that the lines were made for */
    bool changed; /* since the last drawing */
    double next; /* time of the next drawing, at the earliest */
};

void live_map_init(struct live_map *map, const struct picture_runs *runs);
void live_map_release(struct live_map *map);

/* Updates `text` if due; `now` in seconds. At most `rows` lines of the canvas's width; none if rows are
 * too few for a map. */
void live_map_draw(struct live_map *map, const struct canvas *canvas, int rows, double now);

enum { RUN_LINE_HEAD = 64, RUN_LINE_NOTE = 32 };

/* A worker and the run that it is training. */
struct run_line {
    char head[RUN_LINE_HEAD]; /* "  1", "node07" */
    int64_t cell; /* -1: idle */
    int64_t step, last_step; /* last_step -1: unknown */
    double loss; /* NaN: none yet */
    char note[RUN_LINE_NOTE]; /* "12.3k tokens/s"; "": none */
};

/*
 * Prints `count` lines with aligned columns, at most `columns` wide: "  1  lr=0.1 seed=2  120/300  loss 3.214
 * 12.3k tokens/s". If the width is short, names are shortened, notes are dropped below 60 columns, losses
 * below 40.
 */
void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming);

/* The progress display; see struct display. */
struct progress;

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

/* Worker 0 to workers - 1 begins the run of a cell, of this cost. The first step that it reports is where
 * the run resumes; the work before it does not count for the pace. */
void progress_begin(struct progress *progress, int worker, int64_t cell, double cost);
void progress_step(struct progress *progress, int worker, int64_t step, int64_t last_step, int64_t tokens);
void progress_loss(struct progress *progress, int worker, int64_t step, double loss);
void progress_end(struct progress *progress, int worker);

/* From now on the display says that runs are saved and the sweep stops; the first time at once. */
void progress_stop(struct progress *progress);

/* Erases the block, so that other output can take its place. */
void progress_clear(struct progress *progress);

#endif
