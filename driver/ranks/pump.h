#ifndef NORMSWEEP_DRIVER_RANKS_PUMP_H
#define NORMSWEEP_DRIVER_RANKS_PUMP_H

#include <stdbool.h>
#include <stddef.h>

enum { PUMP_LINE = 4096, PUMP_NOISE = 8192, PUMP_BLOCK_LINES = 40 };

/*
 * Passes on what a child says, line by line. With `quiet`, what mpirun says of its own is kept back, so that
 * it does not bury the one line that matters: its blocks between dashed lines (of at most PUMP_BLOCK_LINES:
 * one may lack its end), and the errors of its daemons when a rank has died.
 */
#define PUMP_STATUS "normsweep: the coordinator ends with status " /* and the number */

struct pump {
    int from, to;
    bool quiet, ended;
    bool in_block; /* between two dashed lines */
    char line[PUMP_LINE]; /* not yet complete */
    size_t length;
    int status; /* as a line PUMP_STATUS has it, which is not passed on either; -1: none came */
    char last[PUMP_LINE]; /* the line passed on last; "": none */
    int block_lines;
    char noise[PUMP_NOISE]; /* what was kept back, the first of it */
    size_t noise_length;
};

/* The pump owns `from`. */
void pump_init(struct pump *pump, int from, int to, bool quiet);

/* Passes on what there is, without waiting. */
void pump_move(struct pump *pump);

/* The same, and the line that was not completed. */
void pump_finish(struct pump *pump);

/* Passes on what was kept back. */
void pump_tell_noise(struct pump *pump);

void pump_release(struct pump *pump);

#endif
