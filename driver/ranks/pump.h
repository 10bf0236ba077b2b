#ifndef NORMSWEEP_DRIVER_RANKS_PUMP_H
#define NORMSWEEP_DRIVER_RANKS_PUMP_H

#include <stdbool.h>
#include <stddef.h>

enum { PUMP_LINE = 4096, PUMP_NOISE = 8192, PUMP_BLOCK_LINES = 40 };

/*
 * Copies the output of a child line by line. With `quiet`, mpirun's own messages are held back, so that they
 * do not hide the one line that matters: blocks between dashed (or, MPICH's, double-dashed) lines (at most
 * PUMP_BLOCK_LINES long, as the closing line may be missing), and errors of its daemons when a rank has died.
 */
#define PUMP_STATUS "normsweep: the coordinator ends with status " /* followed by the number */

struct pump {
    int from, to;
    bool quiet, ended;
    bool in_block; /* between two dashed lines */
    char line[PUMP_LINE]; /* not yet complete */
    size_t length;
    int status; /* from a PUMP_STATUS line, which is not copied; -1: none yet */
    char last[PUMP_LINE]; /* the last line that was copied and is not blank, without its end; "": none */
    int block_lines;
    char noise[PUMP_NOISE]; /* the beginning of what was held back */
    size_t noise_length;
};

/* The pump takes ownership of `from`. */
void pump_init(struct pump *pump, int from, int to, bool quiet);

/* Copies the available lines without waiting. */
void pump_move(struct pump *pump);

/* The same, and an incomplete last line. */
void pump_finish(struct pump *pump);

/* Writes what was held back. */
void pump_tell_noise(struct pump *pump);

void pump_release(struct pump *pump);

#endif
