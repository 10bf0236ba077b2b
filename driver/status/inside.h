#ifndef NORMSWEEP_DRIVER_STATUS_INSIDE_H
#define NORMSWEEP_DRIVER_STATUS_INSIDE_H

#include <stdbool.h>

#include "driver/status/status.h"

/* Surveys a dataset that a process holds, or may, or that no process does. -1: nothing to release. */
int survey_make(struct survey *survey, const char *path, bool held, const struct survey *before, double now,
    struct error *error);

/* Counts the outcomes, runs and ended runs; and says what the state is. */
void survey_count(struct survey *survey);
const char *survey_state(const struct survey *survey);

/* Why a run failed. The caller frees it; NULL: nothing is said. *cause: as of view_string. */
char *survey_reason(const struct survey *survey, int64_t cell, int *cause);

/* What a survey has found, in the order of the JSON object. */
enum survey_field {
    FIELD_TITLE,
    FIELD_NOTES,
    FIELD_STATE,
    FIELD_FAULT,
    FIELD_COPY,
    FIELD_BYTES,
    FIELD_FORMAT,
    FIELD_WRITTEN,
    FIELD_GRID,
    FIELD_CELLS,
    FIELD_RUNS,
    FIELD_EXPECTED,
    FIELD_ENDED,
    FIELD_COUNTS,
    FIELD_SAVED,
    FIELD_LEFT,
    FIELD_RATE,
    FIELD_MEAN,
    FIELD_MEAN_SECONDS,
    FIELD_MEAN_RATE,
    FIELD_MEAN_END,
    FIELD_SESSIONS,
    FIELD_SESSION,
    FIELD_RUNS_UNDER_WAY,
    FIELD_FAILURES,
    FIELD_COUNT
};

/* Where fields are shown besides: `status` as text, the screen of --watch, the line of `run`. */
enum survey_look { LOOK_TEXT, LOOK_SCREEN, LOOK_RUN, LOOK_COUNT };

/* The only list of the fields. */
extern const struct survey_row {
    const char *name; /* in JSON */
    enum survey_kind {
        KIND_TEXT,
        KIND_TRUTH,
        KIND_WHOLE, /* below 0: unknown */
        KIND_SECONDS, /* a real number, NaN: unknown */
        KIND_RATE, /* likewise, per second */
        KIND_OPEN, /* an object begins, whose fields follow until KIND_CLOSE */
        KIND_CLOSE,
        KIND_OWN /* has a form of its own */
    } kind;
    size_t offset; /* in the survey */
    struct {
        const char *before, *after; /* NULL: it is not shown there */
    } said[LOOK_COUNT];
} survey_table[FIELD_COUNT];

enum { SAID_SIZE = 80 };

/* "about 3 min left": a field of KIND_SECONDS or KIND_RATE as it is said there; "" if it is unknown. Returns
 * text. */
const char *survey_say(
    const struct survey *survey, enum survey_field field, enum survey_look look, char text[SAID_SIZE]);

/* "out.nc: the sweep's title" */
void survey_print_name(FILE *out, const struct survey *survey);

/* The next failed cell from this one on; -1: none. */
int64_t survey_next_failed(const struct survey *survey, int64_t cell);

/* Prints the reasons of at most `most` failed runs, and how many more there are. `columns`: of a run's name,
 * at most; 0: any. *cause: as of view_string. */
void survey_print_failures(FILE *out, const struct survey *survey, int64_t most, int columns, int *cause);

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

/* Begins a display on this file. Pointers in `runs` are borrowed. */
void display_begin(struct display *display, FILE *file, const struct terminal *terminal, int workers,
    const struct picture_runs *runs, double now);

#endif
