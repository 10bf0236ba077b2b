#ifndef NORMSWEEP_DRIVER_PROGRESS_H
#define NORMSWEEP_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * How a sweep goes, for people: on a terminal a block of lines that is drawn anew, one for each worker that
 * fits and one for the sweep; elsewhere a plain line now and then.
 */
struct progress;

struct screen {
    int width, height; /* 0: no terminal */
};

/*
 * The terminal of stderr. A rank's is hidden by mpirun: its launcher hands the size over as SCREEN_VARIABLE,
 * "WIDTHxHEIGHT".
 */
#define SCREEN_VARIABLE "NORMSWEEP_SCREEN"
struct screen screen_find(void);

/* The sweep as a whole. */
struct tally {
    int64_t runs; /* skipped cells left out */
    int64_t done, diverged, failed, running;
    double cost_left; /* of the runs that have not ended, in the unit of progress_begin's cost */
};

/* Writes to `file`. NULL: no memory. */
struct progress *progress_new(FILE *file, struct screen screen, int workers, double now);
void progress_free(struct progress *progress);

/* Worker 0 .. workers - 1 begins a run that costs `cost`: "learning_rate=0.1 seed=2". Its first step tells
 * where it goes on from: what lies before that was done by others. */
void progress_begin(struct progress *progress, int worker, const char *label, double cost, double now);
void progress_step(
    struct progress *progress, int worker, int64_t step, int64_t last_step, int64_t tokens, double now);
void progress_loss(struct progress *progress, int worker, double loss);
void progress_end(struct progress *progress, int worker);

/* Draws when it is time to: a few times a second on a terminal, else every 30 s. */
void progress_show(struct progress *progress, const struct tally *tally, double now);

/* Takes the block away, so that something else can be written. */
void progress_clear(struct progress *progress);

/* "2 h 05 min", "3 min 20 s", "4.2 s". Returns text. */
char *progress_duration(double seconds, char *text, size_t size);

/* "850", "12.3k", "1.25M" per second. Returns text. */
char *progress_rate(double rate, char *text, size_t size);

#endif
