#ifndef NORMSWEEP_DRIVER_PICTURE_RUN_LINES_H
#define NORMSWEEP_DRIVER_PICTURE_RUN_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "driver/sweep/label.h"

enum { RUN_LINE_HEAD = 64, RUN_LINE_NOTE = 32 };

/* A worker and the run that it is training. */
struct run_line {
    char head[RUN_LINE_HEAD]; /* "  1", "node07" */
    int64_t cell; /* -1: idle */
    int64_t step, last_step; /* last_step -1: unknown */
    double loss; /* NaN: none yet */
    char note[RUN_LINE_NOTE]; /* "12.3k tokens/s"; "": none */
};

/* How the runs of earlier lines were named, all zeros at first: a display that is drawn again keeps to the
 * shortest names that it has needed, as long as its width is the same. */
struct run_naming {
    enum naming naming;
    int columns;
};

/*
 * Prints `count` lines with aligned columns, at most `columns` wide: "  1  lr=0.1 seed=2  120/300  loss 3.214
 * 12.3k tokens/s". If the width is short, names are shortened, notes are dropped below 60 columns, losses
 * below 40.
 */
void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming);

#endif
