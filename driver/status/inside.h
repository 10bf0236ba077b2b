#ifndef NORMSWEEP_DRIVER_STATUS_INSIDE_H
#define NORMSWEEP_DRIVER_STATUS_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "driver/dataset/ledger/ledger.h"
#include "driver/output/output.h"
#include "driver/status/status.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"

/* Counts the outcomes, runs and ended runs; and says what the state is. */
void survey_count(struct survey *survey);
const char *survey_state(const struct survey *survey);

/* Why a run failed. The caller frees it; NULL: nothing is said. *cause: as of view_string. */
char *survey_reason(const struct survey *survey, int64_t cell, int *cause);

/* Where fields are shown besides: `status` as text, the screen of --watch, the line of `run`. */
enum survey_look { LOOK_TEXT, LOOK_SCREEN, LOOK_RUN, LOOK_COUNT };

/* What a survey has found, in the order of the JSON object, and how it is said: X(FIELD, row of
 * survey_table). */
#define AT(word, is, member) .name = (word), .kind = (is), .offset = offsetof(struct survey, member)
#define SURVEY_FIELDS(X)                                                                                     \
    X(TITLE, AT("title", KIND_TEXT, title))                                                                  \
    X(NOTES, AT("notes", KIND_TEXT, notes))                                                                  \
    X(STATE, AT("state", KIND_TEXT, state))                                                                  \
    X(FAULT, AT("fault", KIND_TEXT, fault))                                                                  \
    X(MISSING, AT("missing_parts", KIND_TEXT, missing))                                                      \
    X(COPY, AT("copy", KIND_TRUTH, view.copy))                                                               \
    X(BYTES, AT("bytes", KIND_WHOLE, view.bytes))                                                            \
    X(FORMAT, AT("format_version", KIND_WHOLE, view.format))                                                 \
    X(WRITTEN, AT("written_seconds", KIND_SECONDS, written),                                                 \
        .said = {[LOOK_TEXT] = {"written   ", " ago"}, [LOOK_SCREEN] = {"silent for ", ""}})                 \
    X(GRID, .name = "grid", .kind = KIND_OWN)                                                                \
    X(CELLS, AT("cells", KIND_WHOLE, view.cells))                                                            \
    X(RUNS, AT("runs", KIND_WHOLE, runs))                                                                    \
    X(EXPECTED, AT("expected_runs", KIND_WHOLE, expected))                                                   \
    X(ENDED, AT("ended", KIND_WHOLE, ended))                                                                 \
    X(COUNTS, .name = "counts", .kind = KIND_OWN)                                                            \
    X(SAVED, AT("saved", KIND_WHOLE, saved))                                                                 \
    X(LEFT, AT("seconds_left", KIND_SECONDS, left),                                                          \
        .said = {{"left      about ", ""}, {"about ", " left"}, {"", " left"}})                              \
    X(RATE, AT("tokens_per_second", KIND_RATE, rate),                                                        \
        .said = {{"", " tokens/s in all"}, {"", " tokens/s in all"}, {"", " tokens/s in all"}})              \
    X(MEAN, .name = "mean", .kind = KIND_OPEN)                                                               \
    X(MEAN_SECONDS, AT("seconds", KIND_SECONDS, mean_seconds),                                               \
        .said = {{"duration  ", " per run, on average, to train, measure and validate"},                     \
            {"per run, on average: ", ""}})                                                                  \
    X(MEAN_RATE, AT("tokens_per_second", KIND_RATE, mean_rate),                                              \
        .said = {{"", " tokens/s per run, in training steps alone"},                                         \
            {"of this training steps at ", " tokens/s"}})                                                    \
    X(MEAN_END, .kind = KIND_CLOSE)                                                                          \
    X(SESSIONS, AT("sessions", KIND_WHOLE, sessions))                                                        \
    X(SESSION, AT("session", KIND_OWN, age),                                                                 \
        .said = {{"elapsed   ", " in this session"}, {"begun ", " ago"}})                                    \
    X(RUNS_UNDER_WAY, .name = "under_way", .kind = KIND_OWN)                                                 \
    X(FAILURES, .name = "failures", .kind = KIND_OWN)

enum survey_field {
#define X(name, ...) FIELD_##name,
    SURVEY_FIELDS(X)
#undef X
        FIELD_COUNT
};

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
